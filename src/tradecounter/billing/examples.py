"""An example of the credit overview, for the interface document."""

from decimal import Decimal

from tradecounter.billing.wire import CreditOrderStatus, CreditOverview

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
