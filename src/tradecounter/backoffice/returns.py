"""`/api/return`: what customers send back."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta
from starlette.responses import Response

from tradecounter.backoffice import examples
from tradecounter.backoffice.desk import LOCATION, NEXT, POST_HEADERS, Desk, DryRun, Nothing, PageParameters, page
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.backoffice.gate import require_scope
from tradecounter.backoffice.order_steps import open_units_return, receive_units
from tradecounter.backoffice.order_wire import Receipt, ReturnRequest
from tradecounter.backoffice.orders import REFERENCE
from tradecounter.billing.reseller_wire import ReceivedReturn
from tradecounter.db.transaction import Transaction
from tradecounter.letterhead.seller import Letterhead
from tradecounter.ordering.queries.returns import lines_of_returns, list_returns
from tradecounter.ordering.returns.find_return import shown_return
from tradecounter.ordering.returns.receive_return import close_return
from tradecounter.ordering.returns.wire import Return, ReturnState, return_on_the_wire
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.operation import TEXT, Body, Operation, Parameter, Success, endpoint
from tradecounter.rest.responses import json_response

MAY_CLOSE = ("support", "finance", "administrator")
_NUMBER = Parameter("number", "The return's number.", TEXT, "RMA-1001")
_RETURN = Success(200, "The return.", Return, {"Return": examples.RETURN}, headers=(IDEMPOTENT_REPLAY,))


class ReturnListParameters(PageParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/return`."""

    state: Annotated[ReturnState | None, Meta(description="Only returns in this state.")] = None
    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's returns.")] | None = None


@dataclass(frozen=True, slots=True)
class ReturnDesk:
    """The endpoints of returns."""

    desk: Desk
    letterhead: Letterhead

    @endpoint(
        Operation(
            method="POST",
            path="/api/order/{reference}/return",
            name="openReturn",
            tag="Returns",
            summary="Open a return of dispatched units",
            path_parameters=(REFERENCE,),
            request_headers=POST_HEADERS,
            body=Body(ReturnRequest, {"ReturnRequest": examples.NEW_RETURN}),
            success=Success(
                201, "The return.", Return, {"Return": examples.RETURN}, headers=(LOCATION, IDEMPOTENT_REPLAY)
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="orders:write",
        )
    )
    async def open_return(self, call: Call) -> Response:
        reference = call.path_text("reference", "order")

        async def work(tx: Transaction, body: ReturnRequest, now: datetime) -> Return:
            return await shown_return(tx, await open_units_return(tx, reference, body, now))

        return await self.desk.change(call, ReturnRequest, work, status=201, location="/api/return/{number}")

    @endpoint(
        Operation(
            method="GET",
            path="/api/return",
            name="listReturns",
            tag="Returns",
            summary="Returns of all customers, the latest first",
            query=ReturnListParameters,
            success=Success(200, "The returns.", list[Return], {"List": [examples.RETURN]}, headers=(NEXT,)),
            scope="orders:read",
        )
    )
    async def list_returns(self, call: Call) -> Response:
        wanted = call.query(ReturnListParameters)
        async with self.desk.reading() as tx:
            found = await list_returns(
                tx,
                wanted.limit + 1,
                state=wanted.state,
                customer_id=wanted.customer_id,
                after=wanted.after or None,
            )
            lines = await lines_of_returns(tx, [each.id for each in found])
        shown = (return_on_the_wire(each, lines[each.id]) for each in found[: wanted.limit])
        return page(call, found, wanted.limit, lambda each: each.id, shown)

    @endpoint(
        Operation(
            method="GET",
            path="/api/return/{number}",
            name="getReturn",
            tag="Returns",
            summary="One return",
            path_parameters=(_NUMBER,),
            success=Success(200, "The return.", Return, {"Return": examples.RETURN}),
            errors=(NOT_FOUND,),
            scope="orders:read",
        )
    )
    async def show_return(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            return json_response(await shown_return(tx, call.path_text("number", "return")))

    @endpoint(
        Operation(
            method="POST",
            path="/api/return/{number}/receive",
            name="receiveReturn",
            tag="Returns",
            summary="Receive units of a return",
            description=(
                "Restocked units serve back-orders first. A return may arrive in several deliveries. `credit` needs "
                "the scope `billing:write` too; a dry run shows what the credit notes come to. Once all units came "
                "back and are credited, the return is closed."
            ),
            path_parameters=(_NUMBER,),
            query=DryRun,
            request_headers=POST_HEADERS,
            body=Body(Receipt, {"Receipt": examples.RECEIPT}),
            success=Success(
                200, "The return.", ReceivedReturn, {"Return": examples.RECEIVED}, headers=(IDEMPOTENT_REPLAY,)
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="orders:write",
            roles=("support", "warehouse", "administrator"),
        )
    )
    async def receive_return(self, call: Call) -> Response:
        number, dry_run = call.path_text("number", "return"), call.query(DryRun).is_wanted

        async def work(tx: Transaction, body: Receipt, now: datetime) -> ReceivedReturn:
            if body.credit:
                require_scope(call.request, "billing:write")
            return await receive_units(tx, number, body, self.letterhead, now)

        return await self.desk.change(call, Receipt, work, dry_run=dry_run)

    @endpoint(
        Operation(
            method="POST",
            path="/api/return/{number}/close",
            name="closeReturn",
            tag="Returns",
            summary="Close a return; units that have not come back are no longer expected",
            description="A return is closed by itself once all units came back and are credited.",
            path_parameters=(_NUMBER,),
            request_headers=POST_HEADERS,
            success=_RETURN,
            errors=(NOT_FOUND, CONFLICT),
            scope="orders:write",
            roles=MAY_CLOSE,
        )
    )
    async def close_return(self, call: Call) -> Response:
        number = call.path_text("number", "return")

        async def work(tx: Transaction, _body: Nothing, now: datetime) -> Return:
            await close_return(tx, number, now)
            return await shown_return(tx, number)

        return await self.desk.change(call, Nothing, work)
