"""`tradecounter order shipment`, `take-back`, `picking-list` and `packing-slip`."""

from typing import Annotated

import typer
from msgspec.structs import astuple

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import DryRun, IdOf, OptionalId, OrderName
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.pdf_file import Output, check_output, put_pdf
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import from_settings, run_query
from tradecounter.kit.clock import SystemClock
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.orders.commands.fulfil import change_order
from tradecounter.orders.staff_wire import TakingBack
from tradecounter.shipments.correct_shipment import ShipmentCorrection, correct_shipment
from tradecounter.shipments.packing_slip import packing_slip
from tradecounter.shipments.picking_list import picking_list
from tradecounter.shipments.print_papers import print_packing_slip, print_picking_list
from tradecounter.shipments.take_back_shipment import take_back_shipment

ShipmentId = Annotated[
    int,
    IdOf("SHIPMENT_ID", "The shipment's id, from `order show`."),
]


@takes_request(
    tracking_number=Option("--tracking", 'The right tracking number; "" for none.', "NUMBER"),
    carrier=Option(metavar="NAME", help='Who carries it; "" for the provider of its shipping method.'),
)
def correct(
    reference: OrderName,
    shipment_id: ShipmentId,
    given: ShipmentCorrection,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Correct the tracking number or the carrier of a shipment."""
    if given == ShipmentCorrection():
        raise typer.BadParameter("name --tracking, --carrier or both")
    right = ShipmentCorrection(*(None if value == "" else value for value in astuple(given)))

    async def work(tx: Transaction) -> None:
        await correct_shipment(tx, reference, shipment_id, right, SystemClock().now())

    change_order(reference, work, as_json=as_json, dry_run=dry_run)


@takes_request()
def take_back(
    reference: OrderName,
    shipment_id: ShipmentId,
    given: TakingBack,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take a shipment back that never left, while nothing of it is invoiced; its units are allocated again."""

    async def work(tx: Transaction) -> None:
        await take_back_shipment(tx, reference, shipment_id, given.reason, SystemClock().now())

    change_order(reference, work, as_json=as_json, dry_run=dry_run)


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
