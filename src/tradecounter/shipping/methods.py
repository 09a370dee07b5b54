"""The shipping methods in use, held in memory."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import time
from decimal import Decimal

from tradecounter.db.changes import Versions
from tradecounter.db.rows import fetch_all
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.shipping.rules import ShippingMethod
from tradecounter.shipping.working_days import load_calendar


@dataclass(frozen=True, slots=True)
class _MethodRow:
    id: int
    provider: str
    description: str
    region: int
    countries: list[str]
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
               transit_days, cut_off
        from shipping_method where active order by id
        """,
    )
    return [
        ShippingMethod(
            row.id, row.provider, row.description, row.region, frozenset(row.countries), row.max_weight_kg,
            row.base_cost_net, row.cost_per_kg_net, row.transit_days, row.cut_off,
        )
        for row in rows
    ]  # fmt: skip


async def require_method(tx: Transaction, method_id: int) -> None:
    """Raise DomainError (invalid), with the methods that there are, unless a shipping method is active."""
    methods = await read_methods(tx)
    if all(method.id != method_id for method in methods):
        known = ", ".join(f"{m.id} ({m.provider}, region {m.region})" for m in methods)
        hint = f"there are {known}" if known else "import shipping methods first"
        raise invalid("shipping_method", f"there is no method {method_id}; {hint}")


class ShippingMethods:
    """What the process knows of the shipping methods; follows the database (`db/refresher.py`)."""

    def __init__(self) -> None:
        self._methods: Collection[ShippingMethod] = ()
        self._seen: int | None = None

    @property
    def all(self) -> Collection[ShippingMethod]:
        """Every active method."""
        return self._methods

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Load the methods when they have changed."""
        version = versions.get("shipping", 0)
        if version != self._seen:
            if self._seen is None:
                await asyncio.to_thread(load_calendar)
            self._methods = await read_methods(tx)
            self._seen = version
