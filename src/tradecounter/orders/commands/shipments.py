"""`tradecounter order shipment` and `order take-back`."""

from typing import Annotated

import typer
from msgspec import UNSET

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import LARGEST_ID, DryRun, OrderName
from tradecounter.edge.command_line.output import AsJson
from tradecounter.kit.clock import SystemClock
from tradecounter.orders.commands.fulfil import change_order
from tradecounter.shipments.correct_shipment import ShipmentCorrection, correct_shipment
from tradecounter.shipments.take_back_shipment import take_back_shipment

ShipmentId = Annotated[
    int,
    typer.Argument(
        min=1, max=LARGEST_ID, metavar="SHIPMENT_ID", help="The shipment's id, from `order show`.", show_default=False
    ),
]


def correct(
    reference: OrderName,
    shipment_id: ShipmentId,
    tracking: Annotated[
        str | None, typer.Option("--tracking", metavar="NUMBER", help='The right tracking number; "" for none.')
    ] = None,
    carrier: Annotated[
        str | None,
        typer.Option("--carrier", metavar="NAME", help='Who carries it; "" for the provider of its shipping method.'),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Correct the tracking number or the carrier of a shipment."""
    if tracking is None and carrier is None:
        raise typer.BadParameter("name --tracking, --carrier or both")
    given = ShipmentCorrection(
        UNSET if tracking is None else tracking or None, UNSET if carrier is None else carrier or None
    )

    async def work(tx: Transaction) -> None:
        await correct_shipment(tx, reference, shipment_id, given, SystemClock().now())

    change_order(reference, work, as_json=as_json, dry_run=dry_run)


def take_back(
    reference: OrderName,
    shipment_id: ShipmentId,
    reason: Annotated[str, typer.Option(help="The reason, which is sent to the customer and stored with the order.")],
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Take a shipment back that never left, while nothing of it is invoiced; its units are allocated again."""

    async def work(tx: Transaction) -> None:
        await take_back_shipment(tx, reference, shipment_id, reason, SystemClock().now())

    change_order(reference, work, as_json=as_json, dry_run=dry_run)
