"""`tradecounter order dispatch`, `track`, `video` and what else is done with shipments and their papers."""

import re
from datetime import datetime
from typing import Annotated

import typer
from msgspec.structs import astuple

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import DryRun, IdOf, OptionalId, OrderName, item_units
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.pdf_file import Output, check_output, put_pdf
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import from_settings, run_query
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import DomainError
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.orders.commands.show import change_order
from tradecounter.orders.reseller_wire import TakingBack, Tracking
from tradecounter.settings import read_settings
from tradecounter.shipments.dispatch import ShipmentCorrection, correct_shipment, dispatch_order, take_back_shipment
from tradecounter.shipments.fulfilment import add_video, track_shipment
from tradecounter.shipments.papers import packing_slip, picking_list
from tradecounter.shipments.print_papers import print_packing_slip, print_picking_list
from tradecounter.shipments.rules import normalised_mac
from tradecounter.shipments.wire import Dispatch, OrderVideoResponse, Serial

order = typer.Typer()

ShipmentId = Annotated[int, IdOf("SHIPMENT_ID", "The shipment's id, from `order show`.")]

# A MAC address may contain colons too.
_SERIAL = re.compile(
    r"(?P<item>[0-9]{1,18}):(?P<serial>[^:]+)"
    r"(?::(?P<mac>(?:[0-9A-Fa-f]{2}:){1,5}[0-9A-Fa-f]{2}|[^:]*)(?::(?P<sku>.*))?)?",
    re.DOTALL,
)


@order.command("dispatch")
@takes_request(
    items=Option(
        "--item", "Items to dispatch; may be repeated. Default: all that remain.", "ITEM_ID=QUANTITY", item_units
    ),
    tracking_number=Option("--tracking", metavar="NUMBER"),
    carrier=Option(help="Who carries it. Default: the provider of its shipping method.", metavar="NAME"),
    dispatched_at=Option("--at", "When it left, in UK time. Default: now.", "YYYY-MM-DDTHH:MM[:SS]"),
)
def dispatch(
    reference: OrderName,
    dispatch: Dispatch,
    serial: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ITEM_ID:SERIAL[:MAC[:PROVISIONING_SKU]]", help="A unit's serial number; may be repeated."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Dispatch all or part of an order as one shipment."""
    serials = [_serial(number, text) for number, text in enumerate(serial or ())]

    async def work(tx: Transaction, now: datetime) -> None:
        invoice = read_settings().invoice_each_dispatch
        await dispatch_order(tx, reference, dispatch, now, serials=serials, only_allocated=False, invoice=invoice)

    change_order(reference, work, as_json=as_json)


@order.command("picking-list")
def print_picking(reference: OrderName, output: Output = None, as_json: AsJson = False) -> None:
    """Write the picking list of an order as a PDF file: what is allocated and not dispatched."""
    check_output(output, as_json=as_json)
    paper = run_query(lambda tx: picking_list(tx, reference, SystemClock().now()))
    name = {"order_reference": paper.order_reference}
    put_pdf(print_picking_list(paper), output, "picking-list", name, as_json=as_json)


@order.command("packing-slip")
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
    paper = run_query(lambda tx: packing_slip(tx, reference, SystemClock().now(), shipment))
    name = {"order_reference": paper.order_reference}
    put_pdf(print_packing_slip(paper, letterhead), output, "packing-slip", name, as_json=as_json)


@order.command("track")
@takes_request(
    tracking_number=Option("--tracking", "The shipment's tracking number. Default: the latest shipment.", "NUMBER"),
    date=Option(help="The event's UK time. Default: now.", metavar="YYYY-MM-DDTHH:MM[:SS]"),
)
def track(reference: OrderName, tracking: Tracking, as_json: AsJson = False) -> None:
    """Add a tracking event to a shipment."""
    change_order(reference, lambda tx, now: track_shipment(tx, reference, tracking, now), as_json=as_json)


@order.command("video")
@takes_request(video_file=Option("--file", metavar="URL"), streaming_playlist=Option("--playlist", metavar="URL"))
def video(reference: OrderName, addresses: OrderVideoResponse, as_json: AsJson = False) -> None:
    """Set the URLs of an order's packing video, replacing earlier ones."""
    change_order(reference, lambda tx, now: add_video(tx, reference, addresses, now), as_json=as_json)


@order.command("shipment")
@takes_request(
    tracking_number=Option("--tracking", 'The right tracking number; "" for none.', "NUMBER"),
    carrier=Option(metavar="NAME", help='Who carries it; "" for the provider of its shipping method.'),
)
def correct(
    reference: OrderName,
    shipment_id: ShipmentId,
    correction: ShipmentCorrection,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Correct the tracking number or the carrier of a shipment."""
    if correction == ShipmentCorrection():
        raise typer.BadParameter("name --tracking, --carrier or both")
    right = ShipmentCorrection(*(None if value == "" else value for value in astuple(correction)))
    change_order(
        reference,
        lambda tx, now: correct_shipment(tx, reference, shipment_id, right, now),
        as_json=as_json,
        dry_run=dry_run,
    )


@order.command("take-back")
@takes_request()
def take_back(
    reference: OrderName,
    shipment_id: ShipmentId,
    request: TakingBack,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take a shipment back that never left, while nothing of it is invoiced; its units are allocated again."""
    change_order(
        reference,
        lambda tx, now: take_back_shipment(tx, reference, shipment_id, request.reason, now),
        as_json=as_json,
        dry_run=dry_run,
    )


def _serial(number: int, text: str) -> Serial:
    match = _SERIAL.fullmatch(text)
    if match is None:
        raise typer.BadParameter(f"--serial {text!r} is not ITEM_ID:SERIAL[:MAC[:PROVISIONING_SKU]]")
    try:
        mac = normalised_mac(f"--serial {text!r}", match["mac"]) if match["mac"] else ""
    except DomainError as error:
        raise typer.BadParameter(error.message) from error
    return Serial(
        item_id=int(match["item"]),
        serial_number=match["serial"],
        mac_address=mac,
        provisioning_sku=match["sku"] or "",
        place=f"serial[{number}]",
    )
