"""Who sent a request: the session of a page and the rights of its person, or the scopes of a service token."""

from collections.abc import Iterable
from datetime import datetime
from urllib.parse import quote

from msgspec import Struct
from starlette.requests import Request
from starlette.types import Scope

from tradecounter.edge.people import Person, StaffMember
from tradecounter.edge.permissions import allows, includes, roles_of
from tradecounter.kit.errors import Code, DomainError, Kind

# The keys in the ASGI scope.
SESSION = "tradecounter.session"
SCOPES = "tradecounter.scopes"


class Session(Struct, frozen=True):
    """A sign-in of a person in a browser.

    `seen_at` is the last request, exact to a minute, and `proven_at` when the password or a code was last asked for.
    """

    id: int
    person: Person
    created_at: datetime
    seen_at: datetime
    proven_at: datetime
    address: str
    browser: str


class ElsewhereError(DomainError):
    """Another page must come first; the browser is sent there, and `next` in its query leads back."""

    def __init__(self, path: str, back_to: str) -> None:
        super().__init__(Kind.UNAUTHENTICATED, "sign in first")
        self.path = f"{path}?next={quote(back_to, safe='')}"


class KeptOutError(DomainError):
    """The person who is signed in may not open any page; the error page leads to the sign-in page."""

    def __init__(self, message: str) -> None:
        super().__init__(Kind.FORBIDDEN, message)


def session_of(scope: Scope) -> Session | None:
    """Return the session of a request, or None."""
    session: Session | None = scope.get(SESSION)
    return session


def has_right(request: Request, scope: str) -> bool:
    """Return whether the roles of the staff member who sent a request include a right, named by its scope."""
    session = session_of(request.scope)
    return session is not None and isinstance(session.person, StaffMember) and allows(session.person.roles, scope)


def require_right(request: Request, scope: str) -> None:
    """Check a right that not everybody who may open the page has. Raises DomainError (forbidden)."""
    if not has_right(request, scope):
        raise DomainError(Kind.FORBIDDEN, f"this needs the role {' or '.join(roles_of(scope))}", code=Code.SCOPE_NEEDED)


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
