"""The process's copy of catalogue, prices, stock and customers' terms, which serves customers' views."""

from dataclasses import dataclass, field
from datetime import date
from time import monotonic

from tradecounter.catalogue.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.db.changes import Versions
from tradecounter.db.freshness import Freshness
from tradecounter.db.refresher import Behind
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import Clock
from tradecounter.kit.local_time import uk_date
from tradecounter.storefront.catalogue_data import CatalogueData, no_catalogue_data
from tradecounter.storefront.catalogue_loader import CatalogueLoader
from tradecounter.storefront.view import CustomerView

_LARGE_FROM = 5_000  # products


@dataclass(frozen=True, slots=True)
class _State:
    """The source of all customers' views; replaced as a whole, so no request sees a mixture."""

    data: CatalogueData
    views: dict[int, tuple[date, CustomerView]] = field(default_factory=dict)  # created on first use


class Storefront:
    """Serves customers' views; the refresher keeps it current (`db/refresher.py`).

    With a `database_url`, a catalogue of `large_from` products or more is read in a subprocess.
    """

    def __init__(
        self,
        clock: Clock,
        low_stock: int,
        database_url: str | None = None,
        *,
        freshness: Freshness | None = None,
        large_from: int = _LARGE_FROM,
    ) -> None:
        self._clock = clock
        self._low_stock = low_stock
        self._freshness = freshness or Freshness()
        self._loader = CatalogueLoader(database_url, large_from, self._freshness.most_seconds)
        self._state = _State(no_catalogue_data())

    @property
    def snapshot(self) -> CatalogueSnapshot:
        """The current catalogue snapshot."""
        return self._state.data.snapshot

    def view(self, customer_id: int) -> CustomerView | None:
        """Return a customer's current view; None if the data is stale or the customer is not loaded."""
        return None if monotonic() >= self._freshness.stale_at else self.last_view(customer_id)

    def last_view(self, customer_id: int) -> CustomerView | None:
        """Return a customer's view even if the data is stale; None if the customer is not loaded."""
        state = self._state
        data, terms = state.data, state.data.terms.get(customer_id)
        if terms is None:
            return None
        today = uk_date(self._clock.now())
        day, view = state.views.get(customer_id, (None, None))
        if view is None or day != today:
            prices = data.book.vector(terms, today)
            view = CustomerView(data.snapshot, prices, data.stock, terms.trade_account, self._low_stock)
            state.views[customer_id] = today, view
        return view

    async def refresh(self, tx: Transaction, versions: Versions) -> Behind:
        """Load the parts that have changed and replace the state."""
        self._state = _State(await self._loader.refresh(tx, versions))
        return Behind(self._loader.verified_at, self._loader.running)
