"""The commonest reason of lines of bank files, which a page says once for all lines that have it."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct


class SharedReason(Struct, frozen=True):
    """A reason that several lines have, and how many they are."""

    text: str
    count: int


def shared_reason(reasons: Iterable[str]) -> SharedReason | None:
    """Return the commonest reason, the first of several; None if no two lines have the same."""
    text, count = next(iter(Counter(reasons).most_common(1)), ("", 0))
    return SharedReason(text, count) if count > 1 else None
