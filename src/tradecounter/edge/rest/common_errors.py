"""The errors that an operation's other declarations imply, and those that several operations declare."""

from tradecounter.edge.rest.headers import RETRY_AFTER, WWW_AUTHENTICATE
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import ErrorResponse, Operation
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE
from tradecounter.kit.errors import Code

MALFORMED_HEAD = ErrorResponse(
    400, "The request's head is malformed.", "Host: must be at most 255 bytes long", counted=False
)
BAD_REQUEST = ErrorResponse(
    400,
    "The request is not valid; the message names the field.",
    "items[2].quantity: must be at least 1",
    name="BadRequest",
)
UNAUTHORIZED = ErrorResponse(
    401,
    "The credential is missing or invalid. The body is `{}`.",
    None,
    (WWW_AUTHENTICATE,),
    "Unauthorized",
    body=None,
    counted=False,
)
FORBIDDEN = ErrorResponse(
    403,
    "Your address is blocked for five minutes, after ten invalid credentials within one minute. Or the key lacks the "
    "scope (`scope_needed`), or may not be used from your address (`network_not_allowed`).",
    "too many invalid credentials came from your address: it is blocked for another 300 seconds",
    (RETRY_AFTER,),
    "Forbidden",
    counted=False,
)
SCOPE_MISSING = ErrorResponse(
    403,
    "The token lacks the scope, or your IP address is not allowed, or is blocked for five minutes after ten invalid "
    "credentials within one minute.",
    "this needs the scope orders:write",
    (RETRY_AFTER,),
    "Forbidden",
    code=Code.SCOPE_NEEDED,
    counted=False,
)
NOT_FOUND = ErrorResponse(
    404, "The object does not exist or is not yours.", "order ORD-100042 not found", name="NotFound"
)
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
TOO_LARGE = ErrorResponse(413, "The body is too long.", "the body is longer than 1048576 bytes", name="TooLarge")
QUERY_TOO_LONG = ErrorResponse(
    414,
    "The query is so long that the response's links do not fit into its headers, 16 KiB. The message has the limit.",
    "the query is too long: Link repeats it in up to 4 links, and a response has at most 16384 bytes of headers; the "
    "query may have 3478 bytes here, percent-encoded",
    name="QueryTooLong",
)
UNSUPPORTED_MEDIA_TYPE = ErrorResponse(
    415,
    "The body is not JSON, or is compressed (`Content-Encoding`).",
    "Content-Type: must be application/json, not text/plain",
    name="UnsupportedMediaType",
)
TOO_MANY_REQUESTS = ErrorResponse(
    429,
    f"Too many requests within five minutes. Wait for the number of seconds in `Retry-After`. {COUNTED_BY_SIZE}",
    "more than 3000 requests in 5 minutes: try again in 123 seconds",
    (RETRY_AFTER,),
    "TooManyRequests",
)
INTERNAL_ERROR = ErrorResponse(
    500,
    "An unexpected error. The message has the request id.",
    "unexpected error; quote request 3f1c9a0b5d7e2468 when you contact support",
    name="InternalError",
)
UNAVAILABLE = ErrorResponse(
    503,
    "The service is temporarily unavailable; try again.",
    "the service is temporarily unavailable; try again in 5 seconds",
    (RETRY_AFTER,),
    "Unavailable",
)


def errors_of(operation: Operation) -> list[ErrorResponse]:
    """Return all errors of an operation by status; those that it declares override the common ones."""
    reads_data = operation.query is not None or operation.body is not None or bool(operation.upload)
    errors = [BAD_REQUEST if reads_data else MALFORMED_HEAD, INTERNAL_ERROR]
    if any(header.name == "Link" for header in operation.success.headers) and operation.query is not None:
        errors.append(QUERY_TOO_LONG)
    if operation.body is not None and operation.body.media_type == JSON:
        errors += [TOO_LARGE, UNSUPPORTED_MEDIA_TYPE]
    if not operation.public:
        errors += [UNAUTHORIZED, SCOPE_MISSING if operation.scope else FORBIDDEN, UNAVAILABLE]
        if operation.rate_limited and not operation.scope:
            errors.append(TOO_MANY_REQUESTS)
    by_status = {error.status: error for error in (*errors, *operation.errors)}
    return [by_status[status] for status in sorted(by_status)]
