"""Checks at each position of the event log that credit held and no more units had left than had come; and of jobs.

A worker deletes a job that is done, so one that was lost shows only in what it was to do: mails here, deliveries of
webhooks and numbers of events among the checks of trials.
"""

from decimal import Decimal
from typing import Any

from rigs.failover.load import PAID, SKU, UNITS
from support.orders import rows
from support.service import Service


def faults_in_history(service: Service, customer_id: int) -> dict[str, Any]:
    """What is wrong at positions of the event log, and jobs that are not done."""
    return {
        **_faults_in_credit(service, customer_id),
        **_faults_in_stock(service, customer_id),
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


def _faults_in_stock(service: Service, customer_id: int) -> dict[str, Any]:
    """Positions at which more of the few units had left than had come.

    The units of an order come in again only after it was paid, so those that are dispatched and not paid for are at
    most as many as there were at first.
    """
    log = rows(
        service,
        "select sequence, (item ->> 'quantity')::int from event, jsonb_array_elements(data -> 'items') as item"
        " where type = 'order.dispatched' and item ->> 'sku' = %s"
        " union all"
        " select e.sequence, -l.quantity from event e join payment p on e.subject = 'payment/' || p.id"
        " join orders o on o.customer_id = e.customer_id and o.customer_reference || %s = p.reference"
        " join order_line l on l.order_id = o.id where e.type = 'payment.recorded' and e.customer_id = %s"
        " order by 1",
        SKU,
        PAID,
        customer_id,
    )
    away, over = 0, []
    for sequence, quantity in log:
        away += quantity
        if away > UNITS:
            over.append((sequence, away))
    return {"stock: more units left than had come at positions of the log": over} if over else {}


def _faults_in_jobs(service: Service) -> dict[str, Any]:
    found = rows(service, "select id, task_name, status::text from procrastinate_jobs where status <> 'succeeded'")
    late = [job for job in found if job[2] != "todo"]
    return {"jobs: not done": late} if late else {}
