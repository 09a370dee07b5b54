"""`tradecounter quote`: quotes, which support prices."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from tradecounter.cli.order_shown import as_operators_see_it, print_order, whole_order
from tradecounter.cli.output import AsJson, show_json, show_part, show_record, show_table
from tradecounter.cli.session import refusing, with_database
from tradecounter.cli.tables import ColumnNames, Prose
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.local_time import local_text
from tradecounter.ordering.lines import OrderLine
from tradecounter.ordering.lookup import the_quote, whole_code
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.queries.lines import lines_of, lines_of_order
from tradecounter.ordering.queries.lookup import list_quotes
from tradecounter.ordering.quotes.confirm_quote import confirm_quote
from tradecounter.ordering.quotes.price_quote import price_quote
from tradecounter.ordering.states import AnyOrder, pricing_of
from tradecounter.settings import read_settings

app = typer.Typer(no_args_is_help=True, help="Quotes that customers requested.")

Code = Annotated[str, typer.Argument(help="The confirmation code, or its beginning.")]

_COLUMNS = ("confirmation_code", "created_on", "cost_gross", "customer_id", "customer_reference", "state", "priced_on",
            "expires_on")  # fmt: skip


@app.command("list")
def show_all(
    everything: Annotated[
        bool, typer.Option("--all", help="Also quotes that are priced, confirmed or expired.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="At most so many.")] = 1000,
    columns: ColumnNames = None,
    as_json: AsJson = False,
) -> None:
    """List quotes waiting for a price, the oldest first; with --all every quote, the latest first."""

    async def work(database: Database) -> list[dict[str, Any]]:
        async with reading(database) as tx:
            quotes = await list_quotes(tx, limit, waiting=not everything)
            lines = await lines_of(tx, [quote.id for quote in quotes])
        return [_as_support_sees_it(quote, lines[quote.id]) for quote in quotes]

    show_table(with_database(work), _COLUMNS, as_json=as_json, names=columns)


@app.command("show")
def show_one(code: Code, as_json: AsJson = False) -> None:
    """Show a quote."""

    async def work(database: Database) -> dict[str, Any]:
        async with reading(database) as tx:
            return await _quote(tx, code)

    _print(with_database(work), as_json=as_json)


def _priced(text: str, form: str = "SKU=UNIT_COST") -> tuple[str, Decimal]:
    name, equals, cost = text.rpartition("=")  # a SKU may hold an equals sign, a cost cannot
    if not equals or not name:
        raise typer.BadParameter(f"{text!r} is not {form}")
    try:
        return name, Decimal(cost)
    except InvalidOperation as error:
        raise typer.BadParameter(f"{cost!r} is not a number") from error


def _carriage(text: str) -> tuple[int, Decimal]:
    method, cost = _priced(text, "ID=COST")
    if not (method.isascii() and method.isdigit()):
        raise typer.BadParameter(f"{method!r} is not the id of a shipping method")
    return int(method), cost


@app.command("price")
def price(
    code: Code,
    items: Annotated[
        list[str] | None,
        typer.Option("--item", metavar="SKU=UNIT_COST", help="The net cost of a unit, for all lines of the SKU."),
    ] = None,
    shipping: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID=COST",
            help="The net cost of sending it by a shipping method, which becomes one of its shipping options.",
        ),
    ] = None,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="What the customer is told with the price.")] = None,
    as_json: AsJson = False,
) -> None:
    """Price a quote, or price it again; what is not named keeps its price. The customer is told by e-mail."""
    if not items and not shipping:
        raise typer.BadParameter("give at least one --item or --shipping")
    unit_costs = [_priced(item) for item in items or ()]
    carriage = [_carriage(named) for named in shipping or ()]
    with refusing():
        lifetime = read_settings().quote_lifetime

    async def work(database: Database) -> dict[str, Any]:
        async with transaction(database) as tx:
            await price_quote(
                tx,
                await whole_code(tx, code),
                unit_costs,
                (note or "").strip() or None,
                SystemClock().now(),
                lifetime,
                carriage=carriage,
            )
            return await _quote(tx, code)

    _print(with_database(work), as_json=as_json)


@app.command("confirm")
def confirm(
    code: Code,
    shipping_method: Annotated[
        int | None,
        typer.Option(
            "--shipping-method",
            min=1,
            max=2**31 - 1,
            metavar="ID",
            help="One of the quote's options; without it, the one that it names or the account's default.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Confirm a priced quote for a customer who has accepted it; it becomes an order. The customer is told."""
    with refusing():
        policy = OrderingPolicy.from_settings(read_settings())

    async def work(database: Database) -> dict[str, Any]:
        async with transaction(database) as tx:
            whole = await whole_code(tx, code)
            return await whole_order(tx, await confirm_quote(tx, whole, shipping_method, policy, SystemClock().now()))

    print_order(with_database(work), as_json=as_json)


async def _quote(tx: Transaction, code: str) -> dict[str, Any]:
    quote = await the_quote(tx, await whole_code(tx, code))
    return _as_support_sees_it(quote, await lines_of_order(tx, quote.id))


def _as_support_sees_it(quote: AnyOrder, lines: Sequence[OrderLine]) -> dict[str, Any]:
    shown, pricing = as_operators_see_it(quote, lines), pricing_of(quote)
    items = shown.pop("items")
    return {
        **shown,
        "priced_on": pricing and local_text(pricing.priced_at),
        "expires_on": pricing and local_text(pricing.expires_at),
        "pricings": 0 if pricing is None else pricing.pricings,
        "note": pricing and pricing.quote_note,
        "items": items,
        "shipping_options": [
            {"id": o.id, "provider": o.provider, "description": o.description, "cost_net": o.cost_net}
            for o in quote.shipping_options
        ],
    }


def _print(quote: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(quote)
        return
    items, options = quote.pop("items"), quote.pop("shipping_options")
    show_record(quote, as_json=False)
    typer.echo()
    show_table(items, ("id", "sku", "quantity", "unit_cost", "cost_net", "cost_tax", Prose("name")), as_json=False)
    show_part("Shipping options", options, ("id", "cost_net", "provider", Prose("description")))
