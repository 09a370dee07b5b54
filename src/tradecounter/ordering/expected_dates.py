"""Following the deliveries that back-orders wait for: new expected dates are stored, and the customer is told.

Decisions, shipping dates. An overdue delivery covers nothing. But a date that the customer knows stays until the day
has passed on which orders were to leave with it. On that day its units may not be in stock yet, and a mail about an
unknown date would be followed by the one about the dispatch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import msgspec
from psycopg.sql import SQL
from psycopg.types.json import Jsonb

from tradecounter.db.jobs import queue
from tradecounter.db.rows import execute, fetch_all
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import at_uk_time, uk_date
from tradecounter.ordering.records import OfferedShipping
from tradecounter.shipping.rules import shipping_dates
from tradecounter.shipping.working_days import next_working_day
from tradecounter.stock.rules import Cover

_MOST = 500  # orders that one transaction changes


@dataclass(frozen=True, slots=True)
class _Waiting:
    order_id: int
    known: bool
    last_delivery: datetime | None


@dataclass(frozen=True, slots=True)
class _Covers:
    """What covers each order by its id: by the deliveries of today and later, and by those of the last days as well."""

    strict: Mapping[int, Cover]
    lenient: Mapping[int, Cover]


@dataclass(frozen=True, slots=True)
class _Dated:
    id: int
    shipping_options: list[dict[str, Any]]
    shipping_method: int
    confirmed_at: datetime

    def changed_offers(self, covers: _Covers) -> list[OfferedShipping] | None:
        """Return the shipping options with their dates by what covers the order; None when the days stay the same."""
        offers = msgspec.convert(self.shipping_options, list[OfferedShipping])
        strict, lenient = (self._dated(offers, found[self.id]) for found in (covers.strict, covers.lenient))
        return None if self._days(offers) in (self._days(strict), self._days(lenient)) else strict

    def _dated(self, offers: Iterable[OfferedShipping], cover: Cover) -> list[OfferedShipping]:
        return [o.dated(shipping_dates(self.confirmed_at, o.cut_off, o.transit_days, cover)) for o in offers]

    def _days(self, offers: Iterable[OfferedShipping]) -> list[date | None]:
        moments = [o.dispatch for o in offers if o.id == self.shipping_method]
        return [None if moment is None else uk_date(moment) for moment in moments]


async def update_expected_dates(tx: Transaction, now: datetime) -> int:
    """Bring the expected dates of back-orders up to date; queue a mail about each change; return how many changed."""
    today = uk_date(now)
    covers = _Covers(await _covers(tx, today), await _covers(tx, _first_delivery_to_leave(today)))
    waiting = covers.strict.keys() & covers.lenient.keys()
    changed = [order.id for order in await _orders(tx, waiting) if order.changed_offers(covers) is not None]
    # Locked, and looked at again: another worker may do the same, or the order may have been cancelled.
    for order in await _orders(tx, changed[:_MOST], SQL("for no key update skip locked")):
        offers = order.changed_offers(covers)
        if offers is not None:
            await _store(tx, order.id, offers, now)
            await queue(tx, "mail_order_expected_date", order_id=order.id, changed=_whole_seconds(now))
    return len(changed[:_MOST])


def change_told_by(changed_at: datetime | None) -> int:
    """Return the `changed` argument of the mail about the latest change; 0 without any."""
    return 0 if changed_at is None else _whole_seconds(changed_at)


def _whole_seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def _first_delivery_to_leave(today: date) -> date:
    """Return the earliest day of a delivery with which orders leave today or later."""
    first = today
    while next_working_day(first - timedelta(days=1)) >= today:
        first -= timedelta(days=1)
    return first


async def _covers(tx: Transaction, first: date) -> dict[int, Cover]:
    """Return what covers the orders that wait for stock, of the deliveries of a UK date and later."""
    found = await fetch_all(
        tx,
        _Waiting,
        """
        with waiting as (
            select l.order_id, l.product_id,
                   sum(l.back_ordered) over (
                       partition by l.product_id order by o.confirmed_at, o.number, l.position
                   ) as needed
            from order_line l join orders o on o.id = l.order_id
            where l.back_ordered > 0 and o.state = 'confirmed'
        ), coming as (
            select product_id, expected_on,
                   sum(incoming) over (partition by product_id order by expected_on) as arrived
            from incoming_stock
            where expected_on >= %s and product_id in (select product_id from waiting)
        )
        select w.order_id, bool_and(c.expected_on is not null) as known, max(c.expected_on) as last_delivery
        from waiting w left join lateral (
            select min(expected_on) as expected_on from coming
            where coming.product_id = w.product_id and coming.arrived >= w.needed
        ) c on true
        group by w.order_id order by w.order_id
        """,
        [at_uk_time(first, time())],
    )
    return {w.order_id: Cover(w.known, w.last_delivery if w.known else None) for w in found}


async def _orders(tx: Transaction, order_ids: Iterable[int], lock: SQL | None = None) -> list[_Dated]:
    return await fetch_all(
        tx,
        _Dated,
        SQL(
            "select id, shipping_options, shipping_method, confirmed_at from orders"
            " where id = any(%s) and state = 'confirmed' order by id {}"
        ).format(lock or SQL("")),
        [list(order_ids)],
    )


async def _store(tx: Transaction, order_id: int, offers: list[OfferedShipping], now: datetime) -> None:
    await execute(
        tx,
        "update orders set shipping_options = %s, expected_changed_at = %s where id = %s",
        [Jsonb(msgspec.to_builtins(offers)), now, order_id],
    )
