"""The result of a check of `tradecounter doctor`."""

from msgspec import Struct


class Check(Struct, frozen=True):
    """A check's result; `remedy` says how to correct a problem."""

    name: str
    ok: bool
    message: str
    remedy: str | None = None


def fine(name: str, message: str) -> Check:
    """Return the result of a check without a problem."""
    return Check(name, ok=True, message=message)


def wrong(name: str, message: str, remedy: str) -> Check:
    """Return the result of a check with a problem."""
    return Check(name, ok=False, message=message, remedy=remedy)
