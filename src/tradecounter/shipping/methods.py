"""The active shipping methods and regions, cached in memory."""

import asyncio
from collections.abc import Collection

from tradecounter.db.changes import Version, Versions
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.shipping.queries import read_methods, read_regions
from tradecounter.shipping.regions import Regions
from tradecounter.shipping.rules import ShippingMethod
from tradecounter.shipping.working_days import load_calendar


async def require_method(tx: Transaction, method_id: int) -> None:
    """Raise DomainError (invalid), with the active methods, unless a shipping method is active."""
    methods = await read_methods(tx)
    if all(method.id != method_id for method in methods):
        known = ", ".join(f"{m.id} ({m.provider}, region {m.region})" for m in methods)
        hint = f"the active methods are {known}" if known else "import shipping methods first"
        raise invalid("shipping_method", f"method {method_id} does not exist; {hint}")


class ShippingMethods:
    """The shipping methods and regions of this process; `db/refresher.py` keeps them current."""

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
        """Load methods and regions if they have changed."""
        version = versions.of("shipping")
        if version != self._seen:
            if self._seen is None:
                await asyncio.to_thread(load_calendar)
            self._methods = await read_methods(tx)
            self._regions = Regions(await read_regions(tx), self._methods)
            self._seen = version
