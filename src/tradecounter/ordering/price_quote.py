"""Pricing a quote: support settles the unit costs, the customer is told and may confirm (specification, section 3)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.local_time import local_text
from tradecounter.kit.money import rounded
from tradecounter.kit.text import fold
from tradecounter.ordering.queries import lines_of, lock_by_code
from tradecounter.ordering.records import LineRecord, OrderRecord
from tradecounter.ordering.rules import PricedLine, price_line
from tradecounter.ordering.store import Pricing, price_quote_row

MOST_POUNDS = 1_000_000
LONGEST_NOTE = 2000

UnitCosts = Sequence[tuple[str, Decimal]]


async def price_quote(
    tx: Transaction, code: str, unit_costs: UnitCosts, note: str | None, now: datetime, lifetime: timedelta
) -> None:
    """Give a quote its price, which holds for `lifetime` from `now` (UTC), and have the customer told.

    `unit_costs` are SKUs with net pounds, each for all lines of its SKU; other lines keep their price. It may be priced
    again until it is confirmed or expires; the note, or its absence, replaces the one before. Raises DomainError:
    invalid, not found, conflict (not an open quote).
    """
    for sku, cost in unit_costs:
        _check_cost(sku, cost)
    if note is not None and len(note) > LONGEST_NOTE:
        raise invalid("note", f"must have at most {LONGEST_NOTE} characters")
    quote = await lock_by_code(tx, code)
    if quote is None:
        raise DomainError(Kind.NOT_FOUND, f"there is no quote {code}")
    _require_open(quote, now)
    lines = (await lines_of(tx, [quote.id]))[quote.id]
    pricing = Pricing(lines=_repriced(quote, lines, unit_costs), note=note, priced_at=now, expires_at=now + lifetime)
    number = await price_quote_row(tx, quote.id, pricing)
    await queue(tx, "mail_quote_priced", order_id=quote.id, pricing=number)


def _check_cost(sku: str, cost: Decimal) -> None:
    if not cost.is_finite() or not 0 <= cost <= MOST_POUNDS:
        raise invalid(sku, f"the unit cost must be between 0 and {MOST_POUNDS}")
    if cost != rounded(cost):
        raise invalid(sku, f"the unit cost {cost} has more than two decimal places")


def _require_open(quote: OrderRecord, now: datetime) -> None:
    if quote.kind != "quote":
        raise DomainError(Kind.CONFLICT, f"{quote.confirmation_code} is an order, not a quote")
    if quote.number is not None:
        raise DomainError(Kind.CONFLICT, f"the quote is {quote.state} already, as {quote.order_reference}")
    if quote.state == "expired" or (quote.expires_at is not None and now > quote.expires_at):
        when = "" if quote.expires_at is None else f" at {local_text(quote.expires_at)}"
        raise DomainError(Kind.CONFLICT, f"the quote has expired{when}: the customer has to request it again")
    if quote.state != "pending":
        raise DomainError(Kind.CONFLICT, f"the quote is {quote.state}")


def _repriced(quote: OrderRecord, lines: Sequence[LineRecord], unit_costs: UnitCosts) -> dict[int, PricedLine]:
    """Return all lines by their ids, at their new prices."""
    costs: dict[str, Decimal] = {}
    skus = {fold(line.sku) for line in lines}
    for sku, cost in unit_costs:
        if fold(sku) not in skus:
            raise invalid(sku, "the quote has no line with this SKU")
        if fold(sku) in costs:
            raise invalid(sku, "is named twice")
        costs[fold(sku)] = rounded(cost)
    return {
        line.id: price_line(
            line.product_id,
            line.sku,
            line.name,
            line.quantity,
            costs.get(fold(line.sku), line.unit_cost),
            quote.tax_rate,
        )
        for line in lines
    }
