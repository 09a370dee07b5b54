"""The guards of prices: which prices may be slips, and so want `force`.

A price may be one that is lowered to 0, below what the reseller pays, or by more than half; so may a first price of 0
or below what the reseller pays. The statements of `queries/guards.py` find such prices by the same rule.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from tradecounter.bulk.price_figures import BREAKS, GuardedPrice, PriceFigures, UnknownPriceList
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.money import in_pounds
from tradecounter.prices.queries import guards as sql

LARGEST_FALL = Decimal(50)  # per cent, without `force`


def suspicion(price: Decimal, before: Decimal | None, purchase: Decimal | None) -> str | None:
    """Return why a price may be a slip, or None; `before` is None for a first price, `purchase` if it is unknown."""
    if before is not None and price >= before:
        return None
    if purchase is not None and price < purchase:
        return f"is below its purchase cost of {in_pounds(purchase)}"
    if before is not None and price * 100 < before * (100 - LARGEST_FALL):
        return f"is more than half off its price of {in_pounds(before)}"
    return None


def imported_suspicion(price: Decimal, before: Decimal | None, purchase: Decimal | None) -> str | None:
    """Return why an imported price may be a slip, or None: many lists have 0 where the price is on request."""
    if price == 0 and (before is None or before > 0):
        return "is free of charge"
    return suspicion(price, before, purchase)


async def price_list_figures(tx: Transaction) -> PriceFigures:
    """Return what the staged rows of price lists do to prices, before they are merged."""
    new_lists = await tx.fetch_all(sql.NEW_PRICE_LISTS)
    return await _figures(tx, sql.JUDGE_PRICES, sql.CUSTOMERS_OF_LISTS, new_lists)


async def contract_figures(tx: Transaction) -> PriceFigures:
    """Return what the staged rows of contract prices do to prices, before they are merged."""
    return await _figures(tx, sql.JUDGE_CONTRACT_PRICES, sql.CUSTOMERS_OF_CONTRACTS)


async def _figures(
    tx: Transaction, judge: Statement[Any], customers: Statement[Any], new_lists: Sequence[UnknownPriceList] = ()
) -> PriceFigures:
    await tx.execute(judge)
    counted = await tx.fetch_one(sql.COUNT_JUDGED)
    found = await tx.fetch_all(sql.GUARDED)
    concerned: int = await tx.fetch_value(customers)
    await tx.execute(sql.DROP_JUDGED)
    if counted is None:
        raise RuntimeError("a count has one row")
    return PriceFigures(
        raised=counted.raised,
        lowered=counted.lowered,
        largest_rise=counted.largest_rise,
        largest_fall=counted.largest_fall,
        customers=concerned,
        new_price_lists=new_lists,
        below_cost=counted.below_cost,
        guarded=counted.guarded,
        guarded_prices=[_guarded(row) for row in found],
    )


def _guarded(row: sql.GuardedRow) -> GuardedPrice:
    """Return a guarded price, with the break that falls most of those that may be slips."""
    suspicious = [
        (after, before, name, why)
        for name, before, after in zip(BREAKS, row.before or (None, None, None), row.after, strict=True)
        if (why := imported_suspicion(after, before, row.purchase_cost)) is not None
    ]
    after, before, name, why = min(suspicious, key=lambda found: found[0] / (found[1] or 1))
    return GuardedPrice(
        line=row.line,
        price_list=row.price_list,
        customer_id=row.customer_id,
        sku=row.sku,
        field=name,
        before=before,
        after=after,
        why=why,
    )
