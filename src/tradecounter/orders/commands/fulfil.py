"""`tradecounter order dispatch`, `track` and `video`."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Any

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import OrderName, item_units
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import run_change
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import DomainError
from tradecounter.orders.commands.shown import print_order, whole_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.settings import read_settings
from tradecounter.shipments.add_video import add_video
from tradecounter.shipments.dispatch_order import dispatch_order
from tradecounter.shipments.requests import Dispatch, DispatchRequest, Serial
from tradecounter.shipments.rules import normalised_mac
from tradecounter.shipments.track_shipment import NewTrackingEvent, track_shipment
from tradecounter.shipments.wire import OrderVideoResponse

# A MAC address may contain colons too.
_SERIAL = re.compile(
    r"(?P<item>[0-9]{1,18}):(?P<serial>[^:]+)"
    r"(?::(?P<mac>(?:[0-9A-Fa-f]{2}:){1,5}[0-9A-Fa-f]{2}|[^:]*)(?::(?P<sku>.*))?)?",
    re.DOTALL,
)


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
    given: Dispatch,
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

    async def work(tx: Transaction) -> None:
        request = DispatchRequest.of(given, invoice=read_settings().invoice_each_dispatch)
        request = replace(request, serials=serials, only_allocated=False)
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


def _serial(number: int, text: str) -> Serial:
    found = _SERIAL.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"--serial {text!r} is not ITEM_ID:SERIAL[:MAC[:PROVISIONING_SKU]]")
    try:
        mac = normalised_mac(f"--serial {text!r}", found["mac"]) if found["mac"] else ""
    except DomainError as error:
        raise typer.BadParameter(error.message) from error
    return Serial(int(found["item"]), found["serial"], mac, found["sku"] or "", f"serial[{number}]")
