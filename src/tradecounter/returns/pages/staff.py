"""`/return`: what customers send back, and one return with the forms that receive and close it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.credit_notes.credit_return import creditable_units, receive_and_credit
from tradecounter.credit_notes.reseller_wire import IssuedCreditNote, ReceivedReturn
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled, in_rows
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder, TableParameters
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page, views_of
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import require_right
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, Kind, named_by
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.operations.staff import BY_WAREHOUSE
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import shown_as
from tradecounter.returns.handle_returns import close_return, fetch_return
from tradecounter.returns.operations import MAY_CLOSE
from tradecounter.returns.queries import ReturnState, StoredReturn, lines_of_returns, list_returns
from tradecounter.returns.wire import Receipt, Return, return_number, return_on_the_wire

_VIEWS = (("open", "Expected"), ("received", "To credit"), ("closed", "Closed"), ("all", "All"))
_COLUMNS = (
    Column("Return"),
    Column("Order"),
    Column("Customer"),
    Column("Reason"),
    Column("Opened"),
    Column("Units back", numeric=True),
    Column("State"),
)
_CELLS: Cells = {
    "number": lambda row: return_number(row.id),
    "order": "order_reference",
    "customer_id": "customer_id",
    "customer": "customer",
    "state": "state",
    "reason": "reason",
    "opened_at": "opened_at",
    "units": "units",
    "received": "received",
}


class ReturnTable(TableParameters, frozen=True, kw_only=True):
    """Which returns are shown."""

    state: Literal[ReturnState, "all"] = "open"


class ReturnPages(Struct, frozen=True):
    """The list of returns, and the pages of one return."""

    desk: PageDesk
    parts: OfficeParts

    async def _views(self, call: Call, listing: Listing[ReturnTable, StoredReturn]) -> dict[str, Any]:
        chosen = listing.wanted.state
        views = views_of(self.desk.view(call).here, "state", _VIEWS, chosen)
        return {**views, "state": chosen, "number": return_number}

    @table_page(
        "/return",
        "Returns",
        columns=_COLUMNS,
        order=TableOrder({"number": int}, "-number", lambda row, _: (row.id, row.id)),
        template="returns/list.html",
        file="returns",
        cells=_CELLS,
        values=_views,
        scope="orders:read",
    )
    async def list_returns(self, tx: Transaction, wanted: ReturnTable, at: RowsToRead) -> list[StoredReturn]:
        state = None if wanted.state == "all" else wanted.state
        after = None if at["after"] is None else at["after"][1]
        return await list_returns(tx, wanted.most, state=state, after=after)

    @page("/return/{number}", "One return", scope="orders:read")
    async def show_return(self, call: Call) -> Response:
        return await self._show(call, "returns/return.html", Filled())

    @page("/return/{number}/receive", "Receive a return", scope="orders:write", roles=BY_WAREHOUSE)
    async def show_receive(self, call: Call) -> Response:
        return await self._show(call, "returns/receive.html", Filled(), only_in=("open",))

    @form("/return/{number}/receive", "Receive a return", scope="orders:write", roles=BY_WAREHOUSE)
    async def receive(self, call: Call) -> Response:
        async def work(tx: Transaction, body: Receipt, now: datetime) -> ReceivedReturn:
            if body.credit:
                require_right(call.request, "billing:write")
            with named_by(in_rows("items", range(len(body.items)), {"id": "restock"})):
                return await receive_and_credit(tx, _number(call), body, self.parts.letterhead, now)

        async def again(filled: Filled, received: ReceivedReturn | None) -> Response:
            notes = [] if received is None else received.credit_notes
            return await self._show(call, "returns/receive.html", filled, notes=notes)

        return await self.desk.change_as_seen(
            call,
            Receipt,
            work,
            again=again,
            facts=lambda received: _facts(received.credit_notes),
            to=lambda found: f"/return/{found.number}",
            done=_received,
        )

    async def _show_close(self, call: Call, filled: Filled) -> Response:
        return await self._show(call, "returns/close.html", filled, only_in=("open", "received"))

    @step(
        "/return/{number}/close",
        "Close a return",
        shown=_show_close,
        to="/return/{number}",
        done="The return is closed.",
        scope="orders:write",
        roles=MAY_CLOSE,
    )
    async def close(self, tx: Transaction, call: Call, now: datetime) -> None:
        await close_return(tx, _number(call), now)

    async def _show(
        self,
        call: Call,
        template: str,
        filled: Filled,
        *,
        only_in: tuple[ReturnState, ...] = (),
        notes: Sequence[IssuedCreditNote] = (),
    ) -> Response:
        """Show a page of the return; `notes` are the credit notes that a form would issue.

        A form is shown first only in some states. After an error, it is always shown again.
        """
        async with self.desk.reading() as tx:
            stored = await fetch_return(tx, _number(call))
            lines = (await lines_of_returns(tx, [stored.id]))[stored.id]
            found = return_on_the_wire(stored, lines)
            order = await fetch_order(tx, found.order_reference)
            shown = await shown_as(tx, self.parts.orders, order, self.desk.clock.now())
            units = {line.line_id: line.to_credit for line in lines}
            to_credit = await creditable_units(tx, stored.order_id, units)
        if only_in and found.state not in only_in and not filled.message:
            raise DomainError(Kind.CONFLICT, f"{found.number} is already {found.state}")
        return self.desk.show(
            call,
            template,
            form=filled,
            found=found,
            order=shown,
            lines=lines,
            names={line.item.id: line.name for line in shown.items},
            to_credit={number: sum(line.quantity for line in credited) for number, credited in to_credit.items()},
            notes=notes,
            seen=seen_of(_facts(notes)) if notes else "",
        )


def _number(call: Call) -> str:
    return call.path_text("number", "return")


def _facts(notes: Sequence[IssuedCreditNote]) -> Any:
    """Return what the form has to show of credit notes; None without any."""
    return [(note.invoice, note.cost_gross) for note in notes] or None


def _received(shown: Return) -> str:
    back = sum(item.received for item in shown.items)
    wanted = sum(item.quantity for item in shown.items)
    return "All units are received." if back == wanted else f"{back} of {wanted} units are received."
