"""`/price-change`: prices of a list that change by a rule. What it would change is shown as a file's changes are."""

from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import fields
from starlette.responses import Response

from tradecounter.bulk.spellings import stored_keys
from tradecounter.edge.page_kit.forms import Filled, Submitted, parse_form, query_values, read_submitted
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import staff_id_of
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.imports.change_prices import HOWS, PriceChange, ruled_prices
from tradecounter.imports.roles import IMPORTERS
from tradecounter.kit.errors import DomainError, invalid, named_by
from tradecounter.kit.numbers import UnreadableNumberError, read_percent, read_pounds
from tradecounter.parts.back_office import OfficeParts
from tradecounter.prices.rules import How, Rounding
from tradecounter.products.category_names import categories_in_tree
from tradecounter.products.queries.product_list import SHOWN, Shown
from tradecounter.products.queries.records import read_reference

_PATH = "/price-change"
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


class PriceChangePage(Struct, frozen=True):
    """What the form begins with: its fields, as the list of products and the change itself link to it."""

    price_list: str = ""
    query: str = ""
    manufacturer: str = ""
    category: str = ""
    show: str = ""
    how: str = ""
    by: str = ""
    rounding: str = ""
    first_prices: str = ""


class PriceChangeForm(Struct, frozen=True, kw_only=True):
    """A rule as typed; `by` is per cent or pounds, as `how` says."""

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

    @page(_PATH, "Change prices by a rule", scope="prices:write", roles=IMPORTERS, query=PriceChangePage)
    async def show_rule(self, call: Call) -> Response:
        return await self._show(call, Filled(query_values(call.raw_query)))

    @form(_PATH, "Change prices by a rule", scope="prices:write", roles=IMPORTERS)
    async def check_rule(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        try:
            with named_by(lambda place: "by" if place in HOWS else place):
                wanted = _wanted(parse_form(submitted, PriceChangeForm))
                async with self.desk.reading() as tx:
                    made = await ruled_prices(tx, wanted, self.parts.views)
        except DomainError as error:
            return await self._show(call, Filled.of(submitted, error, STATUS[error.kind]))
        uploads, origin = self.parts.uploads, f"{_PATH}?{_as_query(submitted)}"
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
            manufacturers=[(each.key, each.name) for each in known.manufacturers],
            categories=categories_in_tree(known.categories),
            choices=[(show, label(show)) for show in SHOWN],
            hows=_HOWS,
            roundings=_ROUNDINGS,
        )


def _wanted(typed: PriceChangeForm) -> PriceChange:
    """Return the rule. Raises DomainError (invalid)."""
    read = read_pounds if typed.how.endswith("_amount") else read_percent
    try:
        by = read(typed.by)
    except UnreadableNumberError as error:
        raise invalid("by", str(error) if typed.by else "is required") from error
    return PriceChange(
        price_list=typed.price_list,
        query=typed.query,
        manufacturer=typed.manufacturer,
        category=typed.category,
        show=typed.show,
        rounding=typed.rounding,
        first_prices=typed.first_prices,
        **{typed.how: by},
    )


def _as_query(submitted: Submitted) -> str:
    sent = {field.name: submitted.one(field.name) for field in fields(PriceChangePage)}
    return urlencode({name: value for name, value in sent.items() if value})
