"""`tradecounter price change`: changes the prices of a list by a rule."""

from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.price_figures import GuardedPricesError
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.command_line.arguments import DryRun
from tradecounter.edge.command_line.output import AsJson
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import operator, with_database
from tradecounter.imports.change_prices import ROUNDINGS, ForcedPriceChange, change_prices
from tradecounter.imports.commands.report import show_report
from tradecounter.imports.commands.write_changes import changes_to
from tradecounter.kit.clock import SystemClock
from tradecounter.products.queries.products import SHOWN


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
