"""`tradecounter payment`: payments, refunds and bank files."""

from datetime import date
from decimal import Decimal
from pathlib import PurePath
from typing import Annotated, Any

import typer
from msgspec import to_builtins

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, Day, IdOf, Limit, OptionalId, Reason, read_bytes
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Prose, one_line, show, show_json
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import reporting_errors, run_change
from tradecounter.imports.commands import Map
from tradecounter.kit.clock import SystemClock, uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import plural
from tradecounter.payments.bank_file import form_of_bank_file, read_bank_file, read_renamed
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.place_bank_line import Placement, place_bank_line, set_bank_line_aside
from tradecounter.payments.queries.bank_files import StoredFile, list_bank_files
from tradecounter.payments.queries.bank_lines import BANK_LINES, BankLineFilter
from tradecounter.payments.queries.payments import PaymentFilter, list_payments
from tradecounter.payments.record_payment import METHODS, PaymentRequest, record_payment, reverse_payment
from tradecounter.payments.roll_back_bank_file import roll_back_bank_file
from tradecounter.payments.wire import Payment, PaymentImport, RecordedLine, StoredLine, present_line, present_payment

app = typer.Typer(no_args_is_help=True, help="Payments and refunds.")

PaymentId = Annotated[int, IdOf("PAYMENT_ID", "The payment's id, from `payment list`.")]
Invoice = Annotated[int | None, OptionalId("--invoice", "NUMBER", "The invoice that it pays.")]

_PAYMENT_COLUMNS = ("id", "received_on", "customer_id", "amount", "method", Prose("reference"), "invoices",
                    "reversed_at", Prose("reversal_reason"))  # fmt: skip


@app.command("add")
@takes_request(
    amount=Option("AMOUNT"),
    received_on=Option("--date"),
    method=Option(metavar="M", help=f"One of: {', '.join(METHODS)}. A refund gives money on the account back."),
    reference=Option(metavar="R"),
    invoice=Option(metavar="NUMBER"),
    customer_id=Option("--customer", metavar="ID"),
)
def add(
    new: PaymentRequest,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would pay, and record nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Record a payment of an invoice or of a customer; what is not due stays on the account."""
    recorded = run_change(lambda tx, now: record_payment(tx, new, now), dry_run=dry_run)
    show(recorded, _payment_in_words(recorded, dry_run=dry_run), as_json=as_json)


def _payment_in_words(payment: Payment, *, dry_run: bool) -> str:
    done = in_pounds(payment.amount) if dry_run else f"payment {payment.id}: {in_pounds(payment.amount)}"
    verb = "would be" if dry_run else "is"
    if payment.method == "refund":
        return f"{done} {verb} refunded to customer {payment.customer_id}"
    paid = [f"{in_pounds(allocation.amount)} pays invoice {allocation.invoice}" for allocation in payment.allocations]
    if payment.rest:
        paid.append(f"{in_pounds(payment.rest)} stays on the account of customer {payment.customer_id}")
    return f"{done} {verb} recorded; {', '.join(paid)}"


def _payment_row(payment: Payment) -> dict[str, Any]:
    invoices = [allocation.invoice for allocation in payment.allocations]
    return {**to_builtins(payment, builtin_types=(Decimal, date)), "invoices": invoices}


@app.command("list")
@lists_records(_PAYMENT_COLUMNS, in_table=_payment_row)
async def show_all(
    tx: Transaction,
    customer: Customer = None,
    invoice: Invoice = None,
    since: Annotated[date | None, Day("--from", "Received on this day or later.")] = None,
    until: Annotated[date | None, Day("--to", "Received on this day or earlier.")] = None,
    limit: Limit = LISTED,
) -> list[Payment]:
    """List payments and refunds, the latest recorded first."""
    customer_id = None if customer is None else (await fetch_account(tx, customer)).id
    wanted = PaymentFilter(customer_id=customer_id, invoice=invoice, received_from=since, received_to=until)
    return [present_payment(record) for record in await list_payments(tx, wanted, limit)]


@app.command("reverse")
def reverse(payment_id: PaymentId, reason: Reason, as_json: AsJson = False) -> None:
    """Reverse a payment: what it paid is due again."""
    reversed_ = run_change(lambda tx, now: reverse_payment(tx, payment_id, reason, now))
    text = f"payment {payment_id} of customer {reversed_.customer_id}, {in_pounds(reversed_.amount)}, is reversed"
    show(reversed_, text, as_json=as_json)


LineId = Annotated[int, IdOf("LINE_ID", "The line's id, from `payment unplaced`.")]
FileId = Annotated[int, IdOf("FILE_ID", "The file's id, from `payment imports`.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be recorded, and record nothing.")]

_LINE_COLUMNS = ("id", "bank_file", "line", "date", "amount", Prose("reference"), Prose("why"))
_FILE_COLUMNS = (
    "id",
    "name",
    "at",
    Prose("by"),
    "lines",
    "recorded",
    "unplaced",
    "repeated",
    "payments_out",
    "rolled_back_at",
)


@app.command("import")
def import_file(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A bank's or a ledger's CSV, XLSX or JSON file; - for standard input.")
    ],
    dry_run: DryRun = False,
    renamed: Map = None,
    as_json: AsJson = False,
) -> None:
    """Record the payments of a bank file by the invoice numbers in their references; the other lines are stored."""
    content, name = read_bytes(file), "" if file == "-" else PurePath(file).name
    with reporting_errors():
        form = form_of_bank_file(name, content)
        read = read_bank_file(content, form, uk_date(SystemClock().now()), read_renamed(renamed or []))
    done = run_change(lambda tx, now: import_payments(tx, read, now, name=name, dry_run=dry_run))
    if as_json:
        show_json(done)
    else:
        _print_import(done, dry_run=dry_run)


def _print_import(payment_import: PaymentImport, *, dry_run: bool) -> None:
    for paid in payment_import.payments:
        typer.echo(one_line(f"line {paid.line}: {_paid_invoices(paid)}: {paid.why}"))
    for line in payment_import.unplaced:
        typer.echo(one_line(f"line {line.line}: {line.date} {line.amount} {line.reference!r}: {line.why}"))
    if payment_import.repeated or payment_import.payments_out:
        typer.echo(f"{payment_import.repeated} imported before, {payment_import.payments_out} not money received")
    typer.echo(
        f"{payment_import.recorded} {'would be ' if dry_run else ''}recorded, {len(payment_import.unplaced)} not placed"
    )


def _paid_invoices(line: RecordedLine) -> str:
    shares = [f"{in_pounds(share.amount)} of invoice {share.invoice}" for share in line.allocations]
    if line.on_account:
        shares.append(f"{in_pounds(line.on_account)} on the account")
    whose = f"customer {line.customer_id} ({line.customer})"
    return f"{line.date} {in_pounds(line.amount)} {line.reference!r} of {whose} pays {' and '.join(shares)}"


@app.command("imports")
@lists_records(_FILE_COLUMNS)
async def list_files(tx: Transaction, limit: Limit = 100) -> list[StoredFile]:
    """List the bank files that were imported, newest first."""
    return await list_bank_files(tx, limit)


@app.command("roll-back")
def roll_back(
    file_id: FileId,
    force: Annotated[
        bool, typer.Option("--force", help="Leave lines as they are that have changed since the import.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Reverse the payments of a bank file and remove its lines; without --force, only if none has changed since."""
    rolled_back = run_change(lambda tx, now: roll_back_bank_file(tx, file_id, now, force=force))
    lines = [f"bank file {file_id} is rolled back: {plural(len(rolled_back.reversed), 'payment')} reversed"]
    lines += [f"kept, because it has changed since: line {line}" for line in rolled_back.kept]
    show(rolled_back, "\n".join(lines), as_json=as_json)


@app.command("unplaced")
@lists_records(_LINE_COLUMNS)
async def list_unplaced(tx: Transaction, limit: Limit = LISTED) -> list[StoredLine]:
    """List the lines of bank files that wait to be placed, the latest first."""
    waiting = await BANK_LINES.page(tx, BankLineFilter(state="unplaced"), "stored", limit, descending=True)
    return [present_line(line) for line in waiting]


@app.command("place")
@takes_request(
    customer_id=Option("--customer", metavar="ID"),
    invoice=Option(metavar="NUMBER"),
    received_on=Option("--date"),
)
def place(line_id: LineId, placement: Placement, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Record the payment of a line that waits; later money of the same payer goes to the same customer."""
    placed = run_change(lambda tx, now: place_bank_line(tx, line_id, placement, now), dry_run=dry_run)
    payment = placed.payment
    paid = ", ".join(str(share.invoice) for share in payment.allocations)
    where = f"invoice {paid}" if paid else "the account"
    verb = "would be" if dry_run else "is"
    text = f"line {line_id} {verb} placed: {in_pounds(payment.amount)} of customer {payment.customer_id} for {where}"
    show(placed, text, as_json=as_json)


@app.command("set-aside")
def set_aside(
    line_id: LineId,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="The reason, for the audit log.")],
    as_json: AsJson = False,
) -> None:
    """Set a line aside that pays nothing here; it can still be placed later."""
    line = run_change(lambda tx, now: set_bank_line_aside(tx, line_id, reason, now))
    show(line, f"line {line_id} is set aside", as_json=as_json)
