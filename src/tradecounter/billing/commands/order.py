"""`tradecounter order invoice` and `order pay`."""

from decimal import Decimal
from typing import Annotated

import typer

from tradecounter.billing.issue_invoice import issue_invoice
from tradecounter.edge.command_line.arguments import OrderName, pounds
from tradecounter.edge.command_line.output import AsJson, show
from tradecounter.edge.command_line.request_options import takes_request
from tradecounter.edge.command_line.session import from_settings, run_change
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.money import in_pounds
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.orders.reseller_wire import Invoicing
from tradecounter.payments.record_payment import record_payment

order = typer.Typer()


@order.command("invoice")
@takes_request()
def invoice(reference: OrderName, wanted: Invoicing, as_json: AsJson = False) -> None:
    """Invoice all that is dispatched and not yet invoiced; if all is invoiced, show the latest invoice's number."""
    letterhead = from_settings(letterhead_from)
    issued = run_change(lambda tx: issue_invoice(tx, reference, letterhead, SystemClock().now(), part=wanted.part))
    if issued.new and letterhead.examples:
        typer.echo(f"warning: the invoice shows built-in examples of {', '.join(letterhead.examples)}", err=True)
    done = "is issued" if issued.new else "was issued before"
    shown = {"number": issued.number, "order_reference": issued.order_reference, "gross": issued.gross}
    text = f"invoice {issued.number} of order {issued.order_reference} over {in_pounds(issued.gross)} {done}"
    show(shown, text, as_json=as_json)


@order.command("pay")
def pay(
    reference: OrderName,
    amount: Annotated[Decimal, typer.Argument(parser=pounds, metavar="AMOUNT", help="Pounds; at most what is due.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be due then; record nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Record a payment of an order's oldest unpaid invoice."""
    paid = run_change(lambda tx: record_payment(tx, reference, amount, SystemClock().now()), dry_run=dry_run)
    verb = "would be" if dry_run else "is"
    left = f"{in_pounds(paid.total_due)} {verb} due by {str(paid.due_on)[:10]}" if paid.total_due else ""
    of = f"{in_pounds(paid.total_paid)} of {in_pounds(paid.total_cost)} {verb} paid of {paid.order_reference}"
    show(paid, f"{of}; {left or f'it {verb} paid in full'}", as_json=as_json)
