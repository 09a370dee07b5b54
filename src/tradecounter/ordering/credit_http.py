"""`GET /customer/credit`: here because what an account owes is its orders."""

from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.credit.exposure import outstanding_of
from tradecounter.credit.rules import due_at
from tradecounter.credit.wire import CreditOrderStatus, CreditOverview
from tradecounter.customers.accounts import find_account
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found
from tradecounter.kit.local_time import local_text
from tradecounter.kit.money import NOTHING
from tradecounter.ordering.queries import unpaid_orders
from tradecounter.ordering.records import OrderRecord
from tradecounter.rest.answers import answer
from tradecounter.rest.call import Call
from tradecounter.rest.operation import Answer, Operation, endpoint


@dataclass(frozen=True, slots=True)
class CreditEndpoints:
    """The credit overview's endpoint."""

    database: Database
    clock: Clock

    @endpoint(
        Operation(
            method="GET",
            path="/customer/credit",
            name="getCredit",
            tag="Account",
            summary="Your credit",
            description="The limit, what is owed, what is left, and the orders with something due.",
            answer=Answer(200, "The overview; without credit terms the limit is 0.", CreditOverview),
            errors=(401,),
        )
    )
    async def show_credit(self, call: Call) -> Response:
        """Answer `GET /customer/credit`."""
        async with reading(self.database) as tx:
            overview = await credit_overview(tx, call.customer_id, self.clock.now())
        return answer(overview)


async def credit_overview(tx: Transaction, customer_id: int, now: datetime) -> CreditOverview:
    """Return a customer's credit overview (specification, section 2)."""
    account = await find_account(tx, customer_id)
    if account is None:
        raise not_found("customer")
    outstanding = await outstanding_of(tx, customer_id)
    limit = account.credit_limit if account.credit_limit is not None else NOTHING
    orders = await unpaid_orders(tx, customer_id)
    return CreditOverview(
        credit_limit=limit,
        total_outstanding=outstanding,
        available_credit=limit - outstanding,
        outstanding_orders=[_order_status(order, now) for order in orders],
    )


def _order_status(order: OrderRecord, now: datetime) -> CreditOrderStatus:
    if order.confirmed_at is None or order.order_reference is None or order.term_days is None:
        raise ValueError("only confirmed orders are owed")
    due = due_at(order.confirmed_at, order.term_days)
    return CreditOrderStatus(
        total_cost=order.gross,
        total_paid=order.paid,
        total_due=order.gross - order.paid,
        created_on=local_text(order.confirmed_at),
        due_on=local_text(due),
        is_overdue=now > due,
        customer_reference=order.customer_reference,
        order_reference=order.order_reference,
    )
