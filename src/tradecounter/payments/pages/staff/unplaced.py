"""`/bank-line`: lines of bank files whose money waits to be placed, and the forms that place a line or set it aside."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType
from starlette.responses import Response

from tradecounter.audit.queries import entries_of
from tradecounter.customers.named_customer import named_customer
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.page_kit.tables import Cells, Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.digest import seen_of
from tradecounter.kit.numbers import Id, Pounds
from tradecounter.kit.wire import ReasonRequest, made_from
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import told_of
from tradecounter.payments.pages.staff.payments import (
    UNASKED,
    PaymentPreview,
    facts_of_payment,
    preview_of,
    said_of_payment,
)
from tradecounter.payments.place_bank_line import (
    Placement,
    Suggestion,
    place_bank_line,
    set_bank_line_aside,
    suggest_places,
)
from tradecounter.payments.queries.bank_lines import (
    BANK_LINES,
    BankLineFilter,
    BankLineRecord,
    fetch_bank_line,
    lines_waiting,
)
from tradecounter.payments.wire import StoredLine


class SharedReason(Struct, frozen=True):
    """A reason that several lines share, and their number."""

    text: str
    count: int


def shared_reason(reasons: Iterable[str]) -> SharedReason | None:
    """Return the most frequent reason, the first of several; None if no two lines share one."""
    text, count = next(iter(Counter(reasons).most_common(1)), ("", 0))
    return SharedReason(text, count) if count > 1 else None


_ONE, _PLACE, _ASIDE = "/bank-line/{id}", "/bank-line/{id}/place", "/bank-line/{id}/set-aside"
_COLUMNS = (
    Column("Reference"),
    Column("Received", "received"),
    Column("Where it may go"),
    Column("File", "stored"),
    Column("Amount", "amount", numeric=True),
)
_OLDEST_FIRST = "stored"
_STATES = [("unplaced", "Waiting"), ("set_aside", "Set aside"), ("placed", "Placed"), ("all", "All")]


class PlacementForm(Struct, frozen=True, kw_only=True):
    """Where a line's money goes, as in `Placement`; the customer may be named.

    `on_account` is the amount that is meant to stay on the account.
    """

    customer_id: str = ""
    invoice: Id | UnsetType = UNSET
    amount: Pounds | UnsetType = UNSET
    received_on: date | UnsetType = UNSET
    force: bool = False
    on_account: str = ""

    async def placement(self, tx: Transaction) -> Placement:
        """Return where the money goes. Raises DomainError (invalid) for none and for several customers."""
        customer_id = await named_customer(tx, "customer_id", self.customer_id)
        return made_from(self, Placement, customer_id=UNSET if customer_id is None else customer_id)


class LineTable(TableParameters, frozen=True, kw_only=True):
    """The filters of lines; those that wait by default."""

    state: Annotated[Literal["unplaced", "set_aside", "placed", "all"], Filter("State", "select")] = "unplaced"
    reference: Annotated[str | None, Filter("Reference")] = None


# The line of a bank file. A line that could not be read has the text of the file in place of its values.
LINE_CELLS: Cells = {
    "id": "id",
    "line": "line",
    "received_on": lambda line: line.received_on or line.day_written,
    **{name: name for name in ("reference", "state", "why", "customer_id", "payment_id")},
    "amount": lambda line: line.amount_written if line.amount is None else line.amount,
}


def _with_digests(line: BankLineRecord, places: Sequence[Suggestion]) -> list[tuple[Suggestion, str]]:
    """Return suggestions, each with a digest of what placing the line there would do, for its button."""
    return [
        (place, seen_of(facts_of_payment(place.payer.customer_id, line.amount, sorted(place.pays)))) for place in places
    ]


class BankLinePages(Struct, frozen=True):
    """Money that waits to be placed."""

    desk: PageDesk
    parts: OfficeParts

    async def _waiting(self, tx: Transaction, listing: Listing[LineTable, BankLineRecord]) -> dict[str, Any]:
        shown = [line for line in listing.rows if line.state == "unplaced"]  # the list has no places of lines set aside
        waiting, places = await lines_waiting(tx), await suggest_places(tx, shown)
        suggested = {line.id: _with_digests(line, places.get(line.id, [])) for line in shown}
        shared = shared_reason(line.why for line in shown)
        return {
            "waiting": waiting,
            "states": _STATES,
            "suggested": suggested,
            "shared": shared,
            "is_any_unknown": any(line.amount and line.received_on and not suggested[line.id] for line in shown),
            "unasked": UNASKED,
        }

    @table_page(
        "/bank-line",
        "Unplaced money",
        columns=_COLUMNS,
        order=TableOrder(BANK_LINES.sorts, _OLDEST_FIRST, BANK_LINES.place_of),
        template="payments/unplaced.html",
        file="bank-lines",
        cells=LINE_CELLS,
        values=_waiting,
        scope="billing:read",
    )
    async def list_lines(self, tx: Transaction, wanted: LineTable, at: RowsToRead) -> list[BankLineRecord]:
        state = None if wanted.state == "all" else wanted.state
        return await BANK_LINES.page(
            tx, BankLineFilter(state=state, reference=text("reference", wanted.reference)), **at
        )

    @page(_ONE, "One line of a bank file", scope="billing:read")
    async def show_line(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @page(_PLACE, "Place a line of a bank file", scope="billing:write")
    async def show_place(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @form(_PLACE, "Place a line of a bank file", scope="billing:write")
    async def place(self, call: Call) -> Response:
        line_id = call.path_id("id", "bank line")

        async def work(tx: Transaction, body: PlacementForm, now: datetime) -> PaymentPreview:
            return await preview_of(tx, (await place_bank_line(tx, line_id, await body.placement(tx), now)).payment)

        return await self.desk.change_as_seen(
            call,
            PlacementForm,
            work,
            again=lambda filled, preview: self._show(call, filled, preview),
            facts=lambda preview: preview.facts,
            asked=lambda body, preview: preview.require_answer(body.on_account),
            to="/bank-line",
            done=lambda preview: said_of_payment(preview.payment),
        )

    async def _line(self, tx: Transaction, call: Call) -> dict[str, Any]:
        return {"line": await fetch_bank_line(tx, call.path_id("id", "bank line"))}

    @step(
        _ASIDE,
        "Set a line of a bank file aside",
        template="payments/set_aside.html",
        values=_line,
        to="/bank-line",
        done="The line is set aside.",
        scope="billing:write",
    )
    async def set_aside(self, tx: Transaction, call: Call, body: ReasonRequest, now: datetime) -> StoredLine:
        return await set_bank_line_aside(tx, call.path_id("id", "bank line"), body.reason, now)

    async def _show(self, call: Call, filled: Filled, preview: PaymentPreview | None = None) -> Response:
        """Show a line, with what it would pay. The query may name a customer."""
        line_id = call.path_id("id", "bank line")
        given = {name: values[-1].strip() for name, values in query_values(call.raw_query).items()}
        async with self.desk.reading() as tx:
            line = await fetch_bank_line(tx, line_id)
            places = await suggest_places(tx, [line])
            history = await entries_of(tx, [f"bank-line/{line_id}"])
        return self.desk.show(
            call,
            "payments/bank_line.html",
            form=filled,
            line=line,
            given=given,
            suggested=_with_digests(line, places.get(line.id, [])),
            history=told_of(history),
            preview=preview,
            unasked=UNASKED,
            seen="" if preview is None else seen_of(preview.facts),
        )
