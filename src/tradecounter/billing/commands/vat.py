"""`tradecounter vat`: the VAT of a period."""

import sys
from datetime import date
from typing import Annotated

import typer

from tradecounter.billing.vat_report import VatLine, read_vat_report, vat_csv
from tradecounter.edge.command_line.arguments import Day
from tradecounter.edge.command_line.output import AsJson, show_record
from tradecounter.edge.command_line.session import run_query
from tradecounter.kit.clock import SystemClock


def vat(
    since: Annotated[date | None, Day("--from", "The first day. Default: that of the quarter of --to.")] = None,
    until: Annotated[date | None, Day("--to", "The last day. Default: today.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the lines as CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the VAT of a period, by default of the last whole quarter, and the boxes of a VAT return that sales fill."""
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json both write to standard output")
    found = run_query(lambda tx: read_vat_report(tx, since, until, SystemClock().now()))
    if as_csv:
        sys.stdout.write(vat_csv(found))
    else:
        show_record(found, parts={"lines": ("Lines", VatLine.__struct_fields__)}, as_json=as_json)
