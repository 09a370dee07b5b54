"""`tradecounter order`: what customers ordered."""

from typing import Annotated, Any

import typer

from tradecounter.cli.order_billing import billing_of, invoice, pay
from tradecounter.cli.order_shown import as_operators_see_it
from tradecounter.cli.output import AsJson, show_json, show_record, show_table
from tradecounter.cli.session import with_database
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.queries import find_any_order, lines_of, list_all_orders

app = typer.Typer(no_args_is_help=True, help="Customers' orders.")
app.command("invoice")(invoice)
app.command("pay")(pay)


@app.command("list")
def show_all(
    status: Annotated[str | None, typer.Option(help="A status label, or pending or expired.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most so many, the latest first.")] = 1000,
    as_json: AsJson = False,
) -> None:
    """List orders of all customers, the latest first."""

    async def work(database: Database) -> list[dict[str, Any]]:
        async with reading(database) as tx:
            orders = await list_all_orders(tx, status, limit)
            lines = await lines_of(tx, [order.id for order in orders])
        return [as_operators_see_it(order, lines[order.id]) for order in orders]

    columns = (
        "id",
        "kind",
        "order_reference",
        "customer_id",
        "customer_reference",
        "state",
        "status",
        "created_on",
        "cost_gross",
    )
    show_table(with_database(work), columns, as_json=as_json)


@app.command("show")
def show_one(
    reference: Annotated[str, typer.Argument(help="An order reference, an order id or a confirmation code.")],
    as_json: AsJson = False,
) -> None:
    """Show an order."""

    async def work(database: Database) -> dict[str, Any]:
        async with reading(database) as tx:
            order = await find_any_order(tx, reference)
            if order is None:
                raise DomainError(Kind.NOT_FOUND, f"there is no order {reference}")
            lines = await lines_of(tx, [order.id])
            billing = await billing_of(tx, order)
        return {**as_operators_see_it(order, lines[order.id]), **billing}

    order = with_database(work)
    if as_json:
        show_json(order)
        return
    items = order.pop("items")
    show_record(order, as_json=False)
    typer.echo()
    show_table(items, ("id", "sku", "quantity", "unit_cost", "cost_net", "allocated", "back_ordered"), as_json=False)
