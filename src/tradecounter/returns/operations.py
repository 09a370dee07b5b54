"""`/api/return`: what customers send back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct, structs

from tradecounter.credit_notes.credit_return import receive_and_credit
from tradecounter.credit_notes.reseller_wire import IssuedCreditNote, ReceivedReturn
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import require_token_scope
from tradecounter.kit.wire import made_from
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.operations.staff import BY_WAREHOUSE, OrderReference
from tradecounter.returns.handle_returns import close_return, open_return, shown_return
from tradecounter.returns.queries import ReturnState, lines_of_returns, list_returns
from tradecounter.returns.wire import (
    Receipt,
    ReceivedUnits,
    Return,
    ReturnedUnits,
    ReturnItem,
    ReturnRequest,
    return_on_the_wire,
)

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_NEW_RETURN = ReturnRequest([ReturnedUnits(90017, 1, ["A1B2C3"])], "Faulty")
_RETURN = Return(
    number="RMA-1001",
    order_reference="ORD-100042",
    customer_id=1001,
    state="received",
    reason="Faulty",
    opened_at=_AT,
    received_at=datetime(2026, 6, 18, 10, tzinfo=UTC),
    closed_at=None,
    items=[
        ReturnItem(
            id=90017,
            sku="CV-320P",
            quantity=1,
            received=1,
            restocked=0,
            scrapped=1,
            serial_numbers=["A1B2C3"],
            credited=0,
        )
    ],
)

_CREDITED = [structs.replace(item, credited=1) for item in _RETURN.items]

_RECEIVED = made_from(
    _RETURN,
    ReceivedReturn,
    state="closed",
    closed_at=_RETURN.received_at,
    items=_CREDITED,
    credit_notes=[IssuedCreditNote(50001, 10001, Decimal("60.00"))],
)
DESCRIBED: Mapping[type, Described] = {
    Return: Described("The return.", _RETURN),
    ReturnRequest: Described("", _NEW_RETURN),
    Receipt: Described("", Receipt([ReceivedUnits(90017, scrap=1)], credit=True)),
    ReceivedReturn: Described("The return.", _RECEIVED, "Return"),
}
MAY_CLOSE = ("support", "finance", "administrator")

_RETURNS = Subject(tag="Returns", read="orders:read", write="orders:write", described=DESCRIBED)
_ALL, _ONE = "/api/return", "/api/return/{number}"

ReturnNumber = Annotated[str, InPath("number", "The return's number.", "RMA-1001", "return")]


class ReturnListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/return`."""

    state: Annotated[ReturnState | None, Meta(description="Only returns in this state.")] = None
    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's returns.")] | None = None


class ReturnOperations(Struct, frozen=True):
    """The endpoints of returns."""

    desk: Desk
    letterhead: Letterhead

    @_RETURNS.changes("POST", "/api/order/{reference}/return", location=_ONE)
    async def open_return(
        self, tx: Transaction, now: datetime, reference: OrderReference, body: ReturnRequest
    ) -> Return:
        """Open a return of dispatched units."""
        return await shown_return(tx, await open_return(tx, reference, body, now))

    @_RETURNS.lists(_ALL, "The returns.")
    async def list_returns(self, tx: Transaction, query: ReturnListParameters) -> ListPage[Return]:
        """Returns of all customers, the latest first."""
        returns = await list_returns(
            tx,
            query.limit + 1,
            state=query.state,
            customer_id=query.customer_id,
            after=query.after or None,
            changed_since=query.since,
        )
        lines = await lines_of_returns(tx, [each.id for each in returns])
        return ListPage(returns, (return_on_the_wire(each, lines[each.id]) for each in returns))

    @_RETURNS.shows(_ONE)
    async def get_return(self, tx: Transaction, number: ReturnNumber) -> Return:
        """One return."""
        return await shown_return(tx, number)

    @_RETURNS.changes("POST", f"{_ONE}/receive", dry_run=True, roles=BY_WAREHOUSE)
    async def receive_return(
        self, tx: Transaction, now: datetime, call: Call, number: ReturnNumber, body: Receipt
    ) -> ReceivedReturn:
        """Receive units of a return.

        Restocked units serve back-orders first. A return may arrive in several deliveries. `credit` needs the scope
        `billing:write` too; a dry run shows what the credit notes come to. Once all units came back and are credited,
        the return is closed.
        """
        if body.credit:
            require_token_scope(call.request, "billing:write")
        return await receive_and_credit(tx, number, body, self.letterhead, now)

    @_RETURNS.changes("POST", f"{_ONE}/close", roles=MAY_CLOSE)
    async def close_return(self, tx: Transaction, now: datetime, number: ReturnNumber) -> Return:
        """Close a return; units that have not come back are no longer expected.

        A return is closed by itself once all units came back and are credited.
        """
        await close_return(tx, number, now)
        return await shown_return(tx, number)
