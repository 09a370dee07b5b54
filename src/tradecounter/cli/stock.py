"""`tradecounter stock`: a product's stock, expected deliveries and back-orders; adjustments."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from tradecounter.catalogue.queries.lookup import find_product
from tradecounter.cli.arguments import Sku
from tradecounter.cli.output import AsJson, Parts, show_record
from tradecounter.cli.session import run_change, run_query
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.local_time import local_text
from tradecounter.ordering.back_orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.stock.queries.lookup import back_orders_of, deliveries_of, stock_level_of

app = typer.Typer(no_args_is_help=True, help="Stock of products.")


@app.command("show")
def show_one(sku: Sku, as_json: AsJson = False) -> None:
    """Show a product's stock, expected deliveries and back-orders."""

    async def work(tx: Transaction) -> dict[str, Any]:
        product = (await find_product(tx, sku)).record
        return {
            "sku": product.sku,
            "name": product.name,
            "active": product.active,
            **await stock_of(tx, product.id),
            "deliveries": await expected_deliveries(tx, product.id),
            "back_orders": [
                {
                    "order_reference": waiting.order_reference,
                    "customer_id": waiting.customer_id,
                    "quantity": waiting.quantity,
                    "confirmed_on": local_text(waiting.confirmed_at),
                }
                for waiting in await back_orders_of(tx, product.id)
            ],
        }

    parts: Parts = {
        "deliveries": ("Deliveries", ("expected_on", "incoming")),
        "back_orders": ("Back-orders", ("order_reference", "customer_id", "quantity", "confirmed_on")),
    }
    show_record(run_query(work), parts=parts, as_json=as_json)


@app.command("adjust")
def adjust(
    sku: Sku,
    reason: Annotated[str, typer.Option(help="Why; the audit log shows it.")],
    change: Annotated[
        int | None, typer.Option(metavar="N", help="Units to add, or with a minus to take away.", show_default=False)
    ] = None,
    counted: Annotated[
        int | None, typer.Option("--set", min=0, metavar="N", help="Units that were counted.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Adjust a product's units on hand; new ones go to waiting orders first."""
    wanted = Adjustment(sku=sku, change=change, set=counted, reason=reason)
    [adjusted] = run_change(lambda tx: adjust_stock(tx, [wanted], SystemClock().now()))
    show_record(adjusted, as_json=as_json)


async def stock_of(tx: Transaction, product_id: int) -> dict[str, int]:
    """Return a product's units on hand, available, allocated and back-ordered."""
    level = await stock_level_of(tx, product_id)
    return {"on_hand": level.on_hand, **asdict(level)}


async def expected_deliveries(tx: Transaction, product_id: int) -> list[dict[str, Any]]:
    """Return a product's deliveries with their UK times."""
    return [
        {"expected_on": local_text(d.expected_on), "incoming": d.incoming} for d in await deliveries_of(tx, product_id)
    ]
