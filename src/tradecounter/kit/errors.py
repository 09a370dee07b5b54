"""What can be wrong with a request, by kind.

    DomainError
    ├── kind = INVALID               the request's data is wrong
    ├── kind = UNAUTHENTICATED       no credential, or not a good one
    ├── kind = PAYMENT_REQUIRED      no credit, or not enough
    ├── kind = BLOCKED               the address is shut out for a while
    ├── kind = NOT_FOUND             unknown, or somebody else's
    ├── kind = CONFLICT              collides with what is there
    ├── kind = GONE                  was there, has expired
    ├── kind = PRECONDITION_FAILED   something has to happen first
    ├── kind = TOO_LARGE             the body exceeds the limit
    ├── kind = UNSUPPORTED_MEDIA     the body is not plain JSON
    ├── kind = TOO_MANY_REQUESTS     over the rate limit
    └── kind = UNAVAILABLE           the database, or another service that is needed, is away

The web layer maps each kind to a status in one table; the command line prints the message.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from typing import NamedTuple

MOST_FAULTS = 20  # that a response names


class Kind(Enum):
    """The kinds of refusal, independent of HTTP."""

    INVALID = auto()
    UNAUTHENTICATED = auto()
    PAYMENT_REQUIRED = auto()
    BLOCKED = auto()
    NOT_FOUND = auto()
    CONFLICT = auto()
    GONE = auto()
    PRECONDITION_FAILED = auto()
    TOO_LARGE = auto()
    UNSUPPORTED_MEDIA = auto()
    TOO_MANY_REQUESTS = auto()
    UNAVAILABLE = auto()


class Fault(NamedTuple):
    """One field of a request that is wrong, and what would be right; the field is empty for the body itself."""

    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}" if self.field else f"the body {self.problem}"


class DomainError(Exception):
    """A refusal whose message tells the caller what to change.

    `retry_after` is the number of seconds to wait, where waiting helps; `faults` are the fields that are wrong.
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
    """Something around the service is not as it has to be; the message tells the person who runs it what to change."""


def invalid(field: str, problem: str) -> DomainError:
    """Return the refusal of one field, worded `field: problem`."""
    return invalid_fields([Fault(field, problem)])


def invalid_fields(faults: Sequence[Fault]) -> DomainError:
    """Return the refusal of several fields. Its message names the first twenty."""
    more = len(faults) - MOST_FAULTS
    rest = f"; and {more} more" if more > 0 else ""
    return DomainError(Kind.INVALID, "; ".join(map(str, faults[:MOST_FAULTS])) + rest, faults=faults)


def require_text(field: str, text: str, longest: int) -> None:
    """Raise DomainError (invalid) for a text that is blank or too long."""
    if not text.strip() or len(text) > longest:
        raise invalid(field, f"must have 1 to {longest} characters, not only white space")


class FaultCollector:
    """Collects what is wrong with a request, so that the caller learns of everything at once."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Run a block and keep the faults of the refusal that ends it, if any."""
        try:
            yield
        except DomainError as error:
            if not error.faults:
                raise
            self.faults += error.faults

    def check(self) -> None:
        """Raise DomainError (invalid) with all faults that were collected."""
        if self.faults:
            raise invalid_fields(self.faults)


def not_found(what: str) -> DomainError:
    """Return the refusal of something unknown or foreign: the two are the same to the caller."""
    return DomainError(Kind.NOT_FOUND, f"{what} not found")
