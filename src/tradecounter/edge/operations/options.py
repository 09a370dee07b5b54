"""What an operation may declare, its common errors, and the scopes of a request's service token."""

from collections.abc import Iterable
from typing import TypedDict

from starlette.requests import Request

from tradecounter.edge.permissions import KeyScope, includes
from tradecounter.edge.rest.headers import RETRY_AFTER
from tradecounter.edge.rest.operation import ErrorResponse, Link, Sample
from tradecounter.kit.errors import Code, DomainError, Kind


class Options(TypedDict, total=False):
    """What an operation says of itself where it differs from its subject; see `Operation`."""

    description: str
    errors: tuple[ErrorResponse, ...]
    links: tuple[Link, ...]
    referenced: tuple[type, ...]
    sample: Sample
    scope: str
    other_scopes: tuple[str, ...]
    roles: tuple[str, ...]
    cacheable: bool
    key_scopes: tuple[KeyScope, ...]


SCOPES = "tradecounter.scopes"  # the key in the ASGI scope


def token_has_scope(request: Request, scope: str) -> bool:
    """Return whether the service token of an admitted request has a scope."""
    held: Iterable[str] = request.scope[SCOPES]
    return includes(held, scope)


def require_token_scope(request: Request, scope: str) -> None:
    """Check that the service token of an admitted request has a scope. Raises DomainError (forbidden)."""
    if not token_has_scope(request, scope):
        raise missing_scope(scope)


def missing_scope(scope: str) -> DomainError:
    """Return the error of a request whose token lacks a scope."""
    return DomainError(Kind.FORBIDDEN, f"this needs the scope {scope}", code=Code.SCOPE_NEEDED)


CONFLICT = ErrorResponse(
    409,
    "The state forbids it; or a request with the same idempotency key is still being processed: then `Retry-After` "
    "says when to retry.",
    "ORD-100001 is already cancelled",
    (RETRY_AFTER,),
    "Conflict",
)
PRECONDITION_FAILED = ErrorResponse(
    412,
    "Something else must happen first: the order needs a shipping method, or the quote a price.",
    "the quote 0f8a3c5e7b9d1f2a4c6e8b0d2f4a6c8e is not priced yet: price it first",
    name="PreconditionFailed",
    code=Code.NOT_PRICED,
)
