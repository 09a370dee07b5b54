"""`tradecounter price`: changes prices by rules, and explains customers' prices."""

from typing import Annotated

import typer

from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.price_figures import GuardedPricesError
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.command_line.arguments import CustomerId, DryRun, Sku
from tradecounter.edge.command_line.output import AsJson, Prose, one_line, show_json, show_part
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import operator, run_query, with_database
from tradecounter.imports.change_prices import ROUNDINGS, ForcedPriceChange, change_prices
from tradecounter.imports.commands import changes_to, show_report
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.money import in_pounds
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.prices.explain_price import CONTRACT, ExplainedPrice
from tradecounter.products.queries.products import SHOWN
from tradecounter.storefront.customer_prices import price_of

app = typer.Typer(no_args_is_help=True, help="Changes of prices, and explanations of customers' prices.")

_COLUMNS = ("rule", "price_list", "applies", Prose("why", 22), "single_unit_cost", "five_plus_unit_cost",
            "ten_plus_unit_cost", "valid_from", "valid_until")  # fmt: skip


@app.command("change")
@takes_request(
    leave_out=("query",),
    show=Option(help=f"Only these products: {', '.join(SHOWN)}.", metavar="WHICH"),
    rounding=Option(help=f"How prices are rounded: {', '.join(ROUNDINGS)}.", metavar="HOW"),
)
def change(rule: ForcedPriceChange, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Change the prices of a list by per cent, by pounds or to a margin; an import that can be rolled back."""

    async def work(database: Database) -> tuple[ImportReport, str]:
        with changes_to(None, wanted=dry_run and not as_json) as on_change:
            options = ImportOptions(
                dry_run=dry_run, force=rule.force, on_change=on_change, diff=dry_run and as_json, rule=str(rule)
            )
            async with transaction(database, operator()) as tx:
                try:
                    return await change_prices(tx, rule, None, options, SystemClock().now()), ""
                except GuardedPricesError as error:
                    tx.set_rollback()
                    return ImportReport(prices=error.figures), error.summary

    report, rejection = with_database(work)
    show_report(report, rejection, dry_run=dry_run, as_json=as_json)


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
