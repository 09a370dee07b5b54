"""Errors of requests, by kind: `web/errors.py` maps each kind to a status, the command line prints the message."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from typing import NamedTuple

MOST_FAULTS = 20  # in a response


class Kind(Enum):
    """The kinds of errors, independent of HTTP."""

    INVALID = auto()  # the request's data is wrong
    UNAUTHENTICATED = auto()  # the credential is missing or not valid
    PAYMENT_REQUIRED = auto()  # no credit, or not enough
    BLOCKED = auto()  # the address is blocked for a while
    FORBIDDEN = auto()  # the scope or the role is missing
    NOT_FOUND = auto()  # unknown, or another customer's
    CONFLICT = auto()  # conflicts with existing data
    GONE = auto()  # expired
    PRECONDITION_FAILED = auto()  # something else must happen first
    TOO_LARGE = auto()  # the body exceeds the limit
    UNSUPPORTED_MEDIA = auto()  # the body is not plain JSON
    TOO_MANY_REQUESTS = auto()  # over the rate limit
    UNAVAILABLE = auto()  # the database or another service is away


class Fault(NamedTuple):
    """A wrong field of a request and how to correct it; the field is empty for the body itself."""

    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}" if self.field else f"the body {self.problem}"


class DomainError(Exception):
    """An error whose message tells the client what to change; `faults` are the wrong fields.

    `retry_after` is the number of seconds to wait, where waiting helps.
    """

    def __init__(
        self, kind: Kind, message: str, *, retry_after: int | None = None, faults: Sequence[Fault] = ()
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        self.faults = faults


class OperatorError(Exception):
    """The environment is misconfigured; the message tells the operator what to change."""


def invalid(field: str, problem: str) -> DomainError:
    """Return the error for one field, with the message `field: problem`."""
    return invalid_fields([Fault(field, problem)])


def invalid_fields(faults: Sequence[Fault]) -> DomainError:
    """Return the error for several fields; its message names the first twenty."""
    more = len(faults) - MOST_FAULTS
    rest = f"; and {more} more" if more > 0 else ""
    return DomainError(Kind.INVALID, "; ".join(map(str, faults[:MOST_FAULTS])) + rest, faults=faults)


def require_text(field: str, text: str, longest: int) -> None:
    """Check that a text is not blank or too long. Raises DomainError (invalid)."""
    if not text.strip() or len(text) > longest:
        raise invalid(field, f"must have 1 to {longest} characters, not only white space")


class FaultCollector:
    """Collects the faults of a request, so that the client gets all of them in one response."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Run a block, and collect the faults of a DomainError that it raises."""
        try:
            yield
        except DomainError as error:
            if not error.faults:
                raise
            self.faults += error.faults

    def check(self) -> None:
        """Raise DomainError (invalid) with all collected faults, if any."""
        if self.faults:
            raise invalid_fields(self.faults)


def not_found(what: str) -> DomainError:
    """Return the error for something unknown or another customer's; clients cannot distinguish the two."""
    return DomainError(Kind.NOT_FOUND, f"{what} not found")
