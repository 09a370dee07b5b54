"""`tradecounter statement`, `debtors`, `remind` and `vat`: what customers owe, and the VAT of a period."""

import sys
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import asdict

from tradecounter.billing.account_statement import (
    AccountStatement,
    print_statement,
    read_statement,
    send_statement,
    statement_csv,
)
from tradecounter.billing.debtors import Debtor, read_debtors, remind_debtor
from tradecounter.billing.vat_report import VatLine, read_vat_report, vat_csv
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId, Day
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import AsJson, Prose, show, show_json, show_record
from tradecounter.edge.command_line.pdf_file import write_file
from tradecounter.edge.command_line.session import from_settings, run_change, run_query
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import one_line
from tradecounter.letterhead.seller import letterhead_from

_ENTRIES = ("at", "kind", "number", "debit", "credit", "balance", Prose("description"))
_DEBTORS = ("customer_id", Prose("name"), "due", "overdue", "not_due", "days_1_30", "days_31_60", "days_61_90",
            "over_90", "unallocated")  # fmt: skip


def statement(
    customer_id: CustomerId,
    send: Annotated[bool, typer.Option("--send", help="Send it to the customer by e-mail, as a PDF file.")] = False,
    since: Annotated[date | None, Day("--from", "The first day. Default: that of the first entry.")] = None,
    until: Annotated[date | None, Day("--to", "The last day. Default: today.")] = None,
    pdf: Annotated[
        str | None, typer.Option("--pdf", metavar="FILE", help="Write it as a PDF file.", show_default=False)
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print it as CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a customer's account: invoices, credit notes, payments, balances, and what is due by age."""
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json both write to standard output")
    if send and (since or until or pdf or as_csv):
        raise typer.BadParameter("--send sends the last twelve months: leave out --from, --to, --pdf and --csv")
    if send:
        sent = run_change(lambda tx, now: send_statement(tx, customer_id, now))
        show(sent, f"the worker sends {one_line(sent.recipient)} the statement", as_json=as_json)
        return
    now = SystemClock().now()

    async def work(tx: Transaction) -> tuple[Account, AccountStatement]:
        return await fetch_account(tx, customer_id), await read_statement(tx, customer_id, since, until, now)

    account, account_statement = run_query(work)
    if pdf is not None:
        letterhead = from_settings(letterhead_from)
        write_file(Path(pdf), print_statement(account_statement, account.name, letterhead, now))
        if not as_csv and not as_json:
            typer.echo(f"the statement is in {pdf}")
    if as_csv:
        sys.stdout.write(statement_csv(account_statement))
    elif as_json:
        show_json(account_statement)
    elif pdf is None:
        show_record(account_statement, parts={"entries": ("Entries", _ENTRIES)}, as_json=False)


def remind(customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Remind a customer of all unpaid invoices, by e-mail to the account's address for invoices."""
    reminder = run_change(lambda tx, now: remind_debtor(tx, customer_id, now))
    to = one_line(reminder.recipient)
    sums = f"due {in_pounds(reminder.due)}, overdue {in_pounds(reminder.overdue)}"
    message = f"the worker sends {to} a reminder: unpaid invoices {reminder.invoices}, {sums}"
    show(reminder, message, as_json=as_json)


@lists_records(_DEBTORS, in_table=lambda debtor: asdict(debtor) | asdict(debtor.ageing))
async def debtors(tx: Transaction) -> list[Debtor]:
    """List the customers with unpaid invoices, and what is due by age."""
    return await read_debtors(tx, SystemClock().now())


def vat(
    since: Annotated[date | None, Day("--from", "The first day. Default: that of the quarter of --to.")] = None,
    until: Annotated[date | None, Day("--to", "The last day. Default: today.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the lines as CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the VAT of a period, by default of the last whole quarter, and the boxes of a VAT return that sales fill."""
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json both write to standard output")
    vat_report = run_query(lambda tx: read_vat_report(tx, since, until, SystemClock().now()))
    if as_csv:
        sys.stdout.write(vat_csv(vat_report))
    else:
        show_record(vat_report, parts={"lines": ("Lines", VatLine.__struct_fields__)}, as_json=as_json)
