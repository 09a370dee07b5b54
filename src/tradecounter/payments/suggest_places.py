"""Suggests where the money of lines goes that are not placed by themselves: by the amount, and by who pays."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.rules import draw
from tradecounter.db.transaction import Transaction
from tradecounter.kit.money import NOTHING
from tradecounter.payments.queries.bank_lines import BankLineRecord
from tradecounter.payments.queries.suggested_places import DueOf, Payer, customers_to_suggest, due_of_customers
from tradecounter.payments.wire import Allocation

_MOST = 5
_NEAR = Decimal("0.1")  # of an amount, by which an invoice may differ that comes near it
_MOST_EXACT = 2  # invoices of one customer whose due amount is that of the line


class Suggestion(Struct, frozen=True):
    """Where a line's money may go: to an invoice, or without one to a customer's oldest due invoices.

    `pays` is what each invoice gets, `rest` what stays on the account. It `fits` if the amount is exactly what is due
    of these invoices. Otherwise `nearest` is an invoice that it nearly pays, if there is one, and `misses` is by how
    many pounds: more than 0 if more is due.
    """

    payer: Payer
    invoice: int | None
    pays: Sequence[Allocation]
    rest: Decimal
    fits: bool
    nearest: DueOf | None = None
    misses: Decimal = NOTHING

    @property
    def is_evident(self) -> bool:
        """Whether both the amount and the payer lead there."""
        return self.fits and self.payer.is_known

    @property
    def is_likely(self) -> bool:
        """Whether the amount, an earlier payment or the customer's whole name leads there."""
        return self.fits or self.payer.times > 0 or self.payer.is_named


async def suggest_places(tx: Transaction, lines: Sequence[BankLineRecord]) -> dict[int, list[Suggestion]]:
    """Return the most likely places of lines that wait, by the lines' ids, the best first.

    Where a customer's invoices come to exactly the amount is a place, and so are the customers that have paid with this
    payer's name before, or whose name, the beginning of it or invoice the line has. A line whose amount or day could
    not be read has none.
    """
    waiting = {line.id: line for line in lines if line.state != "placed"}
    if not waiting:
        return {}
    payers = await customers_to_suggest(tx, list(waiting))
    due = await due_of_customers(tx, sorted({payer.customer_id for payer in payers}))
    found: dict[int, list[Suggestion]] = {}
    for payer in payers:
        amount = waiting[payer.line_id].amount or NOTHING
        found.setdefault(payer.line_id, []).extend(_places(payer, due.get(payer.customer_id, []), amount))
    return {line_id: sorted(places, key=_unlikely)[:_MOST] for line_id, places in found.items()}


def _places(payer: Payer, due: Sequence[DueOf], amount: Decimal) -> Iterator[Suggestion]:
    oldest = [Allocation(each.invoice, share) for each, share in draw(due, [each.due for each in due], amount)]
    rest = amount - sum((share.amount for share in oldest), NOTHING)
    is_oldest_exact = (
        not rest and bool(oldest) and all(share.amount == each.due for share, each in zip(oldest, due, strict=False))
    )
    exact = [each.invoice for each in due if each.due == amount][:_MOST_EXACT]
    for number in exact:
        yield Suggestion(payer, number, [Allocation(number, amount)], NOTHING, fits=True)
    if (is_oldest_exact and len(oldest) > 1) or (payer.is_hinted and not exact):
        nearest = None if is_oldest_exact else min(due, key=lambda each: abs(each.due - amount), default=None)
        if nearest is not None and abs(nearest.due - amount) <= amount * _NEAR and len(due) > 1:
            yield Suggestion(payer, None, oldest, rest, fits=False, nearest=nearest, misses=nearest.due - amount)
        else:
            yield Suggestion(payer, None, oldest, rest, is_oldest_exact)


def _unlikely(place: Suggestion) -> tuple[bool, bool, bool, bool, int, int]:
    """Return what sorts suggestions, the best first."""
    payer, fits = place.payer, place.fits
    is_hinted = fits and payer.is_hinted
    return not place.is_evident, not is_hinted, not fits, not payer.is_known, -payer.times, payer.customer_id
