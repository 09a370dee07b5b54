"""Headers that several slices declare, and those of deprecated operations."""

from datetime import UTC, date, datetime, time
from email.utils import format_datetime

from starlette.responses import Response

from tradecounter.edge.rest.idempotency import IDEMPOTENCY_HEADER, LONGEST_KEY, REPLAY_HEADER
from tradecounter.edge.rest.operation import TEXT, Header, Operation, Parameter, Schema

_COUNT: Schema = {"type": "integer", "format": "int64", "minimum": 0}
_ANY_TEXT: Schema = {"type": "string"}

IDEMPOTENCY_KEY = Parameter(
    IDEMPOTENCY_HEADER,
    "Makes the request safe to retry: a retry with the same key creates nothing new.",
    {**TEXT, "maxLength": LONGEST_KEY, "pattern": "^[ -~]+$"},
    "7f9c2d1e-order-PO-1001",
)
IF_NONE_MATCH = Parameter(
    "If-None-Match", "The `ETag` of your copy. The response is 304 while the copy is current.", _ANY_TEXT, '"9b2f1c"'
)

REQUEST_ID = Header(
    "X-Request-Id",
    "The request's id: the client's own, if it is a valid token, or a new one.",
    _ANY_TEXT,
    "3f1c9a0b5d7e2468",
    always=True,
)
LINK = Header(
    "Link",
    "Web links (RFC 8288). For lists: the first, prev, next and last page, if they exist. If they are longer than "
    "8,000 bytes, each link is a header of its own.",
    _ANY_TEXT,
    '<https://api.example/product?page=1&limit=100>; rel="first"',
)
NEXT_LINK = Header(
    "Link", "The next page, while there is more.", _ANY_TEXT, '<https://api.example/event?after=42>; rel="next"'
)
PAGING = (
    Header("X-Total-Count", "The number of results, after filtering.", _COUNT, 250, always=True),
    Header("X-Page", "The number of this page, starting at 1.", {"type": "integer", "minimum": 1}, 2, always=True),
    Header("X-Limit", "Results per page; 0: all results on one page.", {**_COUNT, "maximum": 500}, 100, always=True),
    Header("X-Total-Pages", "The number of pages at this limit.", _COUNT, 3, always=True),
    LINK,
)
CURSOR = Header(
    "X-Cursor",
    "Where the change feed goes on from what the response shows: send it as `after` of `GET /catalogue/change`. It is "
    "left out for a moment after the database has been replaced.",
    _ANY_TEXT,
    "NqfuYVsc3JOtsMWGBpPvozR-96sjY0MoJMcgodgCSpvyV8kBK1auDGumWxJx",
)
CORRECTED = Header(
    "X-Corrected",
    "The mistyped words of `query`, each with the word that was searched for instead. Characters outside ASCII are "
    "percent-encoded.",
    _ANY_TEXT,
    "blutooth=bluetooth, swicth=switch",
)
UNKNOWN_SKU = Header(
    "X-Unknown-Sku",
    "The SKUs of `sku` that do not exist or have no price for you, the first ten within 500 bytes. Characters outside "
    "ASCII and commas are percent-encoded.",
    _ANY_TEXT,
    "CV-319, CV-321",
)
IDEMPOTENT_REPLAY = Header(
    REPLAY_HEADER,
    "Set if this is a replay: the recorded response to an earlier request with the same key.",
    {"type": "string", "enum": ["true"]},
    "true",
)
DEPRECATION = Header(
    "Deprecation", "Since when the operation is deprecated (RFC 9745).", _ANY_TEXT, "@1798761600", always=True
)
SUNSET = Header(
    "Sunset", "When the operation ends (RFC 8594).", _ANY_TEXT, "Fri, 02 Jul 2027 00:00:00 GMT", always=True
)
CACHE_CONTROL = Header(
    "Cache-Control",
    "Whether clients may cache the response; they must revalidate it before each use.",
    _ANY_TEXT,
    "private, no-cache",
)
CACHING = (
    Header("ETag", "The version of the response; send it as `If-None-Match`.", _ANY_TEXT, '"9b2f1c"'),
    CACHE_CONTROL,
    Header("Vary", "The request headers on which the response depends.", _ANY_TEXT, "Accept, Accept-Encoding"),
)
RATE_LIMIT = (
    Header(
        "RateLimit",
        "The remaining requests, and the seconds until the limit is reset.",
        _ANY_TEXT,
        '"customer";r=2990;t=180',
    ),
    Header(
        "RateLimit-Policy", "The rate limit: requests per window, in seconds.", _ANY_TEXT, '"customer";q=3000;w=300'
    ),
)
CONTENT_DISPOSITION = Header(
    "Content-Disposition",
    "The file's name. With CSV, only for browsers: clients whose `Accept` contains `text/html`.",
    _ANY_TEXT,
    'attachment; filename="invoice-10001.pdf"',
)
RETRY_AFTER = Header("Retry-After", "Seconds to wait before you try again.", {**_COUNT, "minimum": 1}, 300)
WWW_AUTHENTICATE = Header(
    "WWW-Authenticate",
    "The required authentication scheme, Bearer or (token endpoint) Basic, and whether the sent credential is invalid.",
    _ANY_TEXT,
    'Bearer error="invalid_token"',
    always=True,
)


LINK_RELATION = 'rel="deprecation sunset"'


def mark_deprecated(response: Response, operation: Operation, base_url: str) -> None:
    """Add the headers of a deprecated operation to a response; a link leads to the operation in the reference."""
    if (deprecation := operation.deprecation) is None:
        return
    reference = f"{base_url}{'/api/docs' if operation.path.startswith('/api/') else '/docs'}#{operation.name}"
    response.headers[DEPRECATION.name] = f"@{int(_begin(deprecation.since).timestamp())}"
    response.headers[SUNSET.name] = format_datetime(_begin(deprecation.sunset), usegmt=True)
    response.headers.append("Link", f'<{reference}>; {LINK_RELATION}; type="text/html"')


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
