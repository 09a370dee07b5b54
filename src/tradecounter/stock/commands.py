"""`tradecounter stock`: a product's stock, expected deliveries and back-orders; adjustments, goods in and counts."""

from datetime import datetime
from typing import Annotated, Any

import typer
from msgspec.structs import asdict

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import DryRun, Sku, read_bytes
from tradecounter.edge.command_line.output import AsJson, Parts, show_record, show_table
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import reporting_errors, run_change, run_query
from tradecounter.goods_in.count_stock import compare_count, enter_count, read_count_lines
from tradecounter.goods_in.receive_goods import BookedIn, ReceivedGoods, receive_goods
from tradecounter.kit.clock import local_text
from tradecounter.kit.errors import in_only_item, named_by
from tradecounter.orders.adjust_stock import AdjustedStock, Adjustment, adjust_stock
from tradecounter.orders.create.quick_lines import text_of_file
from tradecounter.prices.queries.prices_of_products import contract_prices_of, list_prices_of
from tradecounter.products.queries.products import fetch_product
from tradecounter.stock.queries.stock import back_orders_of, deliveries_of, stock_level_of

app = typer.Typer(no_args_is_help=True, help="Stock of products.")


_SKU = Option("SKU", "The product's SKU, in upper or lower case.")


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
@takes_request(sku=_SKU)
def adjust(wanted: Adjustment, as_json: AsJson = False) -> None:
    """Adjust the units on hand or the place; new units serve back-orders first. Allocated ones cannot be taken away."""
    if not wanted.is_clear:
        raise typer.BadParameter("give either --change or --set, or --location")

    async def work(tx: Transaction, now: datetime) -> AdjustedStock:
        with named_by(in_only_item):
            [adjusted] = await adjust_stock(tx, [wanted], now)
        return adjusted

    show_record(run_change(work), as_json=as_json)


@app.command("receive")
@takes_request(
    leave_out=("incoming",),
    sku=_SKU,
    expected_on=Option("--expected", "When the delivery was expected: 2026-06-01 or a UK time."),
    units=Option("UNITS"),
    ends=Option(help="The rest of the delivery is not expected any more."),
)
def receive(goods: ReceivedGoods, as_json: AsJson = False) -> None:
    """Book units of an expected delivery in; they serve back-orders first. What is missing stays expected."""

    async def work(tx: Transaction, now: datetime) -> BookedIn:
        with named_by(in_only_item):
            [booked] = await receive_goods(tx, [goods], now)
        return booked

    show_record(run_change(work), as_json=as_json)


@app.command("count")
def count(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Lines such as ACME-100,12, or the filled-in count sheet; - is standard input."
        ),
    ],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="The reason, for the audit log.")] = "Count",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Set the units on hand to what was counted, and show the products whose number was another."""
    content = read_bytes(file)
    with reporting_errors(), named_by(lambda _: file):
        counts = read_count_lines(text_of_file(content))

    async def work(tx: Transaction, now: datetime) -> list[dict[str, Any]]:
        differing = await compare_count(tx, counts)
        await enter_count(tx, differing, reason, now)
        return [{**asdict(each), "difference": each.difference} for each in differing]

    counted = run_change(work, dry_run=dry_run)
    show_table(counted, ("sku", "expected", "counted", "difference", "allocated"), as_json=as_json)


async def stock_of(tx: Transaction, product_id: int) -> dict[str, Any]:
    """Return a product's units on hand, available, allocated and back-ordered, and its place in the warehouse."""
    level = await stock_level_of(tx, product_id)
    return {"on_hand": level.on_hand, **asdict(level)}


async def expected_deliveries(tx: Transaction, product_id: int) -> list[dict[str, Any]]:
    """Return a product's deliveries with their UK times."""
    return [
        {"expected_on": local_text(d.expected_on), "incoming": d.incoming} for d in await deliveries_of(tx, product_id)
    ]
