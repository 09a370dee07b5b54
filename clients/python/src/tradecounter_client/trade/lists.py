"""Products and orders as tables."""

from collections.abc import Iterable
from decimal import Decimal

from rich.console import Console
from rich.table import Table

from tradecounter_client.models import Order, Product


def pounds(amount: Decimal) -> str:
    """An amount as people write it."""
    return f"£{amount:,.2f}"


def table(*columns: str) -> Table:
    """An empty table; columns whose name begins with > are aligned to the right."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        made.add_column(name.removeprefix(">"), justify="right" if name.startswith(">") else "left", overflow="fold")
    return made


def show_products(console: Console, products: Iterable[Product]) -> None:
    """Print products with prices and stock."""
    shown = table("SKU", "Name", "Manufacturer", ">Price", ">5+", ">10+", ">Stock", "Status")
    for product in products:
        costs = (product.single_unit_cost, product.five_plus_unit_cost, product.ten_plus_unit_cost)
        stock = product.availability
        shown.add_row(
            product.sku, product.name, product.manufacturer, *map(pounds, costs), str(stock.available), stock.status
        )
    console.print(shown)


def show_orders(console: Console, orders: Iterable[Order]) -> None:
    """Print orders with where they are."""
    shown = table("Order", "Reference", "Created", "Status", ">Gross", "Expected", "Tracking")
    for order in orders:
        numbers = [each.tracking_number for each in order.shipping or [] if each.tracking_number]
        shown.add_row(
            order.order_reference, order.customer_reference, order.created_on, order.status, pounds(order.cost_gross),
            order.expected_dispatch_date, ", ".join(numbers),
        )  # fmt: skip
    console.print(shown)
