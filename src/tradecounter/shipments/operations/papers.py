"""`/api/order/{reference}/picking-list` and `/packing-slip`."""

import asyncio
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.scopes import CONFLICT
from tradecounter.edge.operations.subject import FILE
from tradecounter.edge.rest.negotiation import PDF
from tradecounter.edge.rest.responses import file_response
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.operations.staff import ONE_ORDER, ORDERS, OrderReference
from tradecounter.shipments.packing_slip import packing_slip
from tradecounter.shipments.papers import PackingSlip, PickingList
from tradecounter.shipments.picking_list import picking_list
from tradecounter.shipments.print_papers import print_packing_slip, print_picking_list


class PackingSlipParameters(Struct, frozen=True):
    """The query parameters of `GET /api/order/{reference}/packing-slip`."""

    shipment: Annotated[int, Meta(ge=1, description="The shipment's id. Default: the latest one.")] | None = None


class OrderPaperOperations(Struct, frozen=True):
    """The endpoints of the warehouse's papers; the letterhead is on packing slips."""

    desk: Desk
    letterhead: Letterhead

    @ORDERS.shows(f"{ONE_ORDER}/picking-list", "The PDF file.", files={PDF: FILE}, errors=(CONFLICT,))
    async def get_picking_list(self, reference: OrderReference, now: datetime) -> Response:
        """The picking list as a PDF file.

        What is allocated and not dispatched, with a barcode (Code 128) of the reference, the delivery address, how to
        ship and to pack, and the notes. 409 while nothing can be picked.
        """
        async with self.desk.reading() as tx:
            found = await picking_list(tx, reference, now)
        return await picking_list_file(found)

    @ORDERS.shows(f"{ONE_ORDER}/packing-slip", "The PDF file.", files={PDF: FILE}, errors=(CONFLICT,))
    async def get_packing_slip(
        self, reference: OrderReference, now: datetime, query: PackingSlipParameters
    ) -> Response:
        """The packing slip of a shipment as a PDF file.

        What is in the box, with serial numbers, and what is still to come; without prices. For customers with plain
        packing, it does not name the seller. 409 before the first dispatch.
        """
        async with self.desk.reading() as tx:
            found = await packing_slip(tx, reference, now, query.shipment)
        return await packing_slip_file(found, self.letterhead)


async def picking_list_file(found: PickingList) -> Response:
    """Respond with a picking list as a PDF file."""
    pdf = await asyncio.to_thread(print_picking_list, found)
    return file_response(pdf, f"picking-list-{found.order_reference}.pdf", PDF)


async def packing_slip_file(found: PackingSlip, letterhead: Letterhead) -> Response:
    """Respond with a packing slip as a PDF file."""
    pdf = await asyncio.to_thread(print_packing_slip, found, letterhead)
    return file_response(pdf, f"packing-slip-{found.order_reference}.pdf", PDF)
