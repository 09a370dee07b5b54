"""The scopes of a request's service token."""

from collections.abc import Iterable

from starlette.requests import Request

from tradecounter.edge.permissions import includes
from tradecounter.kit.errors import Code, DomainError, Kind

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
