"""Import kinds of prices, with the guards that ask for `force` when a price may be a slip.

A price may be one that is lowered to 0, below what the reseller pays, or by more than half; so may a first price of 0
or below what the reseller pays. The statements of `queries/importing.py` find such prices by the same rule.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct
from psycopg.sql import SQL

from tradecounter.bulk.kinds import Check, ImportKind, Removal, Stage, Staged, by_row
from tradecounter.bulk.price_figures import BREAKS, MOST_GUARDED, GuardedPrice, PriceFigures, UnknownPriceList
from tradecounter.bulk.rows import RowNotes, check_date, checked_key, folded, joined_key, pounds, text_of
from tradecounter.bulk.statements import UNKNOWN_SKU, no_twins, stored_keys, unknown_reference
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.keys import Key, Spellings
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import Pounds
from tradecounter.kit.wire import made_from
from tradecounter.prices.queries import importing as sql
from tradecounter.prices.queries.importing import (
    COUNT_JUDGED,
    CUSTOMERS_OF_CONTRACTS,
    CUSTOMERS_OF_LISTS,
    DROP_JUDGED,
    GUARDED,
    JUDGE_CONTRACT_PRICES,
    JUDGE_PRICES,
    LINES_OF_LISTS,
    NEW_PRICE_LISTS,
    GuardedRow,
)

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
    """Return what the staged rows of price lists do to prices."""
    new_lists = await tx.fetch_all(NEW_PRICE_LISTS)
    return await _figures(tx, JUDGE_PRICES, CUSTOMERS_OF_LISTS, new_lists)


async def _lock_purchase_costs(tx: Transaction) -> None:
    """Have imports of products wait: a trigger compares the prices with their purchase costs."""
    await tx.execute(sql.LOCK_PRODUCTS)


async def _figures(
    tx: Transaction, judge: Statement[Any], customers: Statement[Any], new_lists: Sequence[UnknownPriceList] = ()
) -> PriceFigures:
    """Return what the staged rows do to prices, before they are merged."""
    await tx.execute(judge)
    counted = await tx.fetch_row(COUNT_JUDGED)
    rows = await tx.fetch_all(GUARDED, most=MOST_GUARDED)
    concerned: int = await tx.fetch_value(customers)
    await tx.execute(DROP_JUDGED)
    return made_from(
        counted,
        PriceFigures,
        customers=concerned,
        new_price_lists=new_lists,
        guarded_prices=[_guarded(row) for row in rows],
    )


async def _rows_of_new_lists(tx: Transaction) -> list[tuple[int, str, str]]:
    """Return the errors of staged rows whose price list nobody knows."""
    new = [each.price_list for each in await tx.fetch_all(NEW_PRICE_LISTS)]
    rows = await tx.fetch_all(LINES_OF_LISTS, price_lists=new)
    return [(line, "price_list", "has no prices yet and is no customer's") for (line,) in rows]


def _rows_that_may_be_slips(judge: Statement[Any]) -> Check:
    async def slips(tx: Transaction) -> list[tuple[int, str, str]]:
        await tx.execute(judge)
        found = [(row.line, _guarded(row)) for row in await tx.fetch_all(GUARDED, most=None)]
        await tx.execute(DROP_JUDGED)
        return [(line, price.field, price.problem) for line, price in found]

    return slips


def _guarded(row: GuardedRow) -> GuardedPrice:
    """Return a guarded price, with the break that falls most of those that may be slips."""
    suspicious = [
        (after, before, name, why)
        for name, before, after in zip(BREAKS, row.before or (None, None, None), row.after, strict=True)
        if (why := imported_suspicion(after, before, row.purchase_cost)) is not None
    ]
    after, before, name, why = min(suspicious, key=lambda found: found[0] / (found[1] or 1))
    return made_from(row, GuardedPrice, field=name, before=before, after=after, why=why)


_FIELDS = {name: f"{name}_unit_cost" for name in ("single", "five_plus", "ten_plus")}
_FREE = "is 0, so the product is free: leave it out of the list if its price is on request"


class PriceRow(Struct, forbid_unknown_fields=True):
    """A SKU's price on a price list; a missing break has the price of the next lower break."""

    price_list: Key
    sku: Key
    single_unit_cost: Pounds
    five_plus_unit_cost: Pounds | None = None
    ten_plus_unit_cost: Pounds | None = None


class ContractPriceRow(Struct, forbid_unknown_fields=True):
    """A price agreed with one customer, valid up to and including the last day."""

    customer_id: Annotated[int, Meta(ge=1, le=2**62)]
    sku: Key
    single_unit_cost: Pounds
    five_plus_unit_cost: Pounds | None = None
    ten_plus_unit_cost: Pounds | None = None
    valid_from: date | None = None
    valid_until: date | None = None


def _costs(row: PriceRow | ContractPriceRow, notes: RowNotes) -> dict[str, str | None]:
    costs: dict[str, str | None] = {}
    lowest: Decimal | None = None
    for name, field in _FIELDS.items():
        cost = getattr(row, field)
        costs[name] = pounds(notes, field, cost)
        if not isinstance(cost, Decimal):
            continue
        if not cost:
            notes.warn(field, _FREE)
        if lowest is not None and cost > lowest:
            notes.warn(field, f"{in_pounds(cost)} is more than {in_pounds(lowest)}, the price of fewer units")
        lowest = cost
    return costs


async def _stage_of_prices(tx: Transaction) -> Stage[PriceRow]:
    lists = Spellings(await stored_keys(tx, "price_list"))

    def stage(row: PriceRow, notes: RowNotes) -> Iterator[Staged]:
        price_list = checked_key(notes, "price_list", row.price_list)
        if price_list is not UNSET:
            price_list = lists.settled(price_list)
        sku = checked_key(notes, "sku", row.sku)
        sku_key = folded(sku)
        values = {"price_list": price_list, "sku": sku, "sku_key": sku_key, **_costs(row, notes)}
        yield joined_key(text_of(price_list), sku_key), values

    return stage


def _staged_contract(row: ContractPriceRow, notes: RowNotes) -> Iterator[Staged]:
    period = {name: getattr(row, name) for name in ("valid_from", "valid_until")}
    for name, day in period.items():
        check_date(notes, name, day)
    if isinstance(row.valid_from, date) and isinstance(row.valid_until, date) and row.valid_until < row.valid_from:
        notes.error("valid_until", f"{row.valid_until} is before valid_from, {row.valid_from}")
    sku = checked_key(notes, "sku", row.sku)
    sku_key = folded(sku)
    days = {name: str(day) if isinstance(day, date) else None for name, day in period.items()}
    values = {"customer_id": row.customer_id, "sku": sku, "sku_key": sku_key, **_costs(row, notes), **days}
    yield joined_key(text_of(row.customer_id), sku_key, text_of(row.valid_from)), values


PRICE_LIST = ImportKind(
    shape=PriceRow,
    area="prices",
    hint="Each row has the net prices of a product on a price list, for 1, 5 and 10 units. Customers without a list "
    "pay those of “default”.",
    table="price",
    key=("price_list", "sku"),
    prepare=_stage_of_prices,
    checks=(UNKNOWN_SKU, no_twins("price_list", SQL("s.row ->> 'price_list'"), "price_list")),
    named="sku",
    guard=price_list_figures,
    wants_force=(_rows_of_new_lists, _rows_that_may_be_slips(JUDGE_PRICES)),
    before_merge=_lock_purchase_costs,
    merge=sql.MERGE_PRICES,
    removal=Removal(statement=sql.DELETE_PRICES, count=sql.COUNT_PRICES),
    view=sql.PRICE_VIEW,
    whole=True,
    restored=sql.RESTORED_PRICE,
    undo=sql.DELETE_ADDED_PRICES,
    topics=("prices",),
)

CONTRACT_PRICES = ImportKind(
    shape=ContractPriceRow,
    area="prices",
    hint="Each row is a price agreed with one customer. Without days, it is valid always.",
    table="contract_price",
    key=("customer_id", "sku", "valid_from"),
    prepare=by_row(_staged_contract),
    checks=(UNKNOWN_SKU, unknown_reference("customer_id", "customer", "id", key_type="bigint")),
    named="sku",
    guard=lambda tx: _figures(tx, JUDGE_CONTRACT_PRICES, CUSTOMERS_OF_CONTRACTS),
    wants_force=(_rows_that_may_be_slips(JUDGE_CONTRACT_PRICES),),
    merge=sql.MERGE_CONTRACT_PRICES,
    removal=Removal(statement=sql.DELETE_CONTRACT_PRICES, count=sql.COUNT_CONTRACT_PRICES),
    view=sql.CONTRACT_PRICE_VIEW,
    whole=True,
    restored=sql.RESTORED_CONTRACT_PRICE,
    undo=sql.DELETE_ADDED_CONTRACT_PRICES,
    topics=("contracts",),
)
