"""The e-mail address that an order's mails go to."""

from typing import Protocol

from tradecounter.ordering.records import OrderRecord


class MailChoice(Protocol):
    """What an account has chosen about mails."""

    @property
    def email_address(self) -> str:
        """The login address."""
        ...

    @property
    def order_mails(self) -> bool:
        """Whether that address gets the mails of orders that name no address themselves."""
        ...


def named_contact(order: OrderRecord) -> str | None:
    """Return the e-mail address that an order names for its mails."""
    return (order.order_notifications or {}).get("email_address")


def order_contact(order: OrderRecord, account: MailChoice) -> str | None:
    """Return the address that an order names, or else the account's, if that gets order mails."""
    return named_contact(order) or (account.email_address if account.order_mails else None)
