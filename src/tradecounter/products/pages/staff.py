"""`/product`: all products and one of them; `/category` and `/manufacturer`: how many products each has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from msgspec import Meta, Struct
from msgspec.structs import replace
from pyroaring import BitMap
from starlette.responses import Response

from tradecounter.audit.queries import AuditFilter, list_entries
from tradecounter.customers.named_customer import named_customer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.forms import Filled, query_values, read_submitted
from tradecounter.edge.page_kit.tables import Cells, Column, Order, TableParameters
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.listing import At, Listed, known, table_page
from tradecounter.edge.pages.operation import form, page, roles_of_caller
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.permissions import allows
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import TEXT, Parameter
from tradecounter.edge.session import has_right, require_right
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind, in_one, invalid, named_by
from tradecounter.kit.text import fold
from tradecounter.orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import told_of
from tradecounter.prices.explain_price import ExplainedPrice
from tradecounter.prices.queries.prices_of_products import NO_PRICE, CostedPrice, costed_prices_of
from tradecounter.prices.rules import margin_percent
from tradecounter.products.find_products import list_products, note_of_search
from tradecounter.products.on_pages import categories_in_tree, shown_description
from tradecounter.products.operations.staff import shown_product
from tradecounter.products.queries.products import SHOWN, ListedProduct, ProductFilter, Shown, fetch_product
from tradecounter.products.queries.records import CategoryRecord, read_groups, read_pictured, read_reference
from tradecounter.products.search.query import as_typed
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.products.wire import Category
from tradecounter.stock.queries.stock import StockLevel, back_orders_of, stock_level_of, stock_levels_of
from tradecounter.storefront.customer_prices import price_of
from tradecounter.storefront.shown_product import look_of

_PRODUCT_COLUMNS = (
    Column("Product"),
    Column("State"),
    Column("Price", numeric=True),
    Column("10 and more", numeric=True),
    Column("Costs you", numeric=True),
    Column("Available", numeric=True),
    Column("Allocated", numeric=True),
    Column("Back-ordered", numeric=True),
)
_NO_STOCK = StockLevel()
_COSTS = "prices:write"  # what the reseller pays is for those who set prices
_PRODUCT_CELLS: Cells = {
    **{name: f"product.{name}" for name in ("sku", "name", "manufacturer", "ean")},
    "active": lambda row: "yes" if row.product.active else "no",
    "price": "price.single_unit_cost",
    "price_of_ten": "price.of_ten",
    "purchase_cost": "price.purchase_cost",
    **{name: f"level.{name}" for name in ("available", "allocated", "back_ordered")},
}
_NEEDS = {
    **dict.fromkeys(("Price", "10 and more", "price", "price_of_ten"), "prices:read"),
    **dict.fromkeys(("Costs you", "purchase_cost"), _COSTS),
}


def _choices(call: Call) -> list[tuple[Shown, str]]:
    return [(show, label(show)) for show in SHOWN if show != "below_cost" or has_right(call.request, _COSTS)]


def _category_choices(categories: Sequence[CategoryRecord], chosen: str | None) -> list[tuple[str, str]]:
    """Return the categories to choose from. A link may name one by its name or in other case, as the filter does.

    The one category that is chosen so has the value of the link; a name of several, or of none, is one more choice.
    """
    choices = categories_in_tree(categories)
    said = (chosen or "").strip().lower()
    if not chosen or not said or any(each.key == chosen for each in categories):
        return choices
    named = [each.key for each in categories if said in (each.key.lower(), each.name.lower())]
    if len(named) == 1:
        return [(chosen if key in named else key, name) for key, name in choices]
    return [(chosen, f"All named {chosen}" if named else chosen), *choices]


class ProductTable(TableParameters, frozen=True, kw_only=True):
    """The filters of the table, as those of `GET /api/product`."""

    query: str | None = None
    manufacturer: str | None = None
    category: str | None = None
    show: Shown | None = None
    external_id: str | None = None


class StockedProduct(Struct, frozen=True):
    """A row of the table."""

    product: ListedProduct
    level: StockLevel
    price: CostedPrice


class ProductListPages(Struct, frozen=True):
    """The list of products."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/product",
        "Products",
        columns=_PRODUCT_COLUMNS,
        order=Order({"sku": str}, "sku", lambda row, _: (row.product.sku_key, 0)),
        template="products/list.html",
        file="products",
        cells=_PRODUCT_CELLS,
        needs=_NEEDS,
        shown=lambda self, call, found: self._shown(call, found),
        scope="catalogue:read",
    )
    async def list_products(self, tx: Transaction, call: Call, wanted: ProductTable, at: At) -> list[StockedProduct]:
        if wanted.show == "below_cost":
            require_right(call.request, _COSTS)
        behind = "" if at["after"] is None else at["after"][0]
        memory = self.parts.views
        words = text("query", wanted.query) or ""
        manufacturer, external_id = text("manufacturer", wanted.manufacturer), text("external_id", wanted.external_id)
        category = text("category", wanted.category)
        chosen = ProductFilter(manufacturer or None, wanted.show, external_id or None, category=category or None)
        products = await list_products(tx, memory, words, chosen, behind, wanted.most)
        keys = [product.sku_key for product in products]
        levels = await stock_levels_of(tx, keys)
        prices = await costed_prices_of(tx, "default", keys) if has_right(call.request, "prices:read") else {}
        return [
            StockedProduct(each, levels.get(each.sku_key, _NO_STOCK), prices.get(each.sku_key, NO_PRICE))
            for each in products
        ]

    async def _shown(self, call: Call, found: Listed[ProductTable, StockedProduct]) -> dict[str, Any]:
        """Return what the page has and the file has not.

        The pictures, the names of manufacturers, the choices of the filters, and how the words of the search were read,
        with the search as typed.
        """
        words = found.wanted.query or ""
        note = await note_of_search(self.parts.views, words)
        async with self.desk.reading() as tx:
            categories, manufacturers = await read_groups(tx)
            pictured = await read_pictured(tx, [row.product.sku_key for row in found.rows])
        names = {each.key: each.name for each in categories}
        return {
            "looks": {key: look_of(each, names) for key, each in pictured.items()},
            "choices": _choices(call),
            "manufacturers": {each.key: each.name for each in manufacturers},
            "category_choices": _category_choices(categories, found.wanted.category),
            "note": note,
            "typed": as_typed(words),
        }


_SKU = Parameter("sku", "The product's SKU, in any case.", TEXT, "CV-320P", takes_slashes=True)
_ADJUST = "/stock-adjustment"  # not below `/product`, whose rest is a SKU, which may have slashes
_MOST_ENTRIES = 20  # of its history


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
            with named_by(in_one("items")):
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
            sku = call.path_text("sku", "product")
            product = await shown_product(tx, sku)
            history = await list_entries(
                tx, AuditFilter(subject=f"product/{product.sku}"), _MOST_ENTRIES, latest_first=True
            )
            found = await fetch_product(tx, sku)
            waiting = await back_orders_of(tx, found.record.id)
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
            look=look_of(found.record, {each.key: each.name for each in names.categories}),
            manufacturer=next((m.name for m in names.manufacturers if m.key == product.manufacturer), ""),
            categories=[each for each in names.categories if each.key in product.categories],
            attributes=_attributes(product.attributes, {each.key: each.name for each in names.attributes}),
            margin_of=margin_percent,
            sees_costs=sees_prices and allows(roles, "prices:write"),
            waiting=waiting,
            history=told_of(history),
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
    named = text("customer", wanted.customer)
    if not named:
        return None
    buyer = await _buyer(tx, named)
    return Explained(buyer, await price_of(tx, buyer.id, sku, wanted.quantity, now))


async def _buyer(tx: Transaction, named: str) -> Account:
    """Return the customer with a number, or the only one whose name or e-mail address has a text in it."""
    number = await named_customer(tx, "customer", named)
    try:
        return await fetch_account(tx, number or 0)
    except DomainError as error:
        raise invalid("customer", error.message) from error


_COUNTS = (Column("Key"), Column("Sold", numeric=True), Column("Not sold", numeric=True))
_AS_LISTED = Order({"place": int}, "place", lambda row, _: (row.place, 0))
_GROUP_CELLS: Cells = {name: name for name in ("key", "name", "sold", "not_sold")}


class Group(Struct, frozen=True):
    """A category or a manufacturer, and how many products it has; `place` is its own in the list, from 0 on."""

    place: int
    key: str
    name: str
    sold: int
    not_sold: int


class GroupPages(Struct, frozen=True):
    """The lists of categories and of manufacturers."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/category",
        "Categories",
        columns=(Column("Category"), *_COUNTS),
        order=_AS_LISTED,
        template="products/groups.html",
        file="categories",
        cells=_GROUP_CELLS,
        shown=lambda *_: known(one="category", several="categories", title="Categories"),
        scope="catalogue:read",
    )
    async def list_categories(self, at: At) -> list[Group]:
        catalogue = await self.parts.views.snapshot()
        return _groups(catalogue, _tree_by_position(catalogue.category_tree), catalogue.categories, at)

    @table_page(
        "/manufacturer",
        "Manufacturers",
        columns=(Column("Manufacturer"), *_COUNTS),
        order=_AS_LISTED,
        template="products/groups.html",
        file="manufacturers",
        cells=_GROUP_CELLS,
        shown=lambda *_: known(one="manufacturer", several="manufacturers", title="Manufacturers"),
        scope="catalogue:read",
    )
    async def list_manufacturers(self, at: At) -> list[Group]:
        catalogue = await self.parts.views.snapshot()
        named = [(each.key, each.name) for each in catalogue.manufacturer_list]
        return _groups(catalogue, named, catalogue.manufacturers, at)


def _tree_by_position(categories: Iterable[Category], above: str = "") -> Iterator[tuple[str, str]]:
    """Return the keys and the names of categories, each below its parent, whose name is before its own."""
    for each in categories:
        yield each.key, f"{above}{each.name}"
        yield from _tree_by_position(each.children or (), f"{each.name}: ")


def _groups(
    catalogue: CatalogueSnapshot, named: Iterable[tuple[str, str]], rows_of: Mapping[str, BitMap], at: At
) -> list[Group]:
    first = 0 if at["after"] is None else at["after"][0] + 1
    found = []
    for place, (key, name) in list(enumerate(named))[first : first + at["most"]]:
        rows = rows_of.get(fold(key), BitMap())
        sold = len(rows & catalogue.active)
        found.append(Group(place, key, name, sold, len(rows) - sold))
    return found
