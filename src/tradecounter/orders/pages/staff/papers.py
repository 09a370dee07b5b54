"""`/order/{reference}/picking-list` and `/packing-slip`: the warehouse's papers, to be printed."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.negotiation import PDF
from tradecounter.edge.rest.responses import file_response
from tradecounter.orders.pages.staff.order_forms import reference_of
from tradecounter.parts.back_office import OfficeParts
from tradecounter.shipments.operations.papers import PackingSlipParameters, packing_slip_file, picking_list_file
from tradecounter.shipments.packing_slip import packing_slip
from tradecounter.shipments.picking_list import picking_list


class OrderPaperPages(Struct, frozen=True):
    """The papers of an order as PDF files."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order/{reference}/picking-list", "The picking list", scope="orders:read")
    async def show_picking_list(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            found = await picking_list(tx, reference_of(call), self.desk.clock.now())
        return _shown(await picking_list_file(found))

    @page("/order/{reference}/packing-slip", "A packing slip", scope="orders:read", query=PackingSlipParameters)
    async def show_packing_slip(self, call: Call) -> Response:
        shipment = call.query(PackingSlipParameters).shipment
        async with self.desk.reading() as tx:
            found = await packing_slip(tx, reference_of(call), self.desk.clock.now(), shipment)
        return _shown(await packing_slip_file(found, self.parts.letterhead))


def printable(pdf: bytes, name: str) -> Response:
    """Respond with a PDF file that the browser shows, so that it can be printed at once."""
    return _shown(file_response(pdf, name, PDF))


def _shown(file: Response) -> Response:
    file.headers["Content-Disposition"] = file.headers["Content-Disposition"].replace("attachment", "inline")
    file.headers["Cache-Control"] = "no-store"
    return file
