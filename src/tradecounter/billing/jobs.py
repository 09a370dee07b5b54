"""The job that invoices dispatched units by itself, with the setting INVOICE_EACH_DISPATCH."""

import procrastinate

from tradecounter.billing.invoices import gross_to_invoice, issue_invoice
from tradecounter.db.jobs import JobName
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.kit.clock import Clock
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.queries.orders import find_order_by_id, lines_of
from tradecounter.orders.states import ConfirmedOrder

_NAME: JobName = "invoice_dispatch"
_RETRY = procrastinate.RetryStrategy(max_attempts=12, exponential_wait=2)  # for about two hours


def add_billing_jobs(app: procrastinate.App, database: Database, clock: Clock, letterhead: Letterhead) -> None:
    """Add the job to the queue. It does nothing for an order without anything to invoice."""

    @app.task(name=_NAME, retry=_RETRY, pass_context=False)
    async def invoice_dispatch(order_id: int) -> None:
        async with transaction(database) as tx:
            order = await find_order_by_id(tx, order_id)
            if not isinstance(order, ConfirmedOrder):
                return
            if await gross_to_invoice(tx, [order], await lines_of(tx, [order.id])):
                await issue_invoice(tx, order.name, letterhead, clock.now(), part=True)
