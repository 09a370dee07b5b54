"""The gate of pages: admits people with a session, rejects forms that another site sent, and checks roles."""

from collections.abc import Awaitable, Callable
from urllib.parse import quote, urlsplit

from msgspec import Struct
from starlette.requests import Request
from starlette.types import Scope
from structlog.contextvars import bind_contextvars

from tradecounter.access.sessions import recently_proven, require_unblocked, touch_session
from tradecounter.db.fair_shares import act_for
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.pages.operation import PageOperation, may_open, needed
from tradecounter.edge.pages.page_site import PageSite
from tradecounter.edge.pages.page_view import BASKET, HeaderBasket
from tradecounter.edge.people import CustomerUser, actor_of
from tradecounter.edge.rest.operation import Operation
from tradecounter.edge.session import SESSION, ElsewhereError, Session, session_of
from tradecounter.identity.admission import sender_of
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.sites.http.request_head import SAFE_METHODS
from tradecounter.sites.http.resource import Gate

BasketOf = Callable[[Transaction, CustomerUser], Awaitable[HeaderBasket | None]]


class SessionGate(Struct, Gate, frozen=True):
    """Admits people with a session, which each request looks up, so that an ended one admits nobody.

    `basket` returns the basket summary for the page header.
    """

    site: PageSite
    database: Database
    clock: Clock
    base_url: str | None
    basket: BasketOf | None = None

    async def admit(self, request: Request, operation: Operation) -> int | None:
        """Return the customer of a customer's user, None for staff.

        Raises ElsewhereError without a session, and DomainError (forbidden) for a form of another site, without the
        role, and while the customer is blocked.
        """
        if request.method not in SAFE_METHODS:
            self._require_own_form(request)
        session = await self._find(request)
        if session is not None:
            request.scope[SESSION] = session
            bind_contextvars(person=f"{self.site.name}/{session.person.id}")  # in all log lines of the request
        if isinstance(operation, PageOperation) and operation.signed_out:
            return None
        if session is None:
            if value := request.cookies.get(self.site.cookie):
                async with reading(self.database) as tx:
                    await require_unblocked(tx, value)
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
            raise RuntimeError("someone who has not signed in changes nothing")
        return actor_of(session.person, sender_of(scope).address)

    async def _find(self, request: Request) -> Session | None:
        value = request.cookies.get(self.site.cookie)
        if not value:
            return None
        async with transaction(self.database) as tx:
            session = await touch_session(tx, self.site.name, value, self.clock.now())
            if session is not None and self.basket is not None and isinstance(session.person, CustomerUser):
                request.scope[BASKET] = await self.basket(tx, session.person)
            return session

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


def _back_to(request: Request) -> str:
    """Return the address of a page without the host; of a form, without the query."""
    path: str = quote(request.scope["path"])
    query: str = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query and request.method in SAFE_METHODS else path
