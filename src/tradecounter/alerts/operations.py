"""`/api/customer/{id}/alert`: what the users of a customer are told by e-mail."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from tradecounter.access.queries.people import fetch_user_of
from tradecounter.alerts.queries import Emails, UserAlerts, alerts_of_customer
from tradecounter.alerts.tell_users import choose_emails
from tradecounter.customers.operations.staff import ONE_CUSTOMER, CustomerId, UserId
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk, SinceParameters
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.common_errors import CONFLICT
from tradecounter.kit.errors import DomainError, Kind


class ChosenEmails(Struct):
    """The e-mails that a user wants; what the user's roles do not show is left out."""

    emails: Emails


_DESCRIBED: Mapping[type, Described] = {
    UserAlerts: Described(
        "The user's alerts.",
        UserAlerts(
            user_id=12,
            email="jo@harbourline.example",
            emails=["dispatched"],
            stock=["CV-320P"],
            prices=["New starter"],
        ),
        "Alerts",
    ),
    ChosenEmails: Described("", ChosenEmails(["dispatched"]), "Choice"),
}
_ALERTS = Subject(tag="Customers", read="customers:read", write="customers:write", described=_DESCRIBED)
_OF_CUSTOMER, _OF_USER = f"{ONE_CUSTOMER}/alert", f"{ONE_CUSTOMER}/user/{{user_id}}/alert"


class AlertOperations(Struct, frozen=True):
    """The endpoints of alerts."""

    desk: Desk

    @_ALERTS.shows(_OF_CUSTOMER, "The users with their alerts.")
    async def list_alerts(self, tx: Transaction, customer_id: CustomerId, query: SinceParameters) -> list[UserAlerts]:
        """What the users of a customer are told by e-mail.

        Users who have not chosen anything are listed too; disabled ones are not.
        """
        account = await fetch_account(tx, customer_id)
        return await alerts_of_customer(tx, account.id, changed_since=query.since)

    @_ALERTS.changes("PUT", _OF_USER, errors=(CONFLICT,))
    async def choose_emails(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, user_id: UserId, body: ChosenEmails
    ) -> UserAlerts:
        """Choose the e-mails of a user."""
        user = await fetch_user_of(tx, customer_id, user_id)
        await choose_emails(tx, user, body.emails, now)
        user_alerts = await alerts_of_customer(tx, customer_id, user_id)
        if not user_alerts:
            raise DomainError(Kind.CONFLICT, f"{user.email} is disabled")
        return user_alerts[0]
