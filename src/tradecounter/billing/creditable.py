"""What of an invoice can still be credited."""

from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.credit_shares import left_of
from tradecounter.billing.queries.credit_notes import credited_of, invoiced_lines
from tradecounter.billing.rules import Billed
from tradecounter.db.transaction import Transaction


class Creditable(Struct, frozen=True):
    """The units of each line that are not credited, in the invoice's sequence, and the net that is not."""

    units: list[int]
    net: Decimal


async def creditable_of(tx: Transaction, number: int) -> Creditable:
    """Return what of an invoice is not credited yet."""
    lines, credited = await invoiced_lines(tx, number), await credited_of(tx, number)
    units = [line.quantity - credited.get(line.position, Billed()).units for line in lines]
    return Creditable(units, left_of(lines, credited.values()).net)
