"""`tradecounter order picking-list` and `order packing-slip`."""

from typing import Annotated

from tradecounter.edge.command_line.arguments import OptionalId, OrderName
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.pdf_file import Output, check_output, put_pdf
from tradecounter.edge.command_line.session import from_settings, run_query
from tradecounter.kit.clock import SystemClock
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.shipments.packing_slip import packing_slip
from tradecounter.shipments.picking_list import picking_list
from tradecounter.shipments.print_papers import print_packing_slip, print_picking_list


def print_picking(reference: OrderName, output: Output = None, as_json: AsJson = False) -> None:
    """Write the picking list of an order as a PDF file: what is allocated and not dispatched."""
    check_output(output, as_json=as_json)
    found = run_query(lambda tx: picking_list(tx, reference, SystemClock().now()))
    name = {"order_reference": found.order_reference}
    put_pdf(print_picking_list(found), output, "picking-list", name, as_json=as_json)


def print_packing(
    reference: OrderName,
    shipment: Annotated[
        int | None,
        OptionalId("--shipment", "ID", "The shipment. Default: the latest."),
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Write the packing slip of a shipment as a PDF file."""
    check_output(output, as_json=as_json)
    letterhead = from_settings(letterhead_from)
    found = run_query(lambda tx: packing_slip(tx, reference, SystemClock().now(), shipment))
    name = {"order_reference": found.order_reference}
    put_pdf(print_packing_slip(found, letterhead), output, "packing-slip", name, as_json=as_json)
