"""`tradecounter stock`: a product's stock, expected deliveries and back-orders."""

from typing import Any

import typer

from tradecounter.catalogue.queries.lookup import find_product
from tradecounter.cli.arguments import Sku
from tradecounter.cli.output import AsJson, show_json, show_part, show_record
from tradecounter.cli.session import run_query
from tradecounter.cli.stock_shown import expected_deliveries, stock_of
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import local_text
from tradecounter.stock.queries.lookup import back_orders_of

app = typer.Typer(no_args_is_help=True, help="Stock of products.")


@app.command("show")
def show_one(sku: Sku, as_json: AsJson = False) -> None:
    """Show a product's stock, its expected deliveries and the orders that wait for it."""

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

    found = run_query(work)
    if as_json:
        show_json(found)
        return
    deliveries, back_orders = found.pop("deliveries"), found.pop("back_orders")
    show_record(found, as_json=False)
    show_part("Deliveries", deliveries, ("expected_on", "incoming"))
    show_part("Back-orders", back_orders, ("order_reference", "customer_id", "quantity", "confirmed_on"))
