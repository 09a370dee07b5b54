"""What an operation may declare, and errors that several operations declare."""

from typing import TypedDict

from tradecounter.edge.permissions import KeyScope
from tradecounter.edge.rest.headers import RETRY_AFTER
from tradecounter.edge.rest.operation import ErrorResponse, Link, Sample
from tradecounter.kit.errors import Code


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
