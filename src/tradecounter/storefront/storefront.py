"""The process's copy of catalogue, prices, stock and customers' terms, which serves customers' views."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import date
from functools import partial
from time import monotonic

from msgspec import Struct, field

from tradecounter.customers.queries.accounts import CustomerTerms
from tradecounter.db.changes import Versions, mark_of
from tradecounter.db.refresher import Freshness, OutdatedData, Refresher
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import Clock, UkDay
from tradecounter.kit.errors import or_not_found
from tradecounter.prices.price_book import PriceVector
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.products.snapshot.layout import LARGE_FROM
from tradecounter.storefront.catalogue_data import CatalogueData, no_catalogue_data
from tradecounter.storefront.catalogue_loader import CatalogueLoader
from tradecounter.storefront.changes.cursor import Cursor, Cursors, Place, Position, Terms
from tradecounter.storefront.changes.differences import Outlook, Sight, position_of
from tradecounter.storefront.load_shared import CatalogueSource, Turn
from tradecounter.storefront.view import CustomerView

Preparation = Callable[[Callable[[int], CustomerView | None]], Awaitable[None]]


_VIEWS_KEPT = 60  # seconds; by so much may a view's cursor be older than the data's position


class _State(Struct, frozen=True):
    """The source of all customers' views; replaced as a whole, so no request sees a mixture."""

    data: CatalogueData
    position: Position | None = None  # None without a change feed, or while the parts come from several logs
    views: dict[int, tuple[date, CustomerView]] = field(default_factory=dict)  # created on first use
    began: float = field(default_factory=monotonic)  # when the oldest of the views may have been created

    def after(self, before: "_State") -> "_State":
        """Return this state, with the views of the one before if they still hold: new ones for all take a while.

        Their cursors are older than this state's position, so the change feed may tell again what they show.
        """
        position, former = self.position, before.position
        holds = (
            self.shows_the_same_as(before)
            and self.data.versions == before.data.versions
            and (None if position is None else position.log) == (None if former is None else former.log)
            and self.began - before.began < _VIEWS_KEPT
        )
        return _State(self.data, position, before.views, before.began) if holds else self

    def shows_the_same_as(self, other: "_State") -> bool:
        """Return whether all views show the same."""
        one, another = self.data, other.data
        return (
            one.snapshot is another.snapshot
            and one.book is another.book
            and one.stock is another.stock
            and one.terms is another.terms
        )


class Storefront:
    """Serves customers' views; the refresher keeps it current (`db/refresher.py`).

    With a `source`, a catalogue of `large_from` products or more is shared with the machine's other processes.
    """

    def __init__(
        self,
        clock: Clock,
        low_stock: int,
        source: CatalogueSource | None = None,
        *,
        freshness: Freshness | None = None,
        large_from: int = LARGE_FROM,
        cursors: Cursors | None = None,
    ) -> None:
        """Take `cursors` for a process with the change feed."""
        self._clock = clock
        self._day = UkDay()
        self._low_stock = low_stock
        self._freshness = freshness or Freshness()
        self._cursors = cursors
        self._loader = CatalogueLoader(
            source, large_from, self._freshness.most_seconds, notes_changes=cursors is not None
        )
        self._turn = None if source is None else Turn(source, self._freshness.most_seconds)
        self._state = _State(no_catalogue_data())
        self.before_shown: Preparation | None = None  # called with new data before it is shown
        self.shown: Callable[[], None] | None = None  # called after every refresh

    @property
    def snapshot(self) -> CatalogueSnapshot:
        """The current catalogue snapshot."""
        return self._state.data.snapshot

    def view(self, customer_id: int) -> CustomerView | None:
        """Return a customer's current view; None if the data is stale or the customer is not loaded."""
        return None if self._freshness.is_stale else self.last_view(customer_id)

    def last_view(self, customer_id: int) -> CustomerView | None:
        """Return a customer's view even if the data is stale; None if the customer is not loaded."""
        return self._view(self._state, customer_id)

    def view_without_terms(self) -> CustomerView:
        """Return a view for a customer that is not loaded: at the default prices, which may not be its own."""
        data, today = self._state.data, self._day.of(self._clock.now())
        prices = PriceVector(data.book.lists.shared((None, 0)))
        return CustomerView(
            snapshot=data.snapshot,
            prices=prices,
            stock=data.stock,
            trade_account=False,
            low_stock=self._low_stock,
            mark=None,
            day=today,
        )

    def _view(self, state: _State, customer_id: int) -> CustomerView | None:
        data, terms = state.data, state.data.terms.get(customer_id)
        if terms is None:
            return None
        today = self._day.of(self._clock.now())
        day, view = state.views.get(customer_id, (None, None))
        if view is None or day != today:
            view = CustomerView(
                snapshot=data.snapshot,
                prices=data.book.vector(terms.customer_id, terms.profile, today),
                stock=data.stock,
                trade_account=terms.trade_account,
                low_stock=self._low_stock,
                mark=mark_of(data.versions),
                day=today,
                write_cursor=self._cursor_writer(state.position, terms, today),
            )
            state.views[customer_id] = today, view
        return view

    def _cursor_writer(self, position: Position | None, terms: CustomerTerms, day: date) -> Callable[[], bytes] | None:
        if position is None or self._cursors is None:
            return None
        cursor = Cursor(Place(position, self._seen_under(terms, day)))
        return partial(self._cursors.write, terms.customer_id, cursor)

    def _seen_under(self, terms: CustomerTerms, day: date) -> Terms:
        return Terms(
            price_list=terms.price_list,
            discount=terms.discount,
            trade_account=terms.trade_account,
            low_stock=self._low_stock,
            day=day.toordinal(),
        )

    def sight(self, customer_id: int) -> Sight | None:
        """Return what the change feed compares; None if the customer is not loaded, or the data has no one position."""
        state = self._state
        view = self._view(state, customer_id)
        if view is None or state.position is None:
            return None
        place = Place(state.position, self._seen_under(state.data.terms[customer_id], view.day))
        return Sight(customer_id=customer_id, view=view, data=state.data, journal=self._loader.journal, place=place)

    def outlook(self) -> Outlook:
        """Return the data that all customers see, for the change feed."""
        state = self._state
        day = self._day.of(self._clock.now())
        return Outlook(data=state.data, journal=self._loader.journal, position=state.position, day=day)

    async def refresh(self, tx: Transaction, versions: Versions) -> OutdatedData:
        """Load the parts that have changed and replace the state; large changes wait for this process's turn."""
        turn, waiting = self._turn, None
        waits = turn is not None and self._loader.has_large_change(versions) and not turn.take()
        try:
            data = await self._loader.refresh(tx, versions, only_small=waits)
            state = _State(data, position_of(data, self._loader.journal, self._clock.now()))
            if self.before_shown is not None and not state.shows_the_same_as(self._state):
                await self.before_shown(lambda customer_id: self._view(state, customer_id))
            self._state = state.after(self._state)
            if self.shown is not None:
                self.shown()
            if turn is not None and waits and not self._loader.is_loading:
                waiting = turn.wait()
        finally:
            if turn is not None and waiting is None:
                turn.end()
        return OutdatedData(self._loader.verified_at, waiting or self._loader.running)


class RefreshableViews(Struct, frozen=True):
    """Returns views from the storefront, and refreshes it if a customer or a product is missing."""

    storefront: Storefront
    refresher: Refresher
    freshness: Freshness

    async def of(self, customer_id: int) -> CustomerView:
        """Return the customer's current view, for sales. Raises DomainError (unavailable) if the data is stale."""
        self.freshness.require()
        return await self.last(customer_id)

    def for_order(self, customer_id: int) -> CustomerView:
        """Return a view for an order, which finds out itself whether it is current (`view_at` in `view.py`).

        Does not wait for a customer that is not loaded yet. Raises DomainError (unavailable) if the data is stale.
        """
        self.freshness.require()
        return self.storefront.last_view(customer_id) or self.storefront.view_without_terms()

    async def last(self, customer_id: int) -> CustomerView:
        """Return the customer's view even if it is stale, for anything but sales. Raises DomainError (not found)."""
        view = self.storefront.last_view(customer_id)
        for refresh in (self.refresher.catch_up, self.refresher.refresh):  # the latter also waits for what is under way
            if view is None:
                await refresh()
                view = self.storefront.last_view(customer_id)
        return or_not_found(view, "customer", customer_id)

    async def snapshot(self) -> CatalogueSnapshot:
        """Return the catalogue, without what changed within the last second."""
        return self.storefront.snapshot

    async def latest_snapshot(self) -> CatalogueSnapshot:
        """Return the catalogue with all changes but large ones, for which a refresh takes seconds."""
        await self.refresher.catch_up()
        return await self.snapshot()

    async def showing(self, customer_id: int, product_ids: Iterable[int]) -> CustomerView:
        """Return the customer's latest view, after a refresh if it lacks one of the products, which may be new."""
        view = await self.last(customer_id)
        if all(product_id in view.snapshot.row_of_id for product_id in product_ids):
            return view
        await self.refresher.refresh()
        return await self.last(customer_id)
