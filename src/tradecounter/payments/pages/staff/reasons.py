"""The reason that most lines of a bank file have in common, which a page says once for all of them."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct


class SharedReason(Struct, frozen=True):
    """Why several lines wait, and how many they are."""

    text: str
    count: int


def shared_reason(reasons: Iterable[str]) -> SharedReason | None:
    """Return the commonest reason, the first of several; None if no two lines have the same."""
    text, count = next(iter(Counter(reasons).most_common(1)), ("", 0))
    return SharedReason(text, count) if count > 1 else None
