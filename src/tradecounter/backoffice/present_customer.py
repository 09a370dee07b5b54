"""Converts accounts to the back office's resource."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from tradecounter.backoffice.customer_wire import CustomerCredit, ResellerCustomer
from tradecounter.billing.queries.ledger import unallocated_by_customer
from tradecounter.billing.queries.lookup import overdue_by_customer
from tradecounter.credit.queries import outstanding_by_customer
from tradecounter.customers.queries.accounts import Account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.money import NOTHING


async def present_customer(tx: Transaction, account: Account, now: datetime) -> ResellerCustomer:
    """Return an account as the back office shows it."""
    [shown] = await present_customers(tx, [account], now)
    return shown


async def present_customers(tx: Transaction, accounts: Sequence[Account], now: datetime) -> list[ResellerCustomer]:
    """Return accounts as the back office shows them, with a fixed number of statements."""
    ids = [account.id for account in accounts]
    outstanding, overdue = await outstanding_by_customer(tx, ids), await overdue_by_customer(tx, ids, now)
    unallocated = await unallocated_by_customer(tx, ids)
    shown = []
    for account in accounts:
        limit, owed = account.credit_limit or NOTHING, outstanding.get(account.id, NOTHING)
        free = unallocated.get(account.id, NOTHING)
        credit = CustomerCredit(limit, owed, limit - owed, overdue.get(account.id, NOTHING), free)
        shown.append(ResellerCustomer(**asdict(account), credit=credit))
    return shown
