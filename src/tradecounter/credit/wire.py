"""The credit overview as it stands on the wire (specification, section 2)."""

from decimal import Decimal

from msgspec import Struct

from tradecounter.catalogue.wire import LocalDateTime


class CreditOrderStatus(Struct):
    """An order with something left to pay."""

    total_cost: Decimal
    total_paid: Decimal
    total_due: Decimal
    created_on: LocalDateTime
    due_on: LocalDateTime
    is_overdue: bool
    customer_reference: str
    order_reference: str


class CreditOverview(Struct):
    """What the account may owe, owes, and for what."""

    credit_limit: Decimal
    total_outstanding: Decimal
    available_credit: Decimal
    outstanding_orders: list[CreditOrderStatus]
