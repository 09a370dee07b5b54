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

from enum import Enum, auto


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


class DomainError(Exception):
    """A refusal whose message tells the caller what to change; `retry_after` are seconds to wait, where that helps."""

    def __init__(self, kind: Kind, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after


class OperatorError(Exception):
    """Something around the service is not as it has to be; the message tells the person who runs it what to change."""


def invalid(field: str, problem: str) -> DomainError:
    """Return the refusal of one field, worded `field: problem`."""
    return DomainError(Kind.INVALID, f"{field}: {problem}")


def not_found(what: str) -> DomainError:
    """Return the refusal of something unknown or foreign: the two are the same to the caller."""
    return DomainError(Kind.NOT_FOUND, f"{what} not found")
