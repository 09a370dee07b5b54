"""The headers that operations of several slices declare."""

from tradecounter.rest.idempotency import HEADER, LONGEST_KEY, REPLAY_HEADER
from tradecounter.rest.operation import TEXT, Header, Parameter, Schema

_COUNT: Schema = {"type": "integer", "format": "int64", "minimum": 0}
_ANY_TEXT: Schema = {"type": "string"}

IDEMPOTENCY_KEY = Parameter(
    HEADER,
    "Makes it safe to repeat the request: whatever it creates, it creates once.",
    {**TEXT, "maxLength": LONGEST_KEY, "pattern": "^[ -~]+$"},
    "7f9c2d1e-order-PO-1001",
)
IF_NONE_MATCH = Parameter(
    "If-None-Match",
    "The `ETag` of the answer that you hold: while it is current, 304 comes instead.",
    _ANY_TEXT,
    '"9b2f1c"',
)

REQUEST_ID = Header(
    "X-Request-Id",
    "The request's id: the client's own, if it is a sane token.",
    _ANY_TEXT,
    "3f1c9a0b5d7e2468",
    always=True,
)
LINK = Header(
    "Link",
    "Web links (RFC 8288); with pages: first, prev, next, last, whichever exist. With a query of more than about "
    "500 characters it leaves out links, next last; X-Total-Pages says where the pages end.",
    _ANY_TEXT,
    '<https://api.example/product?page=1&limit=100>; rel="first"',
)
PAGING = (
    Header("X-Total-Count", "Results after filtering.", _COUNT, 250, always=True),
    Header("X-Page", "This page, from 1.", {**_COUNT, "minimum": 1}, 2, always=True),
    Header("X-Limit", "Results on a page; 0: not paginated.", {**_COUNT, "maximum": 500}, 100, always=True),
    Header("X-Total-Pages", "Pages at this limit.", _COUNT, 3, always=True),
    LINK,
)
IDEMPOTENT_REPLAY = Header(
    REPLAY_HEADER,
    "On a replay: this is the recorded answer to an earlier request with the same key.",
    {"type": "string", "enum": ["true"]},
    "true",
)
CACHE_CONTROL = Header(
    "Cache-Control",
    "Whether the answer may be kept; kept ones have to be asked about again.",
    _ANY_TEXT,
    "private, no-cache",
)
CACHING = (
    Header("ETag", "The answer's version; send it as `If-None-Match`.", _ANY_TEXT, '"9b2f1c"'),
    CACHE_CONTROL,
    Header("Vary", "The request headers that the answer depends on.", _ANY_TEXT, "Accept, Accept-Encoding"),
)
RATE_LIMIT = (
    Header("RateLimit", "What is left of the rate limit, and for how long.", _ANY_TEXT, '"customer";r=2990;t=180'),
    Header(
        "RateLimit-Policy", "The rate limit: requests in a window of seconds.", _ANY_TEXT, '"customer";q=3000;w=300'
    ),
)
CONTENT_DISPOSITION = Header(
    "Content-Disposition",
    "A name for the file; with CSV only for a browser, whose `Accept` names `text/html`.",
    _ANY_TEXT,
    'attachment; filename="invoice-10001.pdf"',
)
RETRY_AFTER = Header("Retry-After", "Seconds to wait before another try.", {**_COUNT, "minimum": 1}, 300)
WWW_AUTHENTICATE = Header(
    "WWW-Authenticate",
    "Which credential is wanted: Bearer, at the token endpoint Basic; and whether one was refused.",
    _ANY_TEXT,
    'Bearer error="invalid_token"',
    always=True,
)
