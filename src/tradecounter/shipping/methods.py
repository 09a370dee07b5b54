"""The shipping methods and regions in use, held in memory."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from typing import Any

import structlog

from tradecounter.db.changes import Version, Versions
from tradecounter.db.rows import fetch_all
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.shipping.regions import Region, Regions
from tradecounter.shipping.rules import ShippingMethod
from tradecounter.shipping.working_days import load_calendar

log = structlog.get_logger()


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


async def read_methods(tx: Transaction) -> list[ShippingMethod]:
    """Return all active shipping methods."""
    rows = await fetch_all(
        tx,
        _MethodRow,
        """
        select id, provider, description, region, countries, max_weight_kg, base_cost_net, cost_per_kg_net,
               transit_days, least(cut_off, '23:59:59') as cut_off
        from shipping_method where active order by id
        """,
    )
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


async def read_regions(tx: Transaction) -> list[Region]:
    """Return all active regions that are defined."""
    rows = await fetch_all(
        tx, _RegionRow, "select id, name, countries, postcodes from shipping_region where active order by id"
    )
    return [Region(row.id, row.name, frozenset(row.countries), frozenset(row.postcodes)) for row in rows]


async def require_method(tx: Transaction, method_id: int) -> None:
    """Raise DomainError (invalid), with the methods that there are, unless a shipping method is active."""
    methods = await read_methods(tx)
    if all(method.id != method_id for method in methods):
        known = ", ".join(f"{m.id} ({m.provider}, region {m.region})" for m in methods)
        hint = f"there are {known}" if known else "import shipping methods first"
        raise invalid("shipping_method", f"there is no method {method_id}; {hint}")


class ShippingMethods:
    """What the process knows of shipping methods and regions; follows the database (`db/refresher.py`)."""

    def __init__(self) -> None:
        self._methods: Collection[ShippingMethod] = ()
        self._regions = Regions((), ())
        self._seen: Version | None = None

    @property
    def all(self) -> Collection[ShippingMethod]:
        """Every active method."""
        return self._methods

    @property
    def regions(self) -> Regions:
        """Every active region."""
        return self._regions

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Load methods and regions when they have changed."""
        version = versions.of("shipping")
        if version != self._seen:
            if self._seen is None:
                await asyncio.to_thread(load_calendar)
            self._methods = await read_methods(tx)
            self._regions = Regions(await read_regions(tx), self._methods)
            self._seen = version
