"""`/product/{sku}`: one product, and the adjustment of its stock."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from urllib.parse import quote

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.audit.queries import AuditFilter, list_entries
from tradecounter.customers.named_customer import named_customer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values, read_submitted
from tradecounter.edge.pages.operation import form, page, roles_of_caller
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.permissions import allows
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import TEXT, Parameter
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind, in_only_item, invalid, named_by
from tradecounter.orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import told_of
from tradecounter.prices.explain_price import ExplainedPrice
from tradecounter.prices.rules import margin_percent
from tradecounter.products.on_pages import shown_description
from tradecounter.products.operations.staff import shown_product
from tradecounter.products.queries.products import fetch_product
from tradecounter.products.queries.records import read_reference
from tradecounter.stock.queries.stock import back_orders_of, stock_level_of
from tradecounter.storefront.customer_prices import price_of
from tradecounter.storefront.shown_product import look_of

_SKU = Parameter("sku", "The product's SKU, in any case.", TEXT, "CV-320P", takes_slashes=True)
_ADJUST = "/stock-adjustment"  # not below `/product`, whose rest is a SKU, which may have slashes
_MOST_ENTRIES = 20  # of its history
_OF_PRICES = ("price.", "product.")  # the entries of the history that may tell prices and costs


class ProductPage(Struct, frozen=True, kw_only=True):
    """The customer and the quantity whose price is explained."""

    customer: str | None = None
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS)] = 1


class AdjustedProduct(Struct, frozen=True):
    """The product whose stock is adjusted."""

    sku: str = ""


class Explained(Struct, frozen=True):
    """A customer's price of a product."""

    buyer: Account
    price: ExplainedPrice


class ProductPages(Struct, frozen=True):
    """One product."""

    desk: PageDesk
    parts: OfficeParts

    @page(_ADJUST, "Adjust a product's stock", scope="stock:write", query=AdjustedProduct)
    async def show_adjustment(self, call: Call) -> Response:
        return await self._show_adjustment(call, call.query(AdjustedProduct).sku, Filled())

    @form(_ADJUST, "Adjust a product's stock", scope="stock:write")
    async def adjust(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        sku = submitted.one("sku")
        if submitted.one("location") and not any(map(submitted.one, ("set", "change", "reason"))):
            submitted = replace(submitted, values={**submitted.values, "reason": ["New place"]})  # which says it all

        async def work(tx: Transaction, body: Adjustment, now: datetime) -> str:
            if not body.is_clear:
                raise invalid("set", "fill in this field or the next one, or the new place")
            with named_by(in_only_item):
                [made] = await adjust_stock(tx, [body], now)
            place = f" Its place is {made.location}." if body.location else ""
            return f"{made.sku}: {made.on_hand:,} on hand, {made.available:,} available.{place}"

        return await self.desk.change(
            call,
            Adjustment,
            work,
            again=lambda filled: self._show_adjustment(call, sku, filled),
            to=f"/product/{quote(sku)}",
            done=str,
            submitted=submitted,
        )

    @page("/product/{sku}", "One product", scope="catalogue:read", query=ProductPage, path_parameters=(_SKU,))
    async def show_product(self, call: Call) -> Response:
        roles = roles_of_caller(call)
        sees_prices = allows(roles, "prices:read")
        filled, explained = Filled({"quantity": ["1"], **query_values(call.raw_query)}), None
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            stored = await fetch_product(tx, call.path_text("sku", "product"))
            product = await shown_product(tx, stored)
            history = await list_entries(
                tx, AuditFilter(subject=f"product/{product.sku}"), _MOST_ENTRIES, latest_first=True
            )
            waiting = await back_orders_of(tx, stored.record.id)
            names = await read_reference(tx)
            if sees_prices and allows(roles, "customers:read"):
                try:
                    explained = await _explained(tx, product.sku, call.query(ProductPage), now)
                except DomainError as error:
                    filled = filled.with_error(error, Kind.NOT_FOUND)
        return self.desk.show(
            call,
            "products/product.html",
            form=filled,
            product=product,
            description=shown_description(product.description, product.description_html, product.short_description),
            look=look_of(stored.record, {category.key: category.name for category in names.categories}),
            manufacturer=next((m.name for m in names.manufacturers if m.key == product.manufacturer), ""),
            categories=[category for category in names.categories if category.key in product.categories],
            attributes=_attributes(
                product.attributes, {attribute.key: attribute.name for attribute in names.attributes}
            ),
            margin_of=margin_percent,
            sees_costs=sees_prices and allows(roles, "prices:write"),
            waiting=waiting,
            history=told_of(each for each in history if sees_prices or not each.action.startswith(_OF_PRICES)),
            sees_prices=sees_prices,
            sees_customers=allows(roles, "customers:read"),
            explained=explained,
            today=uk_date(now),
        )

    async def _show_adjustment(self, call: Call, sku: str, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            product = (await fetch_product(tx, text("sku", sku) or "")).record
            level = await stock_level_of(tx, product.id)
        return self.desk.show(call, "products/adjust.html", form=filled, product=product, level=level)


def _attributes(values: Mapping[str, str], names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names of attributes, with their values as people read them."""
    return [(names.get(key, key), {"true": "yes", "false": "no"}.get(value, value)) for key, value in values.items()]


async def _explained(tx: Transaction, sku: str, wanted: ProductPage, now: datetime) -> Explained | None:
    """Return the price of the customer that is named, if one is. Raises DomainError (invalid) for another number."""
    number = await named_customer(tx, "customer", text("customer", wanted.customer))
    if number is None:
        return None
    try:
        buyer = await fetch_account(tx, number)
    except DomainError as error:
        raise invalid("customer", error.message) from error
    return Explained(buyer, await price_of(tx, buyer.id, sku, wanted.quantity, now))
