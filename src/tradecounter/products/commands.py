"""`tradecounter product`: products with stock and prices."""

from typing import Annotated, Any

import typer
from msgspec import structs

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Limit, Sku
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Parts, show_record
from tradecounter.edge.command_line.session import run_query
from tradecounter.prices.queries.prices_of_products import contract_prices_of, list_prices_of
from tradecounter.products.queries.products import (
    SHOWN,
    FoundProduct,
    ProductFilter,
    Shown,
    fetch_product,
    products_after,
    products_named,
)
from tradecounter.stock.commands import expected_deliveries, stock_of

app = typer.Typer(no_args_is_help=True, help="Products with their stock and prices.")

_COSTS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
_PARTS: Parts = {
    "deliveries": ("Deliveries", ("expected_on", "incoming")),
    "prices": ("List prices", ("price_list", *_COSTS)),
    "contract_prices": ("Contract prices", ("customer_id", "valid_from", "valid_until", *_COSTS)),
}


_LISTED_COLUMNS = ("sku", "name", "manufacturer", "ean", "active", "external_id")


@app.command("list")
@lists_records(_LISTED_COLUMNS)
async def list_all(
    tx: Transaction,
    show: Annotated[
        Shown | None, typer.Option("--show", metavar="WHICH", help=f"Only these products: {', '.join(SHOWN)}.")
    ] = None,
    manufacturer: Annotated[
        str | None, typer.Option(metavar="M", help="Only those of this manufacturer, by its key or its name.")
    ] = None,
    category: Annotated[
        str | None,
        typer.Option(metavar="C", help="Only those of this category and of those below it, by its key or name."),
    ] = None,
    external_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Only the product with this external id.")
    ] = None,
    containing: Annotated[str | None, typer.Option(metavar="TEXT", help="Only SKUs that contain this.")] = None,
    limit: Limit = LISTED,
) -> list[dict[str, Any]]:
    """List products, active or not, by SKU: for example those that are sold without a picture, or below cost."""
    wanted = ProductFilter(
        manufacturer=manufacturer, category=category, show=show, external_id=external_id, containing=containing
    )
    products = await products_after(tx, "", limit, wanted)
    return [{name: getattr(product, name) for name in _LISTED_COLUMNS} for product in products]


@app.command("show")
def show_one(sku: Sku, as_json: AsJson = False) -> None:
    """Show a product, active or not, with its stock, deliveries, purchase cost, list prices and contract prices."""

    async def work(tx: Transaction) -> dict[str, Any]:
        found = await fetch_product(tx, sku)
        product_id = found.record.id
        components = found.record.components
        skus = {each.sku_key: each.sku for each in await products_named(tx, [part["key"] for part in components])}
        return {
            **_members(found),
            "components": [{"sku": skus[part["key"]], "quantity": part["quantity"]} for part in components],
            "stock": await stock_of(tx, product_id),
            "deliveries": await expected_deliveries(tx, product_id),
            "prices": await list_prices_of(tx, product_id),
            "contract_prices": await contract_prices_of(tx, product_id),
        }

    found = run_query(work)
    if not as_json:
        del found["description_html"]  # the same content as the description
    show_record(found, parts=_PARTS, as_json=as_json)


def _members(product: FoundProduct) -> dict[str, Any]:
    members = structs.asdict(product.record) | structs.asdict(product)
    del members["id"], members["sku_key"], members["record"]
    return members
