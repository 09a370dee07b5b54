"""`tradecounter order dispatch`, `track` and `video`."""

import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import OrderName, called, item_names, item_units
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import run_change
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import DomainError, named_by
from tradecounter.kit.local_time import moment_of
from tradecounter.orders.commands.shown import print_order, whole_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.units import NamedUnits
from tradecounter.settings import read_settings
from tradecounter.shipments.add_video import add_video
from tradecounter.shipments.dispatch_order import dispatch_order
from tradecounter.shipments.requests import DispatchRequest, Serial
from tradecounter.shipments.rules import normalised_mac
from tradecounter.shipments.track_shipment import NewTrackingEvent, local_time, track_shipment
from tradecounter.shipments.wire import OrderVideoResponse

# A MAC address may contain colons too.
_SERIAL = re.compile(
    r"(?P<item>[0-9]{1,18}):(?P<serial>[^:]+)"
    r"(?::(?P<mac>(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|[^:]*)(?::(?P<sku>.*))?)?",
    re.DOTALL,
)


def dispatch(
    reference: OrderName,
    item: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ITEM_ID=QUANTITY",
            help="Items to dispatch; may be repeated. Default: all that remain.",
        ),
    ] = None,
    tracking_number: Annotated[
        str | None, typer.Option("--tracking", metavar="NUMBER", help="The courier's tracking number.")
    ] = None,
    serial: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ITEM_ID:SERIAL[:MAC[:PROVISIONING_SKU]]", help="A unit's serial number; may be repeated."
        ),
    ] = None,
    carrier: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who carries it. Default: the provider of its shipping method."),
    ] = None,
    dispatched_at: Annotated[
        str | None,
        typer.Option("--at", metavar="YYYY-MM-DDTHH:MM[:SS]", help="When it left, in UK time. Default: now."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Dispatch all or part of an order as one shipment."""
    items = [NamedUnits(*units) for units in item_units(item)]
    serials = [_serial(text) for text in serial or ()]
    names = called(items=item_names(each.id for each in items))

    async def work(tx: Transaction) -> None:
        invoice = read_settings().invoice_each_dispatch
        with named_by(names):
            request = DispatchRequest(
                items=items or None,
                tracking_number=tracking_number,
                carrier=carrier,
                dispatched_at=None if dispatched_at is None else moment_of(local_time("dispatched_at", dispatched_at)),
                serials=serials,
                invoice=invoice,
            )
            await dispatch_order(tx, reference, request, SystemClock().now())

    change_order(reference, work, as_json=as_json)


@takes_request(date=Option(metavar="YYYY-MM-DDTHH:MM[:SS]"))
def track(
    reference: OrderName,
    sighting: NewTrackingEvent,
    tracking: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The shipment's tracking number. Default: the latest shipment.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a tracking event to a shipment."""

    async def work(tx: Transaction) -> None:
        await track_shipment(tx, reference, tracking, sighting, SystemClock().now())

    change_order(reference, work, as_json=as_json)


@takes_request(video_file=Option("--file", metavar="URL"), streaming_playlist=Option("--playlist", metavar="URL"))
def video(reference: OrderName, addresses: OrderVideoResponse, as_json: AsJson = False) -> None:
    """Set the URLs of an order's packing video, replacing earlier ones."""

    async def work(tx: Transaction) -> None:
        await add_video(tx, reference, addresses, SystemClock().now())

    change_order(reference, work, as_json=as_json)


def change_order(
    reference: str, change: Callable[[Transaction], Awaitable[None]], *, as_json: bool, dry_run: bool = False
) -> None:
    """Change an order and print it; a `dry_run` undoes the change."""

    async def work(tx: Transaction) -> dict[str, Any]:
        await change(tx)
        return await whole_order(tx, await fetch_order(tx, reference))

    print_order(run_change(work, dry_run=dry_run), as_json=as_json)


def _serial(text: str) -> Serial:
    found = _SERIAL.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"--serial {text!r} is not ITEM_ID:SERIAL[:MAC[:PROVISIONING_SKU]]")
    try:
        mac = normalised_mac("--serial", found["mac"]) if found["mac"] else ""
    except DomainError as error:
        raise typer.BadParameter(f"--serial {text!r}: its MAC address must have 12 hexadecimal digits") from error
    return Serial(int(found["item"]), found["serial"], mac, found["sku"] or "")
