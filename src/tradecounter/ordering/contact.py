"""The e-mail addresses that an order's mails go to."""

from tradecounter.customers.queries.accounts import Account
from tradecounter.ordering.states import OrderBase


def named_contact(order: OrderBase) -> str | None:
    """Return the e-mail address that an order names for its mails."""
    return None if order.order_notifications is None else order.order_notifications.email_address


def order_contact(order: OrderBase, account: Account) -> str | None:
    """Return the address that an order names, or else the account's, if that gets order mails."""
    return named_contact(order) or (account.email_address if account.order_mails else None)
