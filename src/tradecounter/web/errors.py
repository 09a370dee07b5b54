"""The one table from kinds of refusal to statuses, and the responses to everything that can go wrong."""

import psycopg
import structlog
from psycopg.errors import LockNotAvailable
from psycopg_pool import PoolTimeout
from starlette.requests import Request
from starlette.responses import Response

from tradecounter.db.pipeline import OutdatedStatementError
from tradecounter.identity.credentials import MissingCredentialError
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.rest.answers import answer, refusal

log = structlog.get_logger()

STATUS = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.PAYMENT_REQUIRED: 402,
    Kind.BLOCKED: 403,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.GONE: 410,
    Kind.PRECONDITION_FAILED: 412,
    Kind.TOO_LARGE: 413,
    Kind.UNSUPPORTED_MEDIA: 415,
    Kind.TOO_MANY_REQUESTS: 429,
    Kind.UNAVAILABLE: 503,
}

# The last one is the answer of a standby, before another database has taken over.
_DATABASE_AWAY = (psycopg.OperationalError, PoolTimeout, psycopg.errors.ReadOnlySqlTransaction)
_EVENTS = {
    LockNotAvailable: "waited too long for a lock",
    OutdatedStatementError: "the schema changed under a prepared statement",
}
_RETRY_SECONDS = "5"


def response_to(error: Exception, request: Request, request_id: str) -> Response:
    """Return the response to an error; faults of ours are logged with their cause."""
    if isinstance(error, DomainError):
        return _refused(error)
    if isinstance(error, _DATABASE_AWAY):
        event = next((event for kind, event in _EVENTS.items() if isinstance(error, kind)), "database away")
        log.error(event, path=request.url.path, error=type(error).__name__, reason=str(error).strip())
        return refusal(
            f"the service is temporarily unavailable; try again in {_RETRY_SECONDS} seconds",
            503,
            {"Retry-After": _RETRY_SECONDS},
        )
    log.error("unexpected error", method=request.method, path=request.url.path, exc_info=error)
    return refusal(f"unexpected error; quote request {request_id} when you contact support", 500)


def _refused(error: DomainError) -> Response:
    status = STATUS[error.kind]
    if error.kind is Kind.UNAUTHENTICATED:
        challenge = "Bearer" if isinstance(error, MissingCredentialError) else 'Bearer error="invalid_token"'
        return answer({}, status, {"WWW-Authenticate": challenge})
    headers = None if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    return refusal(error.message, status, headers, error.faults)
