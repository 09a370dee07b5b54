"""`/contract-price`: saves a contract price; `/price-change`: changes prices of a list by a rule."""

from datetime import date, datetime
from urllib.parse import quote, urlencode

from msgspec import Struct
from msgspec.structs import fields
from starlette.responses import Response

from tradecounter.bulk.import_options import ImportReport
from tradecounter.bulk.statements import stored_keys
from tradecounter.customers.named_customer import named_customer
from tradecounter.db.fair_shares import IMPORTS, act_for
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import parse_form
from tradecounter.edge.page_kit.submitted_forms import Submitted, query_values, read_submitted
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.operation import form, page, staff_id_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.edge.session import has_right
from tradecounter.imports.change_prices import HOWS, PriceChange, ruled_prices
from tradecounter.imports.from_forms import price_from, save_contract_price, warnings_of
from tradecounter.imports.kinds import IMPORTERS
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, Kind, invalid, named_by
from tradecounter.kit.numbers import Pounds, UnreadableNumberError, read_id, read_percent, read_pounds
from tradecounter.kit.wire import made_from
from tradecounter.parts.back_office import OfficeParts
from tradecounter.prices.importing import ContractPriceRow
from tradecounter.prices.queries.prices_of_products import contract_prices_of, list_prices_of
from tradecounter.prices.rules import How, Rounding
from tradecounter.products.on_pages import categories_in_tree
from tradecounter.products.queries.products import SHOWN, Shown, fetch_product
from tradecounter.products.queries.records import read_reference

_CONTRACT_PRICE_PATH = "/contract-price"


class ContractPricePage(Struct, frozen=True, rename={"valid_from": "from"}):
    """The product, the customer and the first day of the price to change; without a customer, the form adds a price."""

    sku: str = ""
    customer: str = ""
    valid_from: date | None = None


class ContractPriceForm(Struct, kw_only=True):
    """A contract price. `seen` is the digest of the price that the form showed; empty for a new one."""

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

    @page(
        _CONTRACT_PRICE_PATH,
        "Add or change a contract price",
        scope="prices:write",
        roles=IMPORTERS,
        query=ContractPricePage,
    )
    async def show_form(self, call: Call) -> Response:
        wanted = call.query(ContractPricePage)
        return await self._show(call, wanted, Filled())

    @form(_CONTRACT_PRICE_PATH, "Add or change a contract price", scope="prices:write", roles=IMPORTERS)
    async def save(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        sku = submitted.one("sku")

        async def work(tx: Transaction, body: ContractPriceForm, now: datetime) -> ImportReport:
            customer = await _customer(tx, call, body.customer)
            row = made_from(body, ContractPriceRow, customer_id=customer)
            with named_by(lambda field: "customer" if field == "customer_id" else field):
                return await save_contract_price(tx, row, now, seen=body.seen or None, force=body.force)

        return await self.desk.change(
            call,
            ContractPriceForm,
            work,
            again=lambda filled: self._show(call, ContractPricePage(sku), filled),
            to=f"/product/{quote(sku)}",
            done=_done_message,
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
            seen=filled.value("seen", "" if price is None else seen_of(price)),
            lists=lists,
            finds_names=has_right(call.request, "customers:read"),
        )


def _done_message(report: ImportReport) -> str:
    changed = report.added or report.changed
    return f"The contract price is saved.{warnings_of(report)}" if changed else "Nothing was different."


async def _customer(tx: Transaction, call: Call, named: str) -> int:
    """Return the number of the customer; a name counts only for people who may see customers."""
    customer_id = (
        await named_customer(tx, "customer", named) if has_right(call.request, "customers:read") else read_id(named)
    )
    if customer_id is None:
        raise invalid("customer", "is not the number of a customer" if named else "is required")
    return customer_id


_PRICE_CHANGE_PATH = "/price-change"
_HOWS: tuple[tuple[How, str], ...] = (
    ("raise_percent", "Raise by per cent"),
    ("lower_percent", "Lower by per cent"),
    ("raise_amount", "Raise by pounds"),
    ("lower_amount", "Lower by pounds"),
    ("margin", "Set the margin, in per cent"),
)
_ROUNDINGS: tuple[tuple[Rounding, str], ...] = (
    ("penny", "To the penny"),
    ("ninety_nine", "To the nearest .99"),
    ("ninety_five", "To the nearest .95"),
    ("pound", "To the nearest pound"),
)


class PriceChangeForm(Struct, frozen=True, kw_only=True):
    """A rule as typed; `by` is per cent or pounds, according to `how`.

    The list of products and the change itself link to the form with the fields with which it begins.
    """

    price_list: str = "default"
    query: str | None = None
    manufacturer: str | None = None
    category: str | None = None
    show: Shown | None = None
    how: How = "raise_percent"
    by: str = ""
    rounding: Rounding = "penny"
    first_prices: bool = False


class PriceChangePages(Struct, frozen=True):
    """The form of a rule for prices."""

    desk: PageDesk
    parts: OfficeParts

    @page(_PRICE_CHANGE_PATH, "Change prices by a rule", scope="prices:write", roles=IMPORTERS, query=PriceChangeForm)
    async def show_rule(self, call: Call) -> Response:
        return await self._show(call, Filled(query_values(call.raw_query)))

    @form(_PRICE_CHANGE_PATH, "Change prices by a rule", scope="prices:write", roles=IMPORTERS)
    async def check_rule(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        act_for(IMPORTS)
        try:
            with named_by(lambda place: "by" if place in HOWS else place):
                wanted = _price_change(parse_form(submitted, PriceChangeForm))
                async with self.desk.reading() as tx:
                    made = await ruled_prices(tx, wanted, self.parts.views)
        except DomainError as error:
            return await self._show(call, Filled.of(submitted, error, STATUS[error.kind]))
        uploads, origin = self.parts.uploads, f"{_PRICE_CHANGE_PATH}?{_as_query(submitted)}"
        upload = await uploads.keep_rows(staff_id_of(call), "price-list", made.rows, str(wanted), origin)
        await uploads.check(upload, upload.wanted, call.actor)
        left_out = "; ".join(made.left_out)
        return self.desk.go(call, upload.path, f"{left_out}." if left_out else "")

    async def _show(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            lists = await stored_keys(tx, "price_list")
            known = await read_reference(tx)
        return self.desk.show(
            call,
            "imports/price_change.html",
            form=filled,
            lists=[(key, key) for key in dict.fromkeys(["default", *lists])],
            manufacturers=[(manufacturer.key, manufacturer.name) for manufacturer in known.manufacturers],
            categories=categories_in_tree(known.categories),
            choices=[(show, label(show)) for show in SHOWN],
            hows=_HOWS,
            roundings=_ROUNDINGS,
        )


def _price_change(typed: PriceChangeForm) -> PriceChange:
    """Return the rule. Raises DomainError (invalid)."""
    read = read_pounds if typed.how.endswith("_amount") else read_percent
    try:
        by = read(typed.by)
    except UnreadableNumberError as error:
        raise invalid("by", str(error) if typed.by else "is required") from error
    return made_from(typed, PriceChange, **{how: by if how == typed.how else None for how in HOWS})


def _as_query(submitted: Submitted) -> str:
    sent = {field.name: submitted.one(field.name) for field in fields(PriceChangeForm)}
    return urlencode({name: value for name, value in sent.items() if value})
