"""Admits people to pages: by the session in the site's cookie, and by their roles."""

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.types import Scope
from structlog.contextvars import bind_contextvars

from tradecounter.access.people import actor_of
from tradecounter.access.permissions import allows
from tradecounter.access.queries.staff import StaffMember
from tradecounter.access.queries.users import CustomerUser
from tradecounter.access.sessions import Session, find_session, recently_proven
from tradecounter.db.fair_shares import act_for
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.identity.admission import sender_of
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.pages.operation import PageOperation, may_open, needed
from tradecounter.pages.page_site import PageSite
from tradecounter.rest.operation import Operation

_SESSION = "tradecounter.session"  # the key in the ASGI scope
_SAFE = {"GET", "HEAD"}


class ElsewhereError(DomainError):
    """Another page must come first, to which the browser is sent; `next` in its query leads back."""

    def __init__(self, path: str, back_to: str) -> None:
        super().__init__(Kind.UNAUTHENTICATED, "sign in first")
        self.path = f"{path}?next={quote(back_to, safe='')}"


@dataclass(frozen=True, slots=True)
class SessionGate:
    """Admits people with a session, which is looked up each time: one that ends is over at once."""

    site: PageSite
    database: Database
    clock: Clock
    base_url: str | None

    async def admit(self, request: Request, operation: Operation) -> int | None:
        """Return the customer of a customer's user, None for staff.

        Raises ElsewhereError without a session, and DomainError (forbidden) for a form of another site and without
        the role.
        """
        if request.method not in _SAFE:
            self._require_own_form(request)
        session = await self._find(request)
        if session is not None:
            request.scope[_SESSION] = session
            bind_contextvars(person=f"{self.site.name}/{session.person.id}")  # in all log lines of the request
        if isinstance(operation, PageOperation) and operation.signed_out:
            return None
        if session is None:
            raise ElsewhereError(self.site.sign_in, _back_to(request))
        if not may_open(session.person, operation):
            raise DomainError(Kind.FORBIDDEN, needed(operation))
        if (
            isinstance(operation, PageOperation)
            and operation.dangerous
            and not recently_proven(session, self.clock.now())
        ):
            raise ElsewhereError(self.site.ask_again, _back_to(request))
        if not isinstance(session.person, CustomerUser):
            return None
        act_for(session.person.customer_id)
        return session.person.customer_id

    def actor_of(self, scope: Scope) -> Actor:
        """Return the person of an admitted request. Raises RuntimeError without a session."""
        session = session_of(scope)
        if session is None:
            raise RuntimeError("somebody who has not signed in changes nothing")
        return actor_of(session.person, sender_of(scope).address)

    def count_more(self, request: Request, customer_id: int, requests: int) -> None:
        """Do nothing: pages have no rate limit."""

    async def _find(self, request: Request) -> Session | None:
        value = request.cookies.get(self.site.cookie)
        if not value:
            return None
        async with transaction(self.database) as tx:
            return await find_session(tx, self.site.name, value, self.clock.now())

    def _require_own_form(self, request: Request) -> None:
        """Check against CSRF that a form was sent by a page of this site. Raises DomainError (forbidden)."""
        fetched = request.headers.get("sec-fetch-site")
        if fetched is not None:
            own = fetched in {"same-origin", "none"}
        else:
            address = urlsplit(self.base_url or str(request.base_url))
            own = request.headers.get("origin") == f"{address.scheme}://{address.netloc}"
        if not own:
            raise DomainError(Kind.FORBIDDEN, "this form was sent by another site; open it here and send it again")


def session_of(scope: Scope) -> Session | None:
    """Return the session of a request, or None."""
    session: Session | None = scope.get(_SESSION)
    return session


def has_right(request: Request, scope: str) -> bool:
    """Return whether the roles of the member of staff who sent a request include a right, named by its scope."""
    session = session_of(request.scope)
    return session is not None and isinstance(session.person, StaffMember) and allows(session.person.roles, scope)


def require_right(request: Request, scope: str) -> None:
    """Check a right that only some who may open the page have. Raises DomainError (forbidden)."""
    if not has_right(request, scope):
        raise DomainError(Kind.FORBIDDEN, f"this needs the right {scope}")


def _back_to(request: Request) -> str:
    """Return the address of a page without the host; of a form, without the query."""
    path: str = quote(request.scope["path"])
    query: str = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query and request.method in _SAFE else path
