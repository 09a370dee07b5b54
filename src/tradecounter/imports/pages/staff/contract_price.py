"""`/contract-price`: adds a contract price of a product, or changes one."""

from datetime import date, datetime
from urllib.parse import quote

from msgspec import Struct
from starlette.responses import Response

from tradecounter.customers.named_customer import named_customer
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.forms import Filled, read_submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.edge.session import has_right
from tradecounter.imports.roles import IMPORTERS
from tradecounter.imports.save_contract_price import (
    SavedContractPrice,
    price_from,
    save_contract_price,
    version_of,
)
from tradecounter.kit.errors import Kind, invalid, named_by
from tradecounter.kit.number_types import Pounds
from tradecounter.kit.numbers import read_id
from tradecounter.parts.back_office import OfficeParts
from tradecounter.prices.importing import ContractPriceRow
from tradecounter.prices.queries.prices_of_product import contract_prices_of, list_prices_of
from tradecounter.products.queries.by_sku import fetch_product

_PATH = "/contract-price"


class ContractPricePage(Struct, frozen=True, rename={"valid_from": "from"}):
    """The product, and the customer and first day of the price to change; without a customer, the form adds one."""

    sku: str = ""
    customer: str = ""
    valid_from: date | None = None


class ContractPriceForm(Struct, kw_only=True):
    """A contract price. `seen` is the digest of the one that the form has shown; empty for a new one."""

    sku: str
    customer: str = ""
    single_unit_cost: Pounds
    five_plus_unit_cost: Pounds | None = None
    ten_plus_unit_cost: Pounds | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    seen: str = ""
    force: bool = False


class ContractPricePages(Struct, frozen=True):
    """The form of a contract price."""

    desk: PageDesk
    parts: OfficeParts

    @page(_PATH, "Add or change a contract price", scope="prices:write", roles=IMPORTERS, query=ContractPricePage)
    async def show_form(self, call: Call) -> Response:
        wanted = call.query(ContractPricePage)
        return await self._show(call, wanted, Filled())

    @form(_PATH, "Add or change a contract price", scope="prices:write", roles=IMPORTERS)
    async def save(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        sku = submitted.one("sku")

        async def work(tx: Transaction, body: ContractPriceForm, now: datetime) -> bool:
            customer = await _customer(tx, call, body.customer)
            row = ContractPriceRow(
                customer,
                body.sku,
                body.single_unit_cost,
                body.five_plus_unit_cost,
                body.ten_plus_unit_cost,
                body.valid_from,
                body.valid_until,
            )
            with named_by(lambda field: "customer" if field == "customer_id" else field):
                wanted = SavedContractPrice(row=row, seen=body.seen or None, force=body.force)
                return await save_contract_price(tx, wanted, now)

        return await self.desk.change(
            call,
            ContractPriceForm,
            work,
            again=lambda filled: self._show(call, ContractPricePage(sku), filled),
            to=f"/product/{quote(sku)}",
            done=lambda changed: "The contract price is saved." if changed else "Nothing was different.",
            submitted=submitted,
        )

    async def _show(self, call: Call, wanted: ContractPricePage, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            product = (await fetch_product(tx, text("sku", wanted.sku) or "")).record
            customer = read_id(wanted.customer)
            prices = [] if customer is None else await contract_prices_of(tx, product.id, customer)
            lists = await list_prices_of(tx, product.id)
        price = price_from(prices, wanted.valid_from)
        return self.desk.show(
            call,
            "imports/contract_price.html",
            form=filled,
            product=product,
            customer=wanted.customer,
            price=price,
            stored=read_id(filled.value("customer")) if filled.status == STATUS[Kind.CONFLICT] else None,
            seen=filled.value("seen", "" if price is None else version_of(price)),
            lists=lists,
            finds_names=has_right(call.request, "customers:read"),
        )


async def _customer(tx: Transaction, call: Call, named: str) -> int:
    """Return the number of the customer that is named; by name only for people who may see customers."""
    found = await named_customer(tx, "customer", named) if has_right(call.request, "customers:read") else read_id(named)
    if found is None:
        raise invalid("customer", "is not the number of a customer" if named else "is required")
    return found
