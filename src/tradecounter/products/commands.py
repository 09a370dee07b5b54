"""`tradecounter product`: products with stock and prices."""

from typing import Any

import typer
from msgspec import structs

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Sku
from tradecounter.edge.command_line.output import AsJson, Parts, show_record
from tradecounter.edge.command_line.session import run_query
from tradecounter.prices.queries.prices_of_product import contract_prices_of, list_prices_of
from tradecounter.products.queries.by_sku import FoundProduct, fetch_product
from tradecounter.stock.commands import expected_deliveries, stock_of

app = typer.Typer(no_args_is_help=True, help="Products with their stock and prices.")

_COSTS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
_PARTS: Parts = {
    "deliveries": ("Deliveries", ("expected_on", "incoming")),
    "prices": ("List prices", ("price_list", *_COSTS)),
    "contract_prices": ("Contract prices", ("customer_id", "valid_from", "valid_until", *_COSTS)),
}


@app.command("show")
def show_one(sku: Sku, as_json: AsJson = False) -> None:
    """Show a product, active or not, with its stock, deliveries, purchase cost, list prices and contract prices."""

    async def work(tx: Transaction) -> dict[str, Any]:
        found = await fetch_product(tx, sku)
        product_id = found.record.id
        return {
            **_members(found),
            "stock": await stock_of(tx, product_id),
            "deliveries": await expected_deliveries(tx, product_id),
            "prices": await list_prices_of(tx, product_id),
            "contract_prices": await contract_prices_of(tx, product_id),
        }

    found = run_query(work)
    if not as_json:
        del found["description_html"]  # the same content as the description
    show_record(found, parts=_PARTS, as_json=as_json)


def _members(found: FoundProduct) -> dict[str, Any]:
    members = structs.asdict(found.record)
    del members["id"], members["sku_key"]
    components = [{"sku": c["key"], "quantity": c["quantity"]} for c in members.pop("components")]
    hidden = {
        "configurable": found.configurable,
        "purchase_cost": found.purchase_cost,
        "external_id": found.external_id,
    }
    return {**members, **hidden, "components": components}
