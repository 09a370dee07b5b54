"""The credit overview as it stands on the wire (specification, section 2)."""

from msgspec import Struct

from tradecounter.rest.wire import Amount, LocalDateTime


class CreditOrderStatus(Struct):
    """An order with something left to pay."""

    total_cost: Amount
    total_paid: Amount
    total_due: Amount
    created_on: LocalDateTime
    due_on: LocalDateTime
    is_overdue: bool
    customer_reference: str
    order_reference: str


class CreditOverview(Struct):
    """What the account may owe, owes, and for what."""

    credit_limit: Amount
    total_outstanding: Amount
    available_credit: Amount
    outstanding_orders: list[CreditOrderStatus]
