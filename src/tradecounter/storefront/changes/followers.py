"""Requests that wait for a change: what a refresh changed, and waking those whose customers it may concern."""

import asyncio
from contextlib import suppress
from contextvars import Context

import numpy as np
from msgspec import Struct, field

from tradecounter.customers.queries.accounts import CustomerTerms
from tradecounter.kit.columns.lookups import are_among
from tradecounter.prices.price_book import DEFAULT_LIST
from tradecounter.prices.queries.prices import NO_PRICE
from tradecounter.storefront.changes.differences import Noted, Outlook, Rows
from tradecounter.storefront.changes.journal import Subject
from tradecounter.storefront.storefront import Storefront

_Group = tuple[str | None, int, bool]  # customers with equal price list, discount and trade flag


class Concerns(Struct, frozen=True):
    """What a refresh changed: rows for all, rows for trade accounts, and prices."""

    before: Outlook
    now: Outlook
    noted: Noted
    everybody: bool  # all products have changed
    shown: Rows
    delivered: Rows
    price_lists: frozenset[Subject]
    customers: frozenset[Subject]  # whose contract prices have changed
    new_day: bool
    _groups: dict[_Group, bool] = field(default_factory=dict)

    @property
    def nobody(self) -> bool:
        """Whether the refresh changed nothing that any customer sees."""
        nothing = not (len(self.shown) or len(self.delivered) or self.price_lists or self.customers)
        same_terms = self.before.data.terms is self.now.data.terms
        return nothing and same_terms and not self.everybody and not self.new_day

    def customer(self, customer_id: int) -> bool:
        """Return whether the refresh may concern a customer.

        May return True where nothing differs for the customer; `differences` then finds nothing. Never returns False
        wrongly.
        """
        terms = self.now.data.terms.get(customer_id)
        if terms is None or self.everybody or customer_id in self.customers:
            return True
        if terms != self.before.data.terms.get(customer_id):
            return True
        return self._group(terms) or self._agreed(terms)

    def _group(self, terms: CustomerTerms) -> bool:
        group = (terms.price_list, terms.discount, terms.trade_account)
        if group not in self._groups:
            self._groups[group] = self._reaches(terms)
        return self._groups[group]

    def _reaches(self, terms: CustomerTerms) -> bool:
        """Return whether something changed of a product that the customer's list has a price for, or on the list."""
        if self.price_lists & {terms.price_list, DEFAULT_LIST} and len(self.noted.list_prices(terms.price_list)):
            return True
        rows = self._rows(terms)
        shared = self.now.data.book.lists.shared(terms.profile)
        return bool((shared.costs[rows, 0] != NO_PRICE).any())

    def _agreed(self, terms: CustomerTerms) -> bool:
        """Return whether something changed of a product with a contract price of the customer's."""
        rows = self._rows(terms)
        if not (len(rows) or self.new_day):
            return False
        prices = self.now.data.book.vector(terms.customer_id, terms.profile, self.now.day)
        agreed = prices.contract_rows
        if self.new_day and (len(agreed) or self.now.data.book.contracts.has_any(terms.customer_id)):
            return True
        return bool(are_among(rows, agreed).any())

    def _rows(self, terms: CustomerTerms) -> Rows:
        return np.concatenate((self.shown, self.delivered)) if terms.trade_account else self.shown


def concerns_of(before: Outlook, now: Outlook) -> Concerns | None:
    """Return what changed from one look at the storefront to the next; None if it may be anything."""
    if before.position is None or now.position is None or before.position.log != now.position.log:
        return None
    noted = Noted(now.data, now.journal, before.position, now.position)
    detail, everybody = noted.rows("catalogue", None)
    return Concerns(
        before=before,
        now=now,
        noted=noted,
        everybody=everybody,
        shown=np.concatenate((detail, noted.levels().rows)),
        delivered=noted.rows("deliveries", None)[0],
        price_lists=noted.subjects("prices"),
        customers=noted.subjects("contracts"),
        new_day=before.day != now.day,
    )


_LOOK_FOR_THE_END_SECONDS = 0.2


class _Waiting(Struct, eq=False):
    customer_id: int
    for_any: bool
    woken: asyncio.Future[None]

    def wake(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


class Followers:
    """The waiting requests of a process; `stopping` ends all waits.

    Waiting requests cost no query. What a refresh changed is found once, not once for each request.
    """

    def __init__(self, storefront: Storefront, stopping: asyncio.Event) -> None:
        self._storefront = storefront
        self._stopping = stopping
        self._waiting: set[_Waiting] = set()
        self._before: Outlook | None = None
        self._end: asyncio.Task[None] | None = None
        storefront.shown = self._look

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_ending(self) -> bool:
        """Whether the process stops."""
        return self._stopping.is_set()

    async def wait(self, customer_id: int, seconds: float, *, for_any: bool = False) -> None:
        """Wait for a refresh that may concern the customer, or `for_any`, for at most `seconds`.

        A caller that has looked at the storefront and not awaited anything since misses no refresh.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(customer_id, for_any, loop.create_future())
        self._waiting.add(waiting)
        if self._end is None or self._end.done():
            self._end = asyncio.create_task(self._wake_at_the_end(), context=Context())
        timer = loop.call_later(seconds, waiting.wake)
        try:
            await waiting.woken
        finally:
            timer.cancel()
            self._waiting.discard(waiting)

    def _look(self) -> None:
        """Wake the requests that the latest refresh may concern."""
        before, self._before = self._before, self._storefront.outlook()
        if not self._waiting:
            return
        concerns = None if before is None else concerns_of(before, self._before)
        is_quiet = concerns is not None and concerns.nobody
        for waiting in self._waiting:
            if waiting.for_any or concerns is None or (not is_quiet and concerns.customer(waiting.customer_id)):
                waiting.wake()

    async def _wake_at_the_end(self) -> None:
        """Wake all requests when the process stops, also while the database is away."""
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _LOOK_FOR_THE_END_SECONDS)
                break
        for waiting in self._waiting:
            waiting.wake()
