"""Shipping methods and regions as the database holds them."""

from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from typing import Any, LiteralString

import structlog

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.shipping.regions import Region
from tradecounter.shipping.rules import ShippingMethod

log = structlog.get_logger()

METHOD_VIEW: LiteralString = "select id::text as key, to_jsonb(m) as row from shipping_method m"

REGION_VIEW: LiteralString = "select id::text as key, to_jsonb(r) as row from shipping_region r"


@dataclass(frozen=True, slots=True)
class _MethodRow:
    id: int
    provider: str
    description: str
    region: int
    countries: Any
    max_weight_kg: Decimal
    base_cost_net: Decimal
    cost_per_kg_net: Decimal
    transit_days: int
    cut_off: time


_READ_METHODS = Statement(
    """
    select id, provider, description, region, countries, max_weight_kg, base_cost_net, cost_per_kg_net,
           transit_days, least(cut_off, '23:59:59') as cut_off
    from shipping_method where active order by id
    """,
    _MethodRow,
)


async def read_methods(tx: Transaction) -> list[ShippingMethod]:
    """Return all active shipping methods."""
    rows = await tx.fetch_all(_READ_METHODS)
    return [
        ShippingMethod(
            row.id, row.provider, row.description, row.region, frozenset(row.countries), row.max_weight_kg,
            row.base_cost_net, row.cost_per_kg_net, row.transit_days, row.cut_off,
        )
        for row in rows if _is_readable(row)
    ]  # fmt: skip


def _is_readable(row: _MethodRow) -> bool:
    """Return whether a row holds what an import would have written; log it otherwise."""
    numbers = (row.max_weight_kg, row.base_cost_net, row.cost_per_kg_net)
    readable = (
        isinstance(row.countries, list)
        and all(isinstance(country, str) for country in row.countries)
        and all(number.is_finite() for number in numbers)
    )
    if not readable:
        log.error("a shipping method cannot be read and is not offered", shipping_method=row.id)
    return readable


@dataclass(frozen=True, slots=True)
class _RegionRow:
    id: int
    name: str
    countries: list[str]
    postcodes: list[str]


_READ_REGIONS = Statement(
    "select id, name, countries, postcodes from shipping_region where active order by id", _RegionRow
)


async def read_regions(tx: Transaction) -> list[Region]:
    """Return all active regions that are defined."""
    rows = await tx.fetch_all(_READ_REGIONS)
    return [Region(row.id, row.name, frozenset(row.countries), frozenset(row.postcodes)) for row in rows]
