"""Import kinds of prices: price lists and contract prices. A row replaces the SKU's whole price."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.catalogue.importing import Key, Sku
from tradecounter.db.import_values import check_date, pounds
from tradecounter.db.importing import ImportKind, Staged
from tradecounter.kit.errors import invalid
from tradecounter.kit.text import fold

_SEPARATOR = "\x1f"


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


def _costs(row: PriceRow | ContractPriceRow) -> dict[str, str | None]:
    costs = {name: getattr(row, f"{name}_unit_cost") for name in ("single", "five_plus", "ten_plus")}
    return {name: None if cost is None else pounds(f"{name}_unit_cost", cost) for name, cost in costs.items()}


def _staged_price(row: PriceRow) -> Iterator[Staged]:
    sku_key = fold(row.sku)
    values = {"price_list": row.price_list, "sku": row.sku, "sku_key": sku_key, **_costs(row)}
    yield row.price_list + _SEPARATOR + sku_key, values


def _staged_contract(row: ContractPriceRow) -> Iterator[Staged]:
    for name, day in (("valid_from", row.valid_from), ("valid_until", row.valid_until)):
        if day is not None:
            check_date(name, day)
    if row.valid_from and row.valid_until and row.valid_until < row.valid_from:
        raise invalid("valid_until", "lies before valid_from")
    sku_key = fold(row.sku)
    key = _SEPARATOR.join((str(row.customer_id), sku_key, str(row.valid_from)))
    period = {"valid_from": str(row.valid_from or "") or None, "valid_until": str(row.valid_until or "") or None}
    yield key, {"customer_id": row.customer_id, "sku": row.sku, "sku_key": sku_key, **_costs(row), **period}


_UNKNOWN_SKU = """
    select s.line, format('sku: there is no product %%s', to_json(s.row ->> 'sku'))
    from staged s left join product p on p.sku_key = s.row ->> 'sku_key'
    where p.id is null
"""

PRICE_LIST = ImportKind(
    shape=PriceRow,
    staged=_staged_price,
    checks=(_UNKNOWN_SKU,),
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
    remove="""
        delete from price
        where price_list in (select s.row ->> 'price_list' from staged s)
          and (price_list, product_id) not in (
              select s.row ->> 'price_list', p.id from staged s join product p on p.sku_key = s.row ->> 'sku_key')
    """,
    topics=("prices",),
)

CONTRACT_PRICES = ImportKind(
    shape=ContractPriceRow,
    staged=_staged_contract,
    checks=(
        _UNKNOWN_SKU,
        """
        select s.line, format('customer_id: there is no customer %%s', s.row ->> 'customer_id')
        from staged s left join customer c on c.id = (s.row ->> 'customer_id')::bigint
        where c.id is null
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
    remove="""
        delete from contract_price c using product p
        where p.id = c.product_id
          and c.customer_id in (select (s.row ->> 'customer_id')::bigint from staged s)
          and not exists (
              select from staged s
              where (s.row ->> 'customer_id')::bigint = c.customer_id and s.row ->> 'sku_key' = p.sku_key
                and (s.row ->> 'valid_from')::date is not distinct from c.valid_from)
    """,
    topics=("contracts",),
)
