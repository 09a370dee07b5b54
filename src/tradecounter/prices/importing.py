"""Import kinds of prices: price lists and contract prices. A row replaces all breaks of a price."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, Struct
from psycopg.sql import SQL

from tradecounter.bulk.kinds import ImportKind, Removal, Stage, Staged, by_row
from tradecounter.bulk.spellings import no_twins, stored_keys
from tradecounter.bulk.statements import UNKNOWN_SKU, unknown_reference
from tradecounter.bulk.values import RowNotes, check_date, checked_key, folded, joined_key, pounds, text_of
from tradecounter.db.transaction import Transaction
from tradecounter.kit.keys import Spellings
from tradecounter.kit.number_types import Pounds
from tradecounter.prices.guards import contract_figures, price_list_figures
from tradecounter.prices.queries import importing as sql
from tradecounter.products.import_rows import Key, Sku

_FIELDS = {name: f"{name}_unit_cost" for name in ("single", "five_plus", "ten_plus")}
_FREE = "is 0, so the product is free: leave it out of the list if its price is on request"


class PriceRow(Struct, forbid_unknown_fields=True):
    """A SKU's price on a price list; a missing break has the price of the next lower break."""

    price_list: Key
    sku: Sku
    single_unit_cost: Pounds
    five_plus_unit_cost: Pounds | None = None
    ten_plus_unit_cost: Pounds | None = None


class ContractPriceRow(Struct, forbid_unknown_fields=True):
    """A price agreed with one customer, valid up to and including the last day."""

    customer_id: Annotated[int, Meta(ge=1, le=2**62)]
    sku: Sku
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
            notes.warn(field, f"{cost} is more than {lowest}, the price of fewer units")
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
    guard=contract_figures,
    merge=sql.MERGE_CONTRACT_PRICES,
    removal=Removal(statement=sql.DELETE_CONTRACT_PRICES, count=sql.COUNT_CONTRACT_PRICES),
    view=sql.CONTRACT_PRICE_VIEW,
    whole=True,
    restored=sql.RESTORED_CONTRACT_PRICE,
    undo=sql.DELETE_ADDED_CONTRACT_PRICES,
    topics=("contracts",),
)
