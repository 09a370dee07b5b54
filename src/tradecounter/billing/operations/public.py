"""`GET /order/{reference}/invoice` and `GET /customer/credit`."""

import asyncio

from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.billing.credit_overview import ORDERS_IN_A_PIECE, read_credit, write_overview
from tradecounter.billing.queries.invoices import printed_documents
from tradecounter.billing.wire import CREDIT, CreditOverview
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.chunked_response import ChunkedResponse
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.headers import CONTENT_DISPOSITION
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import TEXT, ErrorResponse, Link, Media, Operation, Parameter, Success, endpoint
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.clock import Clock
from tradecounter.kit.error_codes import Code
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.letterhead.join_documents import joined
from tradecounter.orders.queries.orders import fetch_own_order
from tradecounter.orders.states import CancelledOrder


class BillingEndpoints(Struct, frozen=True):
    """The endpoints of invoices and credit."""

    database: Database
    clock: Clock
    overview_lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # of long credit overviews

    @endpoint(
        Operation(
            method="GET",
            path="/order/{reference}/invoice",
            name="getInvoice",
            key_scopes=("account",),
            tag="Orders",
            summary="The invoice of an order",
            description=(
                "`reference` is the order reference or the numeric order id. Before the first invoice, the response "
                "is 412: try again later. The file has all invoices and credit notes of the order, oldest first. "
                "Each of them never changes, and is also sent by e-mail."
            ),
            path_parameters=(
                Parameter("reference", "The order reference or the numeric order id.", TEXT, "PLN-100004"),
            ),
            success=Success(
                200,
                "The invoices and credit notes as a PDF file.",
                media_types={"application/pdf": Media({"type": "string", "format": "binary"})},
                headers=(CONTENT_DISPOSITION,),
            ),
            errors=(
                NOT_FOUND,
                ErrorResponse(
                    412,
                    "The order has not been invoiced yet, or is cancelled.",
                    "the order has not been invoiced yet; try again later",
                    code=Code.NOT_INVOICED,
                ),
            ),
            links=(Link("getOrder", "The order's invoice.", {"reference": "$response.body#/order_reference"}),),
        )
    )
    async def show_invoice(self, call: Call) -> Response:
        async with reading(self.database) as tx:
            order = await fetch_own_order(tx, call.customer_id, call.path_text("reference", "order"))
            documents = await printed_documents(tx, order.id)
        if not documents and isinstance(order, CancelledOrder):
            raise DomainError(
                Kind.PRECONDITION_FAILED, "the order is cancelled: it has no invoice", code=Code.CANCELLED
            )
        if not documents:
            message = "the order has not been invoiced yet; try again later"
            raise DomainError(Kind.PRECONDITION_FAILED, message, code=Code.NOT_INVOICED)
        pdf = await asyncio.to_thread(joined, [document.pdf for document in documents])
        name = f"invoice-{documents[0].number}.pdf" if len(documents) == 1 else f"invoices-{order.name}.pdf"
        return file_response(pdf, name, "application/pdf")

    @endpoint(
        Operation(
            method="GET",
            path="/customer/credit",
            name="getCredit",
            key_scopes=("account",),
            tag="Account",
            summary="Your credit",
            description="The credit limit, what you owe, what is left, and the orders that are not fully paid.",
            success=Success(
                200,
                "The credit overview; without credit terms, the limit is 0.",
                CreditOverview,
                {"CreditOverview": CREDIT},
            ),
        )
    )
    async def show_credit(self, call: Call) -> Response:
        async with reading(self.database) as tx:
            credit = await read_credit(tx, call.customer_id)
        pieces = write_overview(credit, self.clock.now())
        if len(credit.debts) <= ORDERS_IN_A_PIECE:
            return Response(b"".join(pieces), media_type=JSON)
        return ChunkedResponse(pieces, self.overview_lock, headers={}, media_type=JSON)
