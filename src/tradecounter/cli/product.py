"""`tradecounter product`: products with stock and prices."""

from typing import Any

import typer
from msgspec import structs

from tradecounter.catalogue.queries.lookup import FoundProduct, find_product
from tradecounter.cli.arguments import Sku
from tradecounter.cli.output import AsJson, show_json, show_part, show_record
from tradecounter.cli.session import run_query
from tradecounter.cli.stock_shown import expected_deliveries, stock_of
from tradecounter.db.transaction import Transaction
from tradecounter.pricing.queries.lookup import contract_prices_of, list_prices_of

app = typer.Typer(no_args_is_help=True, help="Products with their stock and prices.")

_COSTS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")


@app.command("show")
def show_one(sku: Sku, as_json: AsJson = False) -> None:
    """Show a product, active or not, with its stock, deliveries, list prices and contract prices."""

    async def work(tx: Transaction) -> dict[str, Any]:
        found = await find_product(tx, sku)
        product_id = found.record.id
        return {
            **_members(found),
            "stock": await stock_of(tx, product_id),
            "deliveries": await expected_deliveries(tx, product_id),
            "prices": await list_prices_of(tx, product_id),
            "contract_prices": await contract_prices_of(tx, product_id),
        }

    found = run_query(work)
    if as_json:
        show_json(found)
        return
    deliveries, prices, contracts = (found.pop(name) for name in ("deliveries", "prices", "contract_prices"))
    del found["description_html"]  # the same as the description, with markup
    show_record(found, as_json=False)
    show_part("Deliveries", deliveries, ("expected_on", "incoming"))
    show_part("List prices", prices, ("price_list", *_COSTS))
    show_part("Contract prices", contracts, ("customer_id", "valid_from", "valid_until", *_COSTS))


def _members(found: FoundProduct) -> dict[str, Any]:
    members = structs.asdict(found.record)
    for internal in ("id", "sku_key"):
        del members[internal]
    held = members.pop("components")
    components = [{"sku": component["key"], "quantity": component["quantity"]} for component in held]
    return {**members, "configurable": found.configurable, "components": components}
