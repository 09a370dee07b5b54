"""Chooses which e-mails a user gets of what happens to the company's orders and invoices."""

from collections.abc import Collection, Mapping
from datetime import datetime

from tradecounter.alerts.queries.chosen_alerts import AlertKind, choose_alerts, chosen_alerts_of
from tradecounter.alerts.queries.lock_alerts import lock_alerts
from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import UserRole

_FOR: Mapping[AlertKind, UserRole] = {"dispatched": "buyer", "invoices_due": "accounts"}


async def choose_emails(tx: Transaction, user: CustomerUser, kinds: Collection[AlertKind], now: datetime) -> None:
    """Store the e-mails that a user wants; the others end. What the user's roles do not show is left out."""
    await lock_alerts(tx, user.id)
    before = await chosen_alerts_of(tx, user.id)
    chosen = [kind for kind, role in _FOR.items() if kind in kinds and user.has_role(role)]
    if set(chosen) != before:
        await choose_alerts(tx, user.id, chosen, now)
        former, new = {"emails": sorted(before)}, {"emails": chosen}
        audit(tx, "user.choose_emails", f"user/{user.email}", now, before=former, after=new)
