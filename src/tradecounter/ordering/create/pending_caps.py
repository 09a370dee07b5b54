"""Caps on a customer's pending orders and unpriced quotes.

While all connections that the database allows could not exceed the cap together, creations share a lock of the customer
and do not wait for each other. Nearer to the cap, each takes the lock alone, after those that share it, and counts
again.
"""

from tradecounter.kit.errors import DomainError
from tradecounter.kit.errors import Kind as ErrorKind
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.states import Kind


def cap_of(kind: Kind, policy: OrderingPolicy, *, auto_confirm: bool) -> int | None:
    """Return how many pending orders, or unpriced quotes, a customer may have at a time.

    None for an order that is confirmed at once: it is never pending.
    """
    return None if auto_confirm else policy.most_pending(kind)


def require_room(kind: Kind, policy: OrderingPolicy, count: int) -> None:
    """Raise DomainError (conflict) when a customer has as many pending orders, or unpriced quotes, as it may have."""
    most = policy.most_pending(kind)
    if count < most:
        return
    raise DomainError(
        ErrorKind.CONFLICT,
        f"an account may have at most {most} pending orders at a time: confirm one, or wait until one expires"
        if kind == "order"
        else f"an account may have at most {most} quotes that wait for a price: wait until support has priced one",
    )
