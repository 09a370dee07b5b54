"""Pricing a quote: support settles the unit costs, the customer is told and may confirm (specification, section 3)."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

import msgspec

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.local_time import local_text
from tradecounter.kit.money import rounded
from tradecounter.kit.text import fold
from tradecounter.ordering.queries import lines_of, lock_by_code
from tradecounter.ordering.records import LineRecord, OfferedShipping, OrderRecord, offer
from tradecounter.ordering.rules import PricedLine, price_line
from tradecounter.ordering.store import Pricing, price_quote_row
from tradecounter.shipping.methods import read_methods
from tradecounter.shipping.rules import ShippingMethod

MOST_POUNDS = 1_000_000
LONGEST_NOTE = 2000

UnitCosts = Sequence[tuple[str, Decimal]]
Carriage = Sequence[tuple[int, Decimal]]


async def price_quote(
    tx: Transaction,
    code: str,
    unit_costs: UnitCosts,
    note: str | None,
    now: datetime,
    lifetime: timedelta,
    *,
    carriage: Carriage = (),
) -> None:
    """Give a quote its price, which holds for `lifetime` from `now` (UTC), and have the customer told.

    `unit_costs` are SKUs with net pounds, each for all lines of its SKU; other lines keep their price. `carriage` are
    ids of shipping methods with net pounds: each becomes a shipping option, or replaces the price of one. It may be
    priced again until it is confirmed or expires; the note, or its absence, replaces the one before. Raises
    DomainError: invalid (also when the quote has no shipping option), not found, conflict (not an open quote).
    """
    for sku, cost in unit_costs:
        _check_cost(sku, "unit cost", cost)
    for method_id, cost in carriage:
        _check_cost(f"shipping {method_id}", "cost", cost)
    if note is not None and len(note) > LONGEST_NOTE:
        raise invalid("note", f"must have at most {LONGEST_NOTE} characters")
    quote = await lock_by_code(tx, code)
    if quote is None:
        raise DomainError(Kind.NOT_FOUND, f"there is no quote {code}")
    _require_open(quote, now)
    lines = (await lines_of(tx, [quote.id]))[quote.id]
    pricing = Pricing(
        lines=_repriced(quote, lines, unit_costs),
        shipping_options=_offers(quote, await read_methods(tx) if carriage else (), carriage),
        note=note,
        priced_at=now,
        expires_at=now + lifetime,
    )
    number = await price_quote_row(tx, quote.id, pricing)
    await queue(tx, "mail_quote_priced", order_id=quote.id, pricing=number)


def _check_cost(field: str, what: str, cost: Decimal) -> None:
    if not cost.is_finite() or not 0 <= cost <= MOST_POUNDS:
        raise invalid(field, f"the {what} must be between 0 and {MOST_POUNDS}")
    if cost != rounded(cost):
        raise invalid(field, f"the {what} {cost} has more than two decimal places")


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


def _offers(quote: OrderRecord, methods: Collection[ShippingMethod], carriage: Carriage) -> list[OfferedShipping]:
    """Return the shipping options of a quote with the carriage that support names, cheapest first."""
    offers = {offered.id: offered for offered in quote.offers}
    by_id = {method.id: method for method in methods}
    costs: dict[int, Decimal] = {}
    for method_id, cost in carriage:
        if method_id in costs:
            raise invalid(f"shipping {method_id}", "is named twice")
        if method_id not in offers and method_id not in by_id:
            known = ", ".join(f"{m.id} ({m.provider}, {m.description})" for m in methods) or "none"
            raise invalid(f"shipping {method_id}", f"there is no such shipping method; there are {known}")
        costs[method_id] = rounded(cost)
        offers.setdefault(method_id, offer(by_id[method_id], quote.shipping_weight))
    if not offers:
        raise invalid("shipping", "no method fits this quote: name the carriage, as a shipping method with its cost")
    priced = (
        msgspec.structs.replace(offered, cost_net=costs.get(offered.id, offered.cost_net))
        for offered in offers.values()
    )
    return sorted(priced, key=lambda offered: (offered.cost_net, offered.id))
