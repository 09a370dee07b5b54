"""The errors that back-office operations declare."""

from tradecounter.edge.rest.headers import RETRY_AFTER
from tradecounter.edge.rest.operation import ErrorResponse

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
    "Something else must happen first.",
    "not everything is dispatched: item 700001 (CV-320P) has 2 units left",
    name="PreconditionFailed",
)
