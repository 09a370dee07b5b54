"""The active shipping methods and regions, cached in memory.

As with products (`storefront/view.py`), an order compares its mark with the database's, so that it is never
priced with a shipping method that is older than an import that was acknowledged.
"""

import asyncio
import threading
from collections.abc import Collection

from msgspec import Struct

from tradecounter.db.changes import Topic, Version, Versions, read_mark
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.shipping.queries import read_methods, read_regions
from tradecounter.shipping.rules import Regions, ShippingMethod, load_calendar


async def require_method(tx: Transaction, method_id: int) -> None:
    """Raise DomainError (invalid), with the active methods, unless a shipping method is active."""
    methods = await read_methods(tx)
    if all(method.id != method_id for method in methods):
        known = ", ".join(f"{m.id} ({m.provider}, region {m.region})" for m in methods)
        hint = f"the active methods are {known}" if known else "import shipping methods first"
        raise invalid("shipping_method", f"method {method_id} does not exist; {hint}")


TOPICS: tuple[Topic, ...] = ("shipping",)
_NO_REGIONS = Regions((), ())
_CALENDAR_SECONDS = 1.0  # after the start, so that the first page does not wait for it


class Shipping(Struct, frozen=True):
    """The active shipping methods and regions at a mark (`db/changes.py`)."""

    methods: Collection[ShippingMethod] = ()
    regions: Regions = _NO_REGIONS
    mark: Version | None = None


async def current_shipping(tx: Transaction, known: Shipping) -> Shipping:
    """Return the methods and regions that the database has now. Takes a round trip, or two."""
    return await shipping_at(tx, await read_mark(tx, TOPICS), known)


async def shipping_at(tx: Transaction, mark: Version, known: Shipping) -> Shipping:
    """Return `known` if it has this mark, or else what the database has."""
    return known if known.mark == mark else await _read_shipping(tx, mark)


async def _read_shipping(tx: Transaction, mark: Version) -> Shipping:
    methods = await read_methods(tx)
    return Shipping(methods, Regions(await read_regions(tx), methods), mark)


class ShippingMethods:
    """The shipping methods and regions of this process; `db/refresher.py` keeps them current."""

    def __init__(self) -> None:
        self.current = Shipping()

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Load methods and regions if they have changed."""
        mark = versions.of("shipping")  # the mark of one topic is its version
        if mark != self.current.mark:
            if self.current.mark is None:
                load = threading.Thread(target=load_calendar, daemon=True)
                asyncio.get_running_loop().call_later(_CALENDAR_SECONDS, load.start)
            self.current = await _read_shipping(tx, mark)
