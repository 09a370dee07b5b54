"""The responses of billing (specification, section 2)."""

from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.kit.wire import Amount, LocalDateTime


class CreditOrderStatus(Struct):
    """An order that is not fully paid."""

    total_cost: Amount
    total_paid: Amount
    total_due: Amount
    created_on: LocalDateTime
    due_on: LocalDateTime
    is_overdue: Annotated[bool, Meta(description="Whether `due_on` has passed.")]
    customer_reference: Annotated[str, Meta(description="Your own reference.")]
    order_reference: Annotated[str, Meta(description="The order reference.")]


class CreditOverview(Struct):
    """The account's credit limit and its debts by order."""

    credit_limit: Amount
    total_outstanding: Amount
    available_credit: Amount
    outstanding_orders: Annotated[list[CreditOrderStatus], Meta(description="The orders that are not fully paid.")]
