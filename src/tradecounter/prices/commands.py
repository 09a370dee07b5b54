"""`tradecounter price`: changes prices by rules, and explains customers' prices."""

from typing import Annotated

import typer

from tradecounter.edge.command_line.arguments import CustomerId, Sku
from tradecounter.edge.command_line.output import AsJson, Prose, one_line, show_json, show_part
from tradecounter.edge.command_line.session import run_query
from tradecounter.imports.commands.change_prices import change
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.money import in_pounds
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.prices.explain_price import CONTRACT, ExplainedPrice
from tradecounter.storefront.customer_prices import price_of

app = typer.Typer(no_args_is_help=True, help="Changes of prices, and explanations of customers' prices.")
app.command("change")(change)

_COLUMNS = ("rule", "price_list", "applies", Prose("why", 22), "single_unit_cost", "five_plus_unit_cost",
            "ten_plus_unit_cost", "valid_from", "valid_until")  # fmt: skip


@app.command("show")
def show_one(
    customer_id: CustomerId,
    sku: Sku,
    quantity: Annotated[
        int, typer.Option("--quantity", min=1, max=MOST_UNITS, metavar="N", help="The quantity to price.")
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Show a product's price for a customer today, and all other prices that were considered."""
    explained = run_query(lambda tx: price_of(tx, customer_id, sku, quantity, SystemClock().now()))
    if as_json:
        show_json(explained)
        return
    typer.echo(_in_words(explained))
    show_part("Candidates, in order of precedence", explained.candidates, _COLUMNS)


def _in_words(price: ExplainedPrice) -> str:
    subject = f"{one_line(price.sku)} for customer {price.customer_id}"
    if price.unit_cost is None:
        return f"{subject}: no price applies, so the customer does not see the product and cannot order it"
    winner = next(candidate for candidate in price.candidates if candidate.applies)
    source = "contract price" if price.rule == CONTRACT else f"price list {winner.price_list}"
    less = f", less {price.discount} %" if price.discount else ""
    return f"{subject}: {in_pounds(price.unit_cost)} a unit for {price.quantity} (break {price.break_}, {source}{less})"
