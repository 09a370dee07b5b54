"""Checks of the event log: credit held at each position, no more units left than came in all, and every job is done.

A worker deletes a job that is done, so one that was lost shows only in what it was to do: mails here, deliveries of
webhooks and numbers of events among the checks of trials.
"""

from collections import Counter
from decimal import Decimal
from typing import Any

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
    """Positions at which the orders of a customer, less what was paid, exceeded the limit."""
    [(limit,)] = rows(service, "select credit_limit from customer where id = %s", customer_id)
    log = rows(
        service,
        "select e.sequence, e.type, coalesce(o.gross, p.amount) from event e"
        " left join orders o on e.subject = 'order/' || o.id left join payment p on e.subject = 'payment/' || p.id"
        " where e.customer_id = %s and e.type in ('order.confirmed', 'order.cancelled', 'payment.recorded')"
        " order by e.sequence",
        customer_id,
    )
    owed, over = Decimal(0), []
    for sequence, type_, amount in log:
        owed += amount if type_ == "order.confirmed" else -amount
        if owed > limit:
            over.append((sequence, owed))
    return {"credit: exceeded at positions of the log": over} if over else {}


def _faults_in_stock(service: Service, trial: Trial) -> dict[str, Any]:
    """Positions at which more units had left than ever came."""
    came = Counter(trial.stock) + trial.ledger.adjusted
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
