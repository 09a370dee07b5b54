"""The responses of billing, with examples (specification, section 2)."""

from decimal import Decimal
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


CREDIT = CreditOverview(
    credit_limit=Decimal("5000.00"),
    total_outstanding=Decimal("557.88"),
    available_credit=Decimal("4442.12"),
    outstanding_orders=[
        CreditOrderStatus(
            total_cost=Decimal("557.88"),
            total_paid=Decimal("0.00"),
            total_due=Decimal("557.88"),
            created_on="2026-06-16T09:12:44",
            due_on="2026-07-16T23:59:59",
            is_overdue=False,
            customer_reference="PO-1001",
            order_reference="ORD-100042",
        )
    ],
)
