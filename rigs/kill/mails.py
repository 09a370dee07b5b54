"""The mails of a trial: each arrived at least once, and a repeated one has the same Message-ID."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from email.message import EmailMessage
from typing import Any

from rigs.kill.ledger import Ledger, SoldOrder

_COUNTED = ("order-dispatched", "order-changed")
_SOMETIMES = ("payment-received",)  # none comes when the payment is reversed before


def faults_in_mails(mails: Iterable[tuple[Sequence[str], EmailMessage]], ledger: Ledger) -> dict[str, Any]:
    """Mails about orders with a recipient that are missing, or that nobody expected; of each, who got it."""
    arrived: defaultdict[str, set[str]] = defaultdict(set)
    for recipients, mail in mails:
        name = str(mail["Message-ID"]).lstrip("<").partition(".")[0]
        for recipient in recipients:
            arrived[recipient].add(name)
    faults: dict[str, Any] = {}
    for order in [each for each in ledger.orders if each.recipient]:
        found = arrived[order.recipient]
        named = {name for name in found if not name.startswith((*_COUNTED, *_SOMETIMES))}
        counts = {kind: sum(name.startswith(f"{kind}-{order.id}-") for name in found) for kind in _COUNTED}
        if named != _named(order) or counts != _counts(order):
            faults[f"mails about {order.reference}"] = {"expected": (_named(order), _counts(order)), "found": found}
    return faults


def _named(order: SoldOrder) -> set[str]:
    return {
        f"order-confirmed-{order.id}",
        *(f"order-invoiced-{number}" for number in order.invoices),
        *(f"credit-note-{number}" for number in order.credit_notes),
    }


def _counts(order: SoldOrder) -> dict[str, int]:
    changes = sum(line.cancelled > 0 for line in order.lines)
    return {"order-dispatched": len(order.shipments), "order-changed": changes}
