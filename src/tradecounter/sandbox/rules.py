"""How orders of a sandbox live: when their next step is due, and what their references ask for."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

Wish = Literal["back-order", "cancel", "slow", "unpaid"]
IN_TRANSIT = "In transit"
DELIVERED = "Delivered"
SLOWER = 10  # times
SUPPLIED_AFTER = 3  # steps, in which an order waits for stock

_WISH = re.compile(r"\bsandbox-(back-order|cancel|slow|unpaid)\b", re.IGNORECASE)


def wishes_of(reference: str) -> set[str]:
    """Return what a customer's reference asks for, such as `PO-1 sandbox-slow`."""
    return {found.lower() for found in _WISH.findall(reference)}


def pace_of(reference: str, pace: timedelta) -> timedelta:
    """Return the time between two steps of an order."""
    return pace * SLOWER if "slow" in wishes_of(reference) else pace


def next_sighting(latest: Sequence[str | None]) -> str | None:
    """Return what the courier reports next of shipments, by the type of the last report of each; None at the end."""
    if any(each is None for each in latest):
        return IN_TRANSIT
    return DELIVERED if any(each != DELIVERED for each in latest) else None
