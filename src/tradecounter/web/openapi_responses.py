"""The interface document's refusals and response headers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tradecounter.rest.paging import COUNTED_BY_SIZE
from tradecounter.web.openapi_schemas import EMPTY, SCHEMAS

_HEADERS = "#/components/headers/"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status: its name among the components, what it means, a message as an example, and its headers."""

    name: str
    meaning: str
    example: str | None
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """A response header; `always`: it is on every response that names it."""

    meaning: str
    schema: dict[str, Any]
    example: Any
    always: bool = False


ERRORS = {
    400: Refusal(
        "BadRequest",
        "The request's data is wrong; the message names the field.",
        "items[2].quantity: must be at least 1",
    ),
    401: Refusal(
        "Unauthorized", "The credential is missing or not valid; the body is empty.", None, ("WWW-Authenticate",)
    ),
    402: Refusal(
        "PaymentRequired",
        "The account has no credit terms, or not enough available credit.",
        "the order's 557.88 including tax and shipping exceeds the available credit of 100.00",
    ),
    403: Refusal(
        "Forbidden",
        "Your address is blocked for five minutes, after ten invalid credentials within one.",
        "too many invalid credentials came from your address: it is blocked for another 300 seconds",
        ("Retry-After",),
    ),
    404: Refusal("NotFound", "Unknown, or not yours.", "order not found"),
    409: Refusal(
        "Conflict",
        "An earlier request with the same `Idempotency-Key` is still being processed: wait and repeat it. Or the "
        "account holds customer references to be unique, and this one was used already. Or the account has as many "
        "pending orders, or quotes that wait for a price, as it may have at a time: the message names the limit.",
        "customer_reference: 'PO-1001' is already used by ORD-100042",
        ("Retry-After",),
    ),
    410: Refusal(
        "Gone",
        "The pending order or the quote has expired, or was cancelled: create it again.",
        "the pending order has expired: create it again",
    ),
    412: Refusal(
        "PreconditionFailed",
        "Something has to come first: a shipping method, where none is given and the account has no default among the "
        "shipping options; support's price, on a quote; the invoice, which is not issued yet.",
        "shipping_method: is required, since the account has no default among the shipping options: "
        "101 (Northway Parcels, UK mainland economy), 102 (Northway Parcels, UK mainland next working day)",
    ),
    413: Refusal("TooLarge", "The body is too long.", "the body is longer than 1048576 bytes"),
    415: Refusal(
        "UnsupportedMediaType",
        "The body is not JSON, or is encoded (`Content-Encoding`).",
        "Content-Type: must be application/json, not text/plain",
    ),
    429: Refusal(
        "TooManyRequests",
        f"Too many requests in five minutes; wait as `Retry-After` says. {COUNTED_BY_SIZE}",
        "more than 3000 requests in 5 minutes: try again in 123 seconds",
        ("Retry-After",),
    ),
    500: Refusal(
        "InternalError",
        "An unexpected error; the message holds the request id.",
        "unexpected error; quote request 3f1c9a0b5d7e2468 when you ask support",
    ),
    503: Refusal(
        "Unavailable",
        "Temporarily unavailable; try again.",
        "the service is temporarily unavailable; try again in 5 seconds",
        ("Retry-After",),
    ),
}

# Where the body is an OAuth error (specification, section 4, `POST /oauth/token`).
OAUTH_ERRORS = {
    400: "There is no token, for a reason that `error` names; `invalid_grant`: the subject token is refused, "
    "and nobody is told why.",
    401: "The application is not authenticated.",
}

RATE = ("RateLimit", "RateLimit-Policy")
_NOT_COUNTED = {401, 403}  # these come before it is known whose requests to count

_COUNT = {"type": "integer", "format": "int64", "minimum": 0}
_TEXT = {"type": "string"}

HEADERS = {
    "X-Request-Id": Header(
        "The request's id: the client's own, if it is a sane token.", _TEXT, "3f1c9a0b5d7e2468", always=True
    ),
    "X-Total-Count": Header("Results after filtering.", _COUNT, 250, always=True),
    "X-Page": Header("This page, from 1.", {**_COUNT, "minimum": 1}, 2, always=True),
    "X-Limit": Header("Results on a page; 0: not paginated.", {**_COUNT, "maximum": 500}, 100, always=True),
    "X-Total-Pages": Header("Pages at this limit.", _COUNT, 3, always=True),
    "Link": Header(
        "Web links (RFC 8288); with pages: first, prev, next, last, whichever exist. With a query of more than about "
        "500 characters it leaves out links, next last; X-Total-Pages says where the pages end.",
        _TEXT,
        '<https://api.example/product?page=1&limit=100>; rel="first"',
    ),
    "Idempotent-Replay": Header(
        "On a replay: this is the recorded answer to an earlier request with the same key.",
        {"type": "string", "enum": ["true"]},
        "true",
    ),
    "ETag": Header("The answer's version; send it as `If-None-Match`.", _TEXT, '"9b2f1c"'),
    "RateLimit": Header("What is left of the rate limit, and for how long.", _TEXT, '"customer";r=2990;t=180'),
    "RateLimit-Policy": Header("The rate limit: requests in a window of seconds.", _TEXT, '"customer";q=3000;w=300'),
    "Cache-Control": Header(
        "Whether the answer may be kept; kept ones have to be asked about again.", _TEXT, "private, no-cache"
    ),
    "Content-Disposition": Header(
        "A name for the file; with CSV only for a browser, whose `Accept` names `text/html`.",
        _TEXT,
        'attachment; filename="invoice-10001.pdf"',
    ),
    "Vary": Header("The request headers that the answer depends on.", _TEXT, "Accept, Accept-Encoding"),
    "Retry-After": Header("Seconds to wait before another try.", {**_COUNT, "minimum": 1}, 300),
    "WWW-Authenticate": Header(
        "Which credential is wanted: Bearer, at the token endpoint Basic; and whether one was refused.",
        _TEXT,
        'Bearer error="invalid_token"',
        always=True,
    ),
}


def header_references(names: Iterable[str]) -> dict[str, Any]:
    """Return the headers of a response: those named, and the request's id."""
    return {name: {"$ref": _HEADERS + name} for name in ("X-Request-Id", *names)}


def error_responses(statuses: Iterable[int]) -> dict[str, Any]:
    """Return the components of refusals, by name."""
    return {ERRORS[status].name: _refusal(status) for status in sorted(statuses)}


def own_refusal(status: int, meaning: str) -> dict[str, Any]:
    """Return a refusal in words of an operation's own, otherwise like the component."""
    return {**_refusal(status), "description": meaning}


def malformed_head() -> dict[str, Any]:
    """Return the 400 of operations that have nothing else to refuse with it."""
    error = Refusal("MalformedHead", "The request's head is malformed.", "Host: must be at most 255 bytes long")
    return _described(error, ())


def used_headers(parts: Any) -> dict[str, Any]:
    """Return the components of those headers that parts of the document refer to."""
    used = set(_references(parts))
    return {
        name: {
            "description": header.meaning,
            "required": header.always,
            "schema": header.schema,
            "example": header.example,
        }
        for name, header in HEADERS.items()
        if _HEADERS + name in used
    }


def _refusal(status: int) -> dict[str, Any]:
    refusal = ERRORS[status]
    return _described(refusal, (*refusal.headers, *(() if status in _NOT_COUNTED else RATE)))


def _described(refusal: Refusal, headers: Iterable[str]) -> dict[str, Any]:
    # Only 401 has no message: its body is the empty object.
    body = {"schema": {"$ref": SCHEMAS + EMPTY}, "example": {}}
    if refusal.example is not None:
        body = {"schema": {"$ref": SCHEMAS + "Error"}, "example": {"message": refusal.example}}
    return {
        "description": refusal.meaning,
        "headers": header_references(headers),
        "content": {"application/json": body},
    }


def _references(part: Any) -> Iterable[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for inner in part.values():
            yield from _references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _references(inner)
