"""`tradecounter payment`: payments and refunds."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import typer
from msgspec import to_builtins

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, Day, IdOf, Limit, OptionalId, Reason
from tradecounter.edge.command_line.output import LISTED, AsJson, show, show_json, show_table
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import run_change, run_query
from tradecounter.edge.command_line.tables import ColumnNames, Prose
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.money import in_pounds
from tradecounter.payments.queries.payments import PaymentFilter, list_payments
from tradecounter.payments.record_payment import METHODS, NewPayment, pay_account, pay_invoice
from tradecounter.payments.reverse_payment import reverse_payment
from tradecounter.payments.wire import Payment, present_payment

app = typer.Typer(no_args_is_help=True, help="Payments and refunds.")

PaymentId = Annotated[int, IdOf("PAYMENT_ID", "The payment's id, from `payment list`.")]
Invoice = Annotated[int | None, OptionalId("--invoice", "NUMBER", "The invoice that it pays.")]

_COLUMNS = ("id", "received_on", "customer_id", "amount", "method", Prose("reference"), "invoices", "reversed_at",
            Prose("reversal_reason"))  # fmt: skip


@app.command("add")
@takes_request(
    amount=Option("AMOUNT"),
    received_on=Option("--date"),
    method=Option(metavar="M", help=f"One of: {', '.join(METHODS)}. A refund gives money on the account back."),
    reference=Option(metavar="R"),
)
def add(
    new: NewPayment,
    invoice: Invoice = None,
    customer: Annotated[
        int | None, OptionalId("--customer", "ID", "The customer who pays: the oldest due invoices first.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would pay, and record nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Record a payment of an invoice or of a customer; what is not due stays on the account."""
    if (invoice is None) == (customer is None):
        raise typer.BadParameter("name either --invoice or --customer")

    async def work(tx: Transaction) -> Payment:
        now = SystemClock().now()
        if customer is not None:
            return await pay_account(tx, customer, new, now)
        return await pay_invoice(tx, invoice or 0, new, now)

    recorded = run_change(work, dry_run=dry_run)
    show(recorded, _in_words(recorded, dry_run=dry_run), as_json=as_json)


def _in_words(payment: Payment, *, dry_run: bool) -> str:
    done = in_pounds(payment.amount) if dry_run else f"payment {payment.id}: {in_pounds(payment.amount)}"
    verb = "would be" if dry_run else "is"
    if payment.method == "refund":
        return f"{done} {verb} refunded to customer {payment.customer_id}"
    paid = [f"{in_pounds(allocation.amount)} pays invoice {allocation.invoice}" for allocation in payment.allocations]
    rest = payment.amount - sum(allocation.amount for allocation in payment.allocations)
    if rest:
        paid.append(f"{in_pounds(rest)} stays on the account of customer {payment.customer_id}")
    return f"{done} {verb} recorded; {', '.join(paid)}"


@app.command("list")
def show_all(
    customer: Customer = None,
    invoice: Invoice = None,
    since: Annotated[date | None, Day("--from", "Received on this day or later.")] = None,
    until: Annotated[date | None, Day("--to", "Received on this day or earlier.")] = None,
    limit: Limit = LISTED,
    columns: ColumnNames = None,
    as_json: AsJson = False,
) -> None:
    """List payments and refunds, the latest recorded first."""

    async def work(tx: Transaction) -> list[Payment]:
        customer_id = None if customer is None else (await fetch_account(tx, customer)).id
        wanted = PaymentFilter(customer_id=customer_id, invoice=invoice, received_from=since, received_to=until)
        return [present_payment(record) for record in await list_payments(tx, wanted, limit)]

    payments = run_query(work)
    if as_json:
        show_json(payments)
    else:
        show_table([_row(payment) for payment in payments], _COLUMNS, as_json=False, names=columns, limit=limit)


def _row(payment: Payment) -> dict[str, Any]:
    invoices = [allocation.invoice for allocation in payment.allocations]
    return {**to_builtins(payment, builtin_types=(Decimal, date)), "invoices": invoices}


@app.command("reverse")
def reverse(payment_id: PaymentId, reason: Reason, as_json: AsJson = False) -> None:
    """Reverse a payment: what it paid is due again."""
    reversed_ = run_change(lambda tx: reverse_payment(tx, payment_id, reason, SystemClock().now()))
    text = f"payment {payment_id} of customer {reversed_.customer_id}, {in_pounds(reversed_.amount)}, is reversed"
    show(reversed_, text, as_json=as_json)
