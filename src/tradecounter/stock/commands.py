"""`tradecounter stock`: a product's stock, expected deliveries and back-orders; adjustments."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Sku
from tradecounter.edge.command_line.output import AsJson, Parts, show_record
from tradecounter.edge.command_line.session import run_change, run_query
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.local_time import local_text
from tradecounter.orders.back_orders.adjust_stock import MOST_UNITS, AdjustedStock, Adjustment, adjust_stock
from tradecounter.prices.queries.prices_of_product import contract_prices_of, list_prices_of
from tradecounter.products.queries.by_sku import fetch_product
from tradecounter.stock.queries.stock_of_product import back_orders_of, deliveries_of, stock_level_of

app = typer.Typer(no_args_is_help=True, help="Stock of products.")


@app.command("show")
def show_one(sku: Sku, as_json: AsJson = False) -> None:
    """Show a product's stock, expected deliveries and back-orders."""

    async def work(tx: Transaction) -> dict[str, Any]:
        product = (await fetch_product(tx, sku)).record
        units = await stock_of(tx, product.id)
        return {
            "sku": product.sku,
            "name": product.name,
            "active": product.active,
            **units,
            "stock": units,
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
            "prices": await list_prices_of(tx, product.id),
            "contract_prices": await contract_prices_of(tx, product.id),
        }

    parts: Parts = {
        "deliveries": ("Deliveries", ("expected_on", "incoming")),
        "back_orders": ("Back-orders", ("order_reference", "customer_id", "quantity", "confirmed_on")),
    }
    found = run_query(work)
    if not as_json:
        for name in ("stock", "prices", "contract_prices"):  # the units again, and what `product show` shows
            del found[name]
    show_record(found, parts=parts, as_json=as_json)


@app.command("adjust")
def adjust(
    sku: Sku,
    reason: Annotated[str, typer.Option("--reason", help="The reason, for the audit log.")],
    change: Annotated[
        int | None,
        typer.Option("--change", min=-MOST_UNITS, max=MOST_UNITS, metavar="N", help="Add N units; -N takes away."),
    ] = None,
    counted: Annotated[
        int | None, typer.Option("--set", min=0, max=MOST_UNITS, metavar="N", help="Set the units to N, as counted.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Adjust the units on hand; new units serve back-orders first. Allocated units cannot be taken away."""
    if (change is None) == (counted is None):
        raise typer.BadParameter("give either --change or --set")

    async def work(tx: Transaction) -> AdjustedStock:
        wanted = Adjustment(sku=sku, change=change, set=counted, reason=reason)
        [adjusted] = await adjust_stock(tx, [wanted], SystemClock().now())
        return adjusted

    show_record(run_change(work), as_json=as_json)


async def stock_of(tx: Transaction, product_id: int) -> dict[str, Any]:
    """Return a product's units on hand, available, allocated and back-ordered, and its place in the warehouse."""
    level = await stock_level_of(tx, product_id)
    return {"on_hand": level.on_hand, **asdict(level)}


async def expected_deliveries(tx: Transaction, product_id: int) -> list[dict[str, Any]]:
    """Return a product's deliveries with their UK times."""
    return [
        {"expected_on": local_text(d.expected_on), "incoming": d.incoming} for d in await deliveries_of(tx, product_id)
    ]
