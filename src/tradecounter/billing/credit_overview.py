"""What an account may owe, owes, and for what (specification, section 2; decisions, credit overview)."""

from datetime import datetime

from tradecounter.billing.queries import Debt, debts_of
from tradecounter.billing.wire import CreditOrderStatus, CreditOverview
from tradecounter.credit.exposure import outstanding_of
from tradecounter.credit.rules import due_at
from tradecounter.customers.accounts import find_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.kit.local_time import local_text
from tradecounter.kit.money import NOTHING


async def credit_overview(tx: Transaction, customer_id: int, now: datetime) -> CreditOverview:
    """Return a customer's credit overview; without credit terms the limit is 0."""
    account = await find_account(tx, customer_id)
    if account is None:
        raise not_found("customer")
    outstanding = await outstanding_of(tx, customer_id)
    limit = account.credit_limit if account.credit_limit is not None else NOTHING
    debts = await debts_of(tx, customer_id)
    return CreditOverview(
        credit_limit=limit,
        total_outstanding=outstanding,
        available_credit=limit - outstanding,
        outstanding_orders=[order_status(debt, now) for debt in debts],
    )


def order_status(debt: Debt, now: datetime) -> CreditOrderStatus:
    """Return a debt as the overview's row; until there is an invoice, the term counts from the confirmation."""
    due_on = debt.due_at or due_at(debt.confirmed_at, debt.term_days)
    total_due = debt.gross - debt.paid
    return CreditOrderStatus(
        total_cost=debt.gross,
        total_paid=debt.paid,
        total_due=total_due,
        created_on=local_text(debt.confirmed_at),
        due_on=local_text(due_on),
        is_overdue=total_due > NOTHING and now > due_on,
        customer_reference=debt.customer_reference,
        order_reference=debt.order_reference,
    )
