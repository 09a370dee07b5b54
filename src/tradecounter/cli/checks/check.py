"""The outcome of a check."""

from msgspec import Struct


class Check(Struct, frozen=True):
    """A check and its outcome; `remedy` says what to do about a problem."""

    name: str
    ok: bool
    message: str
    remedy: str | None = None


def fine(name: str, message: str) -> Check:
    """Return a check that found no problem."""
    return Check(name, ok=True, message=message)


def wrong(name: str, message: str, remedy: str) -> Check:
    """Return a check that found a problem."""
    return Check(name, ok=False, message=message, remedy=remedy)
