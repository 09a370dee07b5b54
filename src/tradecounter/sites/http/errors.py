"""Maps errors to responses: the table from error kinds to statuses, and the middleware that uses it."""

from functools import partial

import structlog
from psycopg.errors import DiskFull, LockNotAvailable
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradecounter.db.pipeline import CommitInDoubtError, OutdatedStatementError
from tradecounter.db.pool import DATABASE_AWAY
from tradecounter.edge.rest.responses import STATUS, Failure, error_page_of, error_response, json_response
from tradecounter.edge.server.hints import with_routes
from tradecounter.identity.credentials import MissingCredentialError
from tradecounter.kit.errors import Code, DomainError, Kind
from tradecounter.kit.tasks import Seldom
from tradecounter.sites.http.request_context import logged_path, note_error, request_id_of, require_readable
from tradecounter.sites.http.request_head import SAFE_METHODS

log = structlog.get_logger()

_EVENTS = {
    LockNotAvailable: "waited too long for a lock",
    OutdatedStatementError: "the schema changed under a prepared statement",
    CommitInDoubtError: "a commit was not confirmed",
}
_RETRY_SECONDS = "5"
_UNAVAILABLE = 503


class ErrorMiddleware:
    """The innermost middleware: converts every error of the application to a response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._outages = Seldom()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application; send a response for any error."""
        if scope["type"] == "http":
            await self._call(self._app, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def response(self, error: Exception, request: Request) -> Response:
        """Return the response for an error of a request."""
        note_error(request.scope, _code(error), _reason(error))
        return response_to(error, request, request_id_of(request.scope), self._outages)

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return another application that gets a response for any error."""
        return partial(self._call, app)

    async def _call(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_noted(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            require_readable(scope)
            await app(scope, receive, send_noted)
        except ClientDisconnect:
            raise
        except Exception as error:
            if started:  # the response has begun: the connection must be closed
                raise
            await self.response(error, Request(scope, receive))(scope, receive, send)


def response_to(error: Exception, request: Request, request_id: str, outages: Seldom) -> Response:
    """Return the response for an error: JSON, or the request's error page.

    Logs unexpected errors with their traceback; that the database is away, only when `outages` says so.
    """
    failure = _failure(error, request, request_id, outages)
    if (page := error_page_of(request.scope)) is not None:
        return page(request, failure)
    if isinstance(error, DomainError):
        if error.kind is Kind.UNAUTHENTICATED:
            challenge = "Bearer" if isinstance(error, MissingCredentialError) else 'Bearer error="invalid_token"'
            return json_response({}, failure.status, {"WWW-Authenticate": challenge})
        message, errors = with_routes(request.url.path, failure.message, error.field_errors)
        return error_response(message, error.code, failure.status, failure.headers, errors)
    return error_response(failure.message, _code(error), failure.status, failure.headers)


def _code(error: Exception) -> Code:
    if isinstance(error, DomainError):
        return error.code
    return Code.UNAVAILABLE if isinstance(error, DATABASE_AWAY) else Code.INTERNAL_ERROR


def _reason(error: Exception) -> str | None:
    """Return why a request is rejected, if its status has several reasons."""
    if isinstance(error, DomainError):
        return "blocked" if error.kind is Kind.BLOCKED else None
    return "database_away" if isinstance(error, DATABASE_AWAY) else None


def _failure(error: Exception, request: Request, request_id: str, outages: Seldom) -> Failure:
    if isinstance(error, DomainError):
        headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
        return Failure(STATUS[error.kind], error.message, error, headers)
    if isinstance(error, DATABASE_AWAY):
        _log_away(error, request, outages)
        message = f"the service is temporarily unavailable; try again in {_RETRY_SECONDS} seconds"
        if isinstance(error, DiskFull):
            message = f"the service cannot make changes at the moment; try again in {_RETRY_SECONDS} seconds"
        if isinstance(error, CommitInDoubtError) and request.method not in SAFE_METHODS:
            message = (
                "the change may have been carried out: the database did not confirm it; repeat the request with the "
                f"same Idempotency-Key, or quote request {request_id} when you contact support"
            )
        return Failure(_UNAVAILABLE, message, error, {"Retry-After": _RETRY_SECONDS})
    log.error("unexpected error", method=request.method, path=logged_path(request), exc_info=error)
    return Failure(500, f"unexpected error; quote request {request_id} when you contact support", error)


def _log_away(error: Exception, request: Request, outages: Seldom) -> None:
    """Log why a request gets 503: one line for an outage, not one for each request."""
    facts = {"path": logged_path(request), "error": type(error).__name__, "reason": str(error).strip()}
    event = next((event for kind, event in _EVENTS.items() if isinstance(error, kind)), None)
    if event is not None:
        log.error(event, **facts)
    elif not isinstance(error, DiskFull) and outages.is_due():  # a full disk is logged where it is noticed
        log.warning("database away", **facts, more_requests=outages.left_out)
