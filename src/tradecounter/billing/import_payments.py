"""Records the payments of a bank file, matched by the invoice numbers in their references."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from tradecounter.billing.bank_file import BankLine, bank_lines
from tradecounter.billing.queries.ledger import InvoiceOwner, invoices_numbered, lock_account
from tradecounter.billing.record_payment import NewPayment, pay_locked
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError
from tradecounter.ordering.queries.orders import lock_orders


class UnplacedLine(Struct, frozen=True):
    """A line of the file that was not recorded, and the reason."""

    line: int
    date: str
    amount: str
    reference: str
    why: str


class PaymentImport(Struct, frozen=True):
    """The number of recorded payments, and the lines that could not be placed."""

    recorded: int
    unplaced: list[UnplacedLine]


async def import_payments(tx: Transaction, content: bytes, now: datetime) -> PaymentImport:
    """Record the payments of a CSV file, and return what could not be placed.

    A line is placed by the invoice numbers in its reference, all of one customer; what is not due stays on the account.
    A line that was imported before is not placed again. Raises DomainError (invalid) for a file without the columns.
    """
    lines = bank_lines(content)
    found = await invoices_numbered(tx, {number for line in lines for number in line.numbers})
    placed = {line.line: _owners(line, found) for line in lines}
    owners = [owner for named in placed.values() for owner in named]
    for customer_id in sorted({owner.customer_id for owner in owners}):
        await lock_account(tx, customer_id)
    await lock_orders(tx, [owner.order_id for owner in owners])
    recorded, unplaced = 0, []
    for line in lines:
        why = await _record(tx, line, placed[line.line], now)
        if why is None:
            recorded += 1
        else:
            unplaced.append(UnplacedLine(line.line, line.day, line.amount, line.reference, why))
    return PaymentImport(recorded, unplaced)


def _owners(line: BankLine, found: Mapping[int, InvoiceOwner]) -> list[InvoiceOwner]:
    return [found[number] for number in dict.fromkeys(line.numbers) if number in found]


async def _record(tx: Transaction, line: BankLine, named: list[InvoiceOwner], now: datetime) -> str | None:
    """Record a line, or return why it cannot be placed."""
    if line.error is not None or line.pounds is None:
        return line.error
    if not named:
        return "the reference has no number of an invoice"
    customers = {owner.customer_id for owner in named}
    if len(customers) > 1:
        return f"the reference names invoices of customers {', '.join(map(str, sorted(customers)))}"
    new = NewPayment(amount=line.pounds, received_on=line.received_on, reference=line.reference)
    try:
        await pay_locked(tx, customers.pop(), [owner.invoice for owner in named], new, now)
    except DomainError as error:
        return error.message
    return None
