"""`tradecounter order cancel`."""

from typing import Annotated

import typer

from tradecounter.cli.arguments import item_units
from tradecounter.cli.order_fulfil import change_order
from tradecounter.cli.output import AsJson
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import SystemClock
from tradecounter.ordering.cancel_order import cancel_order


def cancel(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="ORDER", help="The order's reference, id or confirmation code, or the code's beginning."
        ),
    ],
    reason: Annotated[str, typer.Option(help="The reason, which is sent to the customer and stored with the order.")],
    item: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ITEM_ID=QUANTITY", help="Units to cancel; may be repeated. Default: all that are not dispatched."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Cancel all undispatched units of an order, or some of them; releases their stock and credit."""
    items = item_units(item) or None

    async def work(tx: Transaction) -> None:
        await cancel_order(tx, reference, reason, SystemClock().now(), items)

    change_order(reference, work, as_json=as_json)
