"""The outcome of a check."""

from msgspec import Struct


class Check(Struct, frozen=True):
    """What was checked and found; `remedy` says what to do when something is wrong."""

    name: str
    ok: bool
    message: str
    remedy: str | None = None


def fine(name: str, message: str) -> Check:
    """Return the outcome of a check that found nothing wrong."""
    return Check(name, ok=True, message=message)


def wrong(name: str, message: str, remedy: str) -> Check:
    """Return the outcome of a check that found something wrong."""
    return Check(name, ok=False, message=message, remedy=remedy)
