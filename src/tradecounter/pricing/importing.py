"""Import kinds of prices: price lists and contract prices. A row replaces the SKU's whole price."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.bulk.kinds import ImportKind, Removal, Staged, by_row
from tradecounter.bulk.statements import UNKNOWN_SKU
from tradecounter.bulk.values import RowNotes, check_date, folded, joined_key, pounds, text_of
from tradecounter.catalogue.import_rows import Key, Sku

_BREAKS = ("single", "five_plus", "ten_plus")


class PriceRow(Struct, forbid_unknown_fields=True):
    """A SKU's price on a price list; breaks that it lacks take the next lower one."""

    price_list: Key
    sku: Sku
    single_unit_cost: Decimal
    five_plus_unit_cost: Decimal | None = None
    ten_plus_unit_cost: Decimal | None = None


class ContractPriceRow(Struct, forbid_unknown_fields=True):
    """A price agreed with one customer, from the first to the last day inclusive."""

    customer_id: Annotated[int, Meta(ge=1, le=2**62)]
    sku: Sku
    single_unit_cost: Decimal
    five_plus_unit_cost: Decimal | None = None
    ten_plus_unit_cost: Decimal | None = None
    valid_from: date | None = None
    valid_until: date | None = None


def _costs(row: PriceRow | ContractPriceRow, notes: RowNotes) -> dict[str, str | None]:
    given = {name: getattr(row, f"{name}_unit_cost") for name in _BREAKS}
    costs = {name: pounds(notes, f"{name}_unit_cost", cost) for name, cost in given.items()}
    lower = given["single"]
    for name in _BREAKS[1:]:
        cost = given[name]
        if isinstance(cost, Decimal) and isinstance(lower, Decimal) and cost > lower:
            notes.warn(f"{name}_unit_cost", f"{cost} is more than {lower}, the price of fewer units")
        lower = cost if isinstance(cost, Decimal) else lower
    return costs


def _staged_price(row: PriceRow, notes: RowNotes) -> Iterator[Staged]:
    sku_key = folded(row.sku)
    values = {"price_list": row.price_list, "sku": row.sku, "sku_key": sku_key, **_costs(row, notes)}
    yield joined_key(text_of(row.price_list), sku_key), values


def _staged_contract(row: ContractPriceRow, notes: RowNotes) -> Iterator[Staged]:
    period = {name: getattr(row, name) for name in ("valid_from", "valid_until")}
    for name, day in period.items():
        check_date(notes, name, day)
    if isinstance(row.valid_from, date) and isinstance(row.valid_until, date) and row.valid_until < row.valid_from:
        notes.fault("valid_until", "lies before valid_from")
    sku_key = folded(row.sku)
    days = {name: str(day) if isinstance(day, date) else None for name, day in period.items()}
    values = {"customer_id": row.customer_id, "sku": row.sku, "sku_key": sku_key, **_costs(row, notes), **days}
    yield joined_key(text_of(row.customer_id), sku_key, text_of(row.valid_from)), values


PRICE_LIST = ImportKind(
    shape=PriceRow,
    key=("price_list", "sku"),
    prepare=by_row(_staged_price),
    checks=(UNKNOWN_SKU,),
    merge="""
        with lists as (
            insert into price_list (key) select distinct s.row ->> 'price_list' from staged s
            on conflict do nothing
        )
        insert into price (price_list, product_id, single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost)
        select s.row ->> 'price_list', p.id, (s.row ->> 'single')::numeric, (s.row ->> 'five_plus')::numeric,
               (s.row ->> 'ten_plus')::numeric
        from staged s join product p on p.sku_key = s.row ->> 'sku_key'
        on conflict (price_list, product_id) do update
        set single_unit_cost = excluded.single_unit_cost, five_plus_unit_cost = excluded.five_plus_unit_cost,
            ten_plus_unit_cost = excluded.ten_plus_unit_cost
        where (price.single_unit_cost, price.five_plus_unit_cost, price.ten_plus_unit_cost)
              is distinct from
              (excluded.single_unit_cost, excluded.five_plus_unit_cost, excluded.ten_plus_unit_cost)
        returning xmax = 0
    """,
    removal=Removal(
        statement="""
            delete from price
            where price_list in (select s.row ->> 'price_list' from staged s)
              and (price_list, product_id) not in (
                  select s.row ->> 'price_list', p.id from staged s join product p on p.sku_key = s.row ->> 'sku_key')
        """,
        count="select count(*) from price where price_list in (select s.row ->> 'price_list' from staged s)",
    ),
    view="""
        select l.price_list || chr(31) || p.sku_key as key,
               jsonb_build_object(
                   'price_list', l.price_list, 'sku', p.sku, 'single_unit_cost', l.single_unit_cost,
                   'five_plus_unit_cost', l.five_plus_unit_cost, 'ten_plus_unit_cost', l.ten_plus_unit_cost
               ) as row
        from price l join product p on p.id = l.product_id
    """,
    topics=("prices",),
)

CONTRACT_PRICES = ImportKind(
    shape=ContractPriceRow,
    key=("customer_id", "sku", "valid_from"),
    prepare=by_row(_staged_contract),
    checks=(
        UNKNOWN_SKU,
        """
        select s.line, format('customer_id: there is no customer %%s', s.row ->> 'customer_id')
        from staged s left join customer c on c.id = (s.row ->> 'customer_id')::bigint
        where s.row ->> 'customer_id' is not null and c.id is null
        """,
    ),
    merge="""
        insert into contract_price (customer_id, product_id, single_unit_cost, five_plus_unit_cost,
                                    ten_plus_unit_cost, valid_from, valid_until)
        select (s.row ->> 'customer_id')::bigint, p.id, (s.row ->> 'single')::numeric,
               (s.row ->> 'five_plus')::numeric, (s.row ->> 'ten_plus')::numeric,
               (s.row ->> 'valid_from')::date, (s.row ->> 'valid_until')::date
        from staged s join product p on p.sku_key = s.row ->> 'sku_key'
        on conflict (customer_id, product_id, valid_from) do update
        set single_unit_cost = excluded.single_unit_cost, five_plus_unit_cost = excluded.five_plus_unit_cost,
            ten_plus_unit_cost = excluded.ten_plus_unit_cost, valid_until = excluded.valid_until
        where (contract_price.single_unit_cost, contract_price.five_plus_unit_cost,
               contract_price.ten_plus_unit_cost, contract_price.valid_until)
              is distinct from
              (excluded.single_unit_cost, excluded.five_plus_unit_cost, excluded.ten_plus_unit_cost,
               excluded.valid_until)
        returning xmax = 0
    """,
    removal=Removal(
        statement="""
            delete from contract_price c using product p
            where p.id = c.product_id
              and c.customer_id in (select (s.row ->> 'customer_id')::bigint from staged s)
              and not exists (
                  select from staged s
                  where (s.row ->> 'customer_id')::bigint = c.customer_id and s.row ->> 'sku_key' = p.sku_key
                    and (s.row ->> 'valid_from')::date is not distinct from c.valid_from)
        """,
        count="""
            select count(*) from contract_price
            where customer_id in (select (s.row ->> 'customer_id')::bigint from staged s)
        """,
    ),
    view="""
        select concat_ws(chr(31), c.customer_id, p.sku_key, coalesce(c.valid_from::text, 'None')) as key,
               jsonb_build_object(
                   'customer_id', c.customer_id, 'sku', p.sku, 'single_unit_cost', c.single_unit_cost,
                   'five_plus_unit_cost', c.five_plus_unit_cost, 'ten_plus_unit_cost', c.ten_plus_unit_cost,
                   'valid_from', c.valid_from, 'valid_until', c.valid_until
               ) as row
        from contract_price c join product p on p.id = c.product_id
    """,
    topics=("contracts",),
)
