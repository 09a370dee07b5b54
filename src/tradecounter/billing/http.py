"""`GET /order/{reference}/invoice` and `GET /customer/credit`."""

import asyncio
from dataclasses import dataclass, field

from starlette.responses import Response

from tradecounter.billing.credit_overview import ORDERS_IN_A_PIECE, read_credit, write_overview
from tradecounter.billing.queries import find_printed_invoice
from tradecounter.billing.wire import CreditOverview
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.queries import own_order
from tradecounter.rest.call import Call
from tradecounter.rest.chunked_response import ChunkedResponse
from tradecounter.rest.negotiation import JSON
from tradecounter.rest.operation import Answer, Operation, endpoint


@dataclass(frozen=True, slots=True)
class BillingEndpoints:
    """The invoice and the credit overview."""

    database: Database
    clock: Clock
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # of long credit overviews

    @endpoint(
        Operation(
            method="GET",
            path="/order/{reference}/invoice",
            name="getInvoice",
            tag="Orders",
            summary="The invoice of an order",
            description=(
                "`reference` is the order reference or the numeric order id. An order has one invoice, issued when all "
                "of it is dispatched; it never changes. Before that the answer is 412: ask again later."
            ),
            answer=Answer(200, "The invoice as a PDF file.", pdf=True, headers=("Content-Disposition",)),
            errors=(401, 404, 412),
            meanings={412: "The order has not been invoiced yet, or is cancelled."},
        )
    )
    async def show_invoice(self, call: Call) -> Response:
        """Answer `GET /order/{reference}/invoice`."""
        async with reading(self.database) as tx:
            order = await own_order(tx, call.customer_id, call.path_text("reference", "order"))
            invoice = await find_printed_invoice(tx, order.id)
        if order.state == "cancelled":
            raise DomainError(Kind.PRECONDITION_FAILED, "the order is cancelled: it has no invoice")
        if invoice is None:
            raise DomainError(Kind.PRECONDITION_FAILED, "the order has not been invoiced yet; ask again later")
        disposition = f'attachment; filename="invoice-{invoice.number}.pdf"'
        return Response(invoice.pdf, media_type="application/pdf", headers={"Content-Disposition": disposition})

    @endpoint(
        Operation(
            method="GET",
            path="/customer/credit",
            name="getCredit",
            tag="Account",
            summary="Your credit",
            description="The limit, what is owed, what is left, and the orders with something due.",
            answer=Answer(200, "The overview; without credit terms the limit is 0.", CreditOverview),
            errors=(401,),
        )
    )
    async def show_credit(self, call: Call) -> Response:
        """Answer `GET /customer/credit`."""
        async with reading(self.database) as tx:
            credit = await read_credit(tx, call.customer_id)
        pieces = write_overview(credit, self.clock.now())
        if len(credit.debts) <= ORDERS_IN_A_PIECE:
            return Response(b"".join(pieces), media_type=JSON)
        return ChunkedResponse(pieces, self.turn, headers={}, media_type=JSON)
