"""The demo's history: whole, consistent, and the same on every machine."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from support.cluster import Cluster
from support.importing import Importer
from support.service import MORNING, SETTINGS
from tradecounter.db.invariants import missing_invoices, wrong_credit, wrong_stock
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.demo.history.fill import Filled, fill_history
from tradecounter.demo.history.plan import plan
from tradecounter.demo.load import demo_customers, load_demo
from tradecounter.demo.people import demo_service_token, demo_staff
from tradecounter.edge.permissions import ROLES
from tradecounter.kit.clock import uk_date
from tradecounter.orders.rules import (
    AWAITING_DISPATCH,
    BACK_ORDERED,
    CANCELLED,
    COMPLETED,
    DISPATCHED,
    INVOICED,
    PART_DISPATCHED,
)

pytestmark = pytest.mark.long

Result = TypeVar("Result")
SECRET = "5" * 64
_STATUSES = (AWAITING_DISPATCH, BACK_ORDERED, PART_DISPATCHED, DISPATCHED, INVOICED, COMPLETED, CANCELLED)


def on(url: str, work: Callable[[Database], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        async with Database(url, connections=2) as database:
            return await work(database)

    return asyncio.run(run())


async def filled(database: Database) -> Filled | None:
    await load_demo(database, SETTINGS, MORNING)
    await demo_customers(database, SECRET, MORNING)
    await demo_staff(database, SECRET, MORNING)
    await demo_service_token(database, SECRET, MORNING)
    return await fill_history(database, SETTINGS, SECRET)


@pytest.fixture(scope="module")
def whole(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Importer:
    """A demo with its history."""
    done = on(database_url, filled)
    assert done is not None
    assert done.rejected == []
    return Importer(database_url, Path(tmp_path_factory.mktemp("history")))


def summary(demo: Importer) -> list[list[tuple[object, ...]]]:
    """What two demos have in common; an interrupted transaction may leave a gap in the order numbers."""
    return [
        demo.query("select rank() over (order by number), customer_reference, confirmation_code, state, status, gross,"
                   " paid, credited from orders order by id"),
        demo.query("select i.number, o.customer_reference, due_at, i.issued_at from invoice i"
                   " join orders o on o.id = i.order_id order by 1"),
        demo.query("select amount, received_on, reference, reversed_at from payment order by id"),
        demo.query("select url, type, count(*), sum(attempts) from webhook_delivery d"
                   " join webhook w on w.id = webhook_id group by 1, 2 order by 1, 2"),
        demo.query("select at, actor_name, action from audit_entry where actor_kind <> 'system' and at < %s"
                   " order by id",
                   MORNING - timedelta(hours=12)),
    ]  # fmt: skip


def test_a_plan_is_the_same_for_a_date_and_ends_yesterday() -> None:
    today = uk_date(MORNING)
    assert plan(today) == plan(today)
    moments = [happening.at for happening in plan(today)]
    assert moments == sorted(set(moments))
    assert uk_date(moments[-1]) == today - timedelta(days=1)
    assert uk_date(moments[0]) > today - timedelta(days=125)


@pytest.mark.parametrize("days", range(1, 8))
def test_a_plan_suits_every_day_of_the_week(days: int) -> None:
    later = plan(uk_date(MORNING) + timedelta(days=days))
    happenings = Counter(type(deed.step).__name__ for happening in later for deed in happening.deeds)
    for name in (
        "BankFile",
        "Bounced",
        "Blocked",
        "Promised",
        "Declined",
        "Expired",
        "Accepted",
        "Received",
        "GivenUp",
    ):
        assert happenings[name], name


def test_the_history_has_orders_in_every_state_and_status(whole: Importer) -> None:
    orders = Counter(whole.query("select kind, state from orders"))
    for kind in ("order", "quote"):
        for state in ("pending", "confirmed", "cancelled", "expired"):
            assert orders[kind, state] >= 2, (kind, state)
    assert 180 <= sum(orders.values()) <= 280
    statuses = Counter(status for (status,) in whole.query("select status from orders where number is not null"))
    assert all(statuses[status] >= 2 for status in _STATUSES), statuses
    assert (
        whole.one("select count(*) from orders where expected_changed_at is not null and status = 'Back-ordered'") >= 1
    )


def test_order_references_follow_from_the_plan(whole: Importer) -> None:
    numbers = [number for (number,) in whole.query("select number from orders where number is not null order by 1")]
    assert numbers == list(range(100_001, 100_001 + len(numbers)))
    planned = [happening.subject for happening in plan(uk_date(MORNING)) if happening.order is not None]
    placed = "select confirmation_code from orders where customer_reference ~ '^PO-' order by id"
    assert [code for (code,) in whole.query(placed)] == planned


def test_invoices_are_overdue_at_every_age(whole: Importer) -> None:
    ages = whole.query("select (%s::date - due_at::date) from invoice_balance where due > 0", uk_date(MORNING))
    found = Counter(0 if age <= 0 else min(4, 1 + (age - 1) // 30) for (age,) in ages)
    assert set(found) == {0, 1, 2, 3, 4}


def test_the_history_has_money_that_is_unallocated_and_money_that_went_back(whole: Importer) -> None:
    assert whole.one("select count(*) from account_balance where unallocated > 0") >= 2
    assert whole.one("select count(*) from payment where reversed_at is not null") == 1
    assert whole.one("select count(*) from credit_note") >= 4
    assert whole.one("select count(distinct state) from order_return") == 3


def test_customers_staff_and_programs_act_in_the_history(whole: Importer) -> None:
    kinds = {kind for (kind,) in whole.query("select distinct actor_kind from audit_entry")}
    assert kinds >= {"staff", "user", "token", "system"}
    members = {
        name for (name,) in whole.query("select distinct actor_name from audit_entry where actor_kind = 'staff'")
    }
    assert members == {f"{role}@reseller.example" for role in ROLES}
    assert whole.one("select count(*) from customer where blocked_at is not null") == 1
    assert whole.one("select count(*) from import_run where rolled_back_at is not null") == 1
    assert whole.one("select count(*) from order_note") >= 3


def test_webhooks_have_recorded_attempts_and_nothing_is_due(whole: Importer) -> None:
    assert Counter(state for (state,) in whole.query("select state from webhook")) == {"active": 2, "paused": 1}
    assert whole.one("select count(*) from webhook_delivery where delivered_at is not null") > 20
    assert whole.one("select count(*) from webhook_delivery where delivered_at is null and attempts > 1") > 1
    due = "select count(*) from webhook_delivery where next_attempt_at <= %s"
    assert whole.one(due, MORNING) == 0
    hosts = {
        url.split("/")[2].rpartition(":")[0] or url.split("/")[2] for (url,) in whole.query("select url from webhook")
    }
    assert hosts == {"127.0.0.1", "hooks.harbourline.invalid"}


def test_the_history_queues_no_email(whole: Importer) -> None:
    jobs = Counter(status for (status,) in whole.query("select status::text from procrastinate_jobs"))
    assert jobs["failed"] == 1
    assert jobs["todo"] <= 26  # those of the first orders and of the open request


def test_the_invariants_hold(whole: Importer) -> None:
    async def violations(database: Database) -> list[object]:
        async with reading(database) as tx:
            return [*await wrong_credit(tx), *await wrong_stock(tx), *await missing_invoices(tx)]

    assert on(whole.url, violations) == []


def test_an_interrupted_history_continues_and_is_the_same_as_another(whole: Importer, postgres: Cluster) -> None:
    async def interrupted(database: Database) -> None:
        filling = asyncio.create_task(filled(database))
        while cut_short.one("select count(*) from orders where customer_reference ~ '^PO-'") < 20:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        filling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await filling

    with postgres.database() as url:
        cut_short = Importer(url, Path("unused"))
        on(url, interrupted)
        done = whole.one("select count(*) from orders")
        assert cut_short.one("select count(*) from orders") < done
        assert on(url, filled) is not None
        assert summary(cut_short) == summary(whole)
        assert on(url, filled) is None
