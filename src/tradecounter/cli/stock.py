"""`tradecounter stock`: a product's stock, expected deliveries and back-orders."""

from dataclasses import asdict
from typing import Any

import typer

from tradecounter.catalogue.queries.lookup import find_product
from tradecounter.cli.arguments import Sku
from tradecounter.cli.output import AsJson, Parts, show_record
from tradecounter.cli.session import run_query
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import local_text
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


async def stock_of(tx: Transaction, product_id: int) -> dict[str, int]:
    """Return a product's units on hand, available, allocated and back-ordered."""
    level = await stock_level_of(tx, product_id)
    return {"on_hand": level.on_hand, **asdict(level)}


async def expected_deliveries(tx: Transaction, product_id: int) -> list[dict[str, Any]]:
    """Return a product's deliveries with their UK times."""
    return [
        {"expected_on": local_text(d.expected_on), "incoming": d.incoming} for d in await deliveries_of(tx, product_id)
    ]
