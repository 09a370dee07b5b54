"""Confirming orders that send a mail, 16 in parallel: what would the job queue's notifications cost?

PostgreSQL commits transactions that notify one after another. The queue's trigger that notifies, which a migration
disables, is disabled and enabled in turns: for the product, which one worker limits, and for pgbench, which shows what
the database takes from many workers.
"""

import json
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench.kit.figures import Row, milliseconds, per_second
from bench.kit.http import request_text
from bench.kit.load import Load, Target, in_turns, middle, press, write_requests
from bench.kit.pgbench import transactions_per_second
from bench.kit.product import Server, serving
from bench.kit.reads import headers_of
from bench.kit.store import Store
from bench.kit.workbench import Workbench

Result = TypeVar("Result")

PARALLEL = 16

_ORDERS = Path(__file__).parents[1] / "orders.sql"
_CONFIRMATIONS = _ORDERS.with_name("confirmations.sql")
_MOST_PER_SECOND = 800  # confirmations to prepare: each is sent once
_CONTACT = {"email_address": "buyer@customers.example"}
_TRIGGER = b"procrastinate_jobs_notify_queue_job_inserted_v1"


def measure(bench: Workbench) -> list[Row]:
    """Measure the product, then pgbench, each without notifications and with them, in turns."""
    store = bench.copy_of(bench.small, "confirmations")
    each = _MOST_PER_SECOND * bench.seconds
    orders = _make_orders(store, each * 2 * bench.rounds + 1)
    numbers = iter(range(1, orders + 1))

    with serving(store.env, store.folder) as server:

        def product() -> Load:
            return _confirm(server, store, islice(numbers, each), bench.seconds)

        _confirm(server, store, islice(numbers, 1), 1)
        loads = in_turns(bench.rounds, product, lambda: _notifying(store, product))

    def database() -> float:
        return transactions_per_second(store, _CONFIRMATIONS, bench.seconds, clients=PARALLEL, orders=orders)

    rates = in_turns(bench.rounds, database, lambda: _notifying(store, database))
    return _rows(middle(loads[0]), middle(loads[1]), median(rates[0]), median(rates[1]))


def _make_orders(store: Store, wanted: int) -> int:
    """Make pending orders, with a contact for mails and codes by number; return how many there are."""
    with store.connect() as connection:
        made = 0
        while made < wanted:
            transactions_per_second(store, _ORDERS, 2, clients=PARALLEL)
            [(made,)] = connection.execute("select count(*) from orders where state = 'pending'").fetchall()
        connection.execute(
            """
            update orders o
            set confirmation_code = md5('confirm ' || p.n), customer_id = %s + p.n %% %s, order_notifications = %s
            from (select id, row_number() over (order by id) as n from orders where state = 'pending') p
            where o.id = p.id
            """,
            [min(store.customer_ids), len(store.customer_ids), json.dumps(_CONTACT)],
        )
        connection.execute("vacuum analyze orders")
    return made


def _confirm(server: Server, store: Store, numbers: Iterable[int], seconds: float) -> Load:
    """Confirm orders by number, each once; 16 at a time."""
    with store.connect() as connection:
        found = connection.execute(
            "select confirmation_code, customer_id from unnest(%s::bigint[]) n"
            " join orders on confirmation_code = md5('confirm ' || n)",
            [list(numbers)],
        ).fetchall()
    places = {customer: number for number, customer in enumerate(store.customer_ids)}
    requests = [request_text(f"/order/{code}", headers_of(places[customer]), method="PUT") for code, customer in found]
    target = Target(server.host, server.port, server.pid, write_requests(store.folder / "confirmations", requests))
    return press(target, seconds, connections=min(PARALLEL, len(requests)))


def _notifying(store: Store, measure: Callable[[], Result]) -> Result:
    """Measure with the queue's trigger enabled."""
    with store.connect() as connection:
        connection.execute(b"alter table procrastinate_jobs enable trigger " + _TRIGGER)
        try:
            return measure()
        finally:
            connection.execute(b"alter table procrastinate_jobs disable trigger " + _TRIGGER)


def _rows(without: Load, notifying: Load, database: float, database_notifying: float) -> list[Row]:
    return [
        Row(
            question="Confirmations with a mail",
            what="`PUT` confirmation, 16 in parallel, to the same with notifications",
            ratio=without.rate / notifying.rate,
            sound=without.failed == 0,
            ours=per_second(without.rate),
            limit=per_second(notifying.rate),
            p50=milliseconds(without.p50),
            p99=milliseconds(without.p99),
            note=f"{without.failed} failed; {without.rate / database:.2f} × pgbench with the same SQL; "
            f"with notifications median {milliseconds(notifying.p50)}, p99 {milliseconds(notifying.p99)}",
        ),
        Row(
            question="Confirmations with a mail",
            what="the same SQL in pgbench, to the same with notifications",
            ratio=database / database_notifying,
            ours=per_second(database),
            limit=per_second(database_notifying),
            note="what the database takes from 16 connections, however many workers there are",
        ),
    ]
