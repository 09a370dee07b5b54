"""Caps on a customer's pending orders and unpriced quotes.

More than `AT_ONCE` below the cap, creations share a lock of the customer and wait for nobody: `AT_ONCE` of them at a
time cannot exceed the cap. Nearer to it, each takes the lock alone, after those that share it, and counts again.
"""

from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.records import Kind as OrderKind

AT_ONCE = 64  # far more than one customer's requests are in the database at a time


def near_cap_from(kind: OrderKind, policy: OrderingPolicy, *, auto_confirm: bool) -> int | None:
    """Return the number of pending orders, or unpriced quotes, from which on a customer is near its cap.

    None for an order that is confirmed at once: it is never pending, and so has no cap.
    """
    return None if auto_confirm else policy.most_pending(kind) - AT_ONCE


def require_room(kind: OrderKind, policy: OrderingPolicy, count: int) -> None:
    """Raise DomainError (conflict) when a customer has as many pending orders, or unpriced quotes, as it may have."""
    most = policy.most_pending(kind)
    if count < most:
        return
    raise DomainError(
        Kind.CONFLICT,
        f"an account may have at most {most} pending orders at a time: confirm one, or wait until one expires"
        if kind == "order"
        else f"an account may have at most {most} quotes that wait for a price: wait until support has priced one",
    )
