"""Checks of the event log, position by position: credit and stock held at each of them, and every job is done."""

from collections import Counter
from decimal import Decimal
from typing import Any

from failover.load import SKU, UNITS
from support.kill_trial import Trial
from support.orders import rows
from support.service import Service


def faults_in_history(service: Service, trial: Trial, customer_id: int) -> dict[str, Any]:
    """What is wrong at positions of the event log, and jobs that are not done."""
    return {
        **_faults_in_credit(service, customer_id),
        **_faults_in_stock(service, trial),
        **_faults_in_jobs(service),
    }


def _faults_in_credit(service: Service, customer_id: int) -> dict[str, Any]:
    """Positions at which the orders of a customer who never pays exceeded the limit."""
    [(limit,)] = rows(service, "select credit_limit from customer where id = %s", customer_id)
    log = rows(
        service,
        "select e.sequence, e.type, o.gross from event e join orders o on e.subject = 'order/' || o.id"
        " where e.customer_id = %s and e.type in ('order.confirmed', 'order.cancelled') order by e.sequence",
        customer_id,
    )
    owed, over = Decimal(0), []
    for sequence, type_, gross in log:
        owed += gross if type_ == "order.confirmed" else -gross
        if owed > limit:
            over.append((sequence, owed))
    return {"credit: exceeded at positions of the log": over} if over else {}


def _faults_in_stock(service: Service, trial: Trial) -> dict[str, Any]:
    """Positions at which more units had left than ever came."""
    came = Counter({SKU: UNITS, **trial.stock}) + trial.ledger.adjusted
    log = rows(
        service,
        "select sequence, item ->> 'sku', (item ->> 'quantity')::int from event, jsonb_array_elements(data -> 'items')"
        " as item where type = 'order.dispatched' and sequence > %s order by sequence",
        trial.first_sequence,
    )
    left: Counter[str] = Counter()
    over = []
    for sequence, sku, quantity in log:
        left[sku] += quantity
        if left[sku] > came[sku]:
            over.append((sequence, sku, left[sku]))
    return {"stock: more units left than came": over} if over else {}


def _faults_in_jobs(service: Service) -> dict[str, Any]:
    found = rows(service, "select id, task_name, status::text from procrastinate_jobs where status <> 'succeeded'")
    late = [job for job in found if job[2] != "todo"]
    return {"jobs: not done": late} if late else {}
