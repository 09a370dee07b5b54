"""Sends cached and short product responses before any other middleware runs, and caches parsed request heads.

Customers' programs request the same pages all day, and many see the same prices. The response to `GET /product` depends
only on the data of the customer's view, which has a digest, and on a few parts of the request. Address, credential,
rate limit, links and request id differ per request. Short responses are made here too (`short_responses.py`). Unusual
requests, and those that get an error, go to the endpoints (docs/adr/0012, docs/adr/0014).
"""

import asyncio
import re
import time
from hashlib import sha256

import structlog
from cachetools import FIFOCache
from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from tradecounter.edge.rest.responses import Header
from tradecounter.edge.server.request_figures import Key, RequestFigures, Way
from tradecounter.identity.admission import Admission
from tradecounter.identity.rate_limit import RateLimitedError
from tradecounter.kit.errors import DomainError
from tradecounter.kit.telemetry import SPANS, RequestSpan
from tradecounter.request_log.recorder import RequestRecorder
from tradecounter.sites.http.fast_path.response_cache import CachedResponse, Recording, ResponseCache
from tradecounter.sites.http.fast_path.short_responses import Renewal, ShortResponses
from tradecounter.sites.http.request_context import RequestContext, context_of, new_context
from tradecounter.sites.http.request_head import RequestHead, may_be_cached, read_head
from tradecounter.storefront.operations import VIEW
from tradecounter.storefront.storefront import Storefront

_MOST_REQUEST_BYTES = 2_000


class HeadCache:
    """Parsed request heads, by a digest because requests contain credentials; evicts the oldest."""

    def __init__(self, most_bytes: int) -> None:
        self._heads: FIFOCache[bytes, RequestHead] = FIFOCache(most_bytes, lambda head: head.size)

    @property
    def size(self) -> int:
        """The memory that all heads take, in bytes."""
        return int(self._heads.currsize)

    def get(self, raw: bytes) -> RequestHead | None:
        """Return the head of a request with the same bytes, or None."""
        try:
            return self._heads[sha256(raw).digest()]
        except KeyError:
            return None

    def add(self, raw: bytes, head: RequestHead) -> None:
        """Cache a head, unless the request is long or has an id or a trace of its own and never repeats."""
        if len(raw) > _MOST_REQUEST_BYTES or head.request_id or head.traceparent or head.size > self._heads.maxsize:
            return
        self._heads.setdefault(sha256(raw).digest(), head)


log = structlog.get_logger()

_ONE_TAG = re.compile(rb'"([0-9a-f]{32})(?:-(?:zstd|br|gzip))?"')
_HEAD_SHARE = 8  # the head cache gets an eighth of the memory


class FastResponse(Struct, frozen=True):
    """A response in one block, the headers for this request, and whether it was made for it."""

    cached: CachedResponse
    own_headers: list[Header]
    is_made: bool

    def counted_as(self, way: Way) -> Key:
        """Return how the response is counted: with its endpoint, or with the way from the cache."""
        return self.cached.counted_as("endpoint" if self.is_made else way)


class ResponseCacheMiddleware:
    """Sends cached and short responses to reads of products, and caches new ones.

    The protocol class calls it without ASGI (`sites/http/fast_path/protocol.py`): `find_head` or `read_head`, then
    `context`, then `respond`, and `count_sent` once the response is sent. The context is stored in the ASGI scope, so
    that nothing is read twice. `renewal` renews the cache when the storefront is about to show new data.
    """

    def __init__(
        self,
        app: ASGIApp,
        short: ShortResponses,
        storefront: Storefront,
        admission: Admission,
        requests: RequestFigures,
        recorder: RequestRecorder,
        most_bytes: int,
        *,
        log_requests: bool,
    ) -> None:
        """Wrap `app`, which makes long responses and errors; `short` makes the others, if there is memory for any."""
        self._app = app
        self._storefront = storefront
        self._admission = admission
        self._addresses = admission.addresses
        heads = HeadCache(most_bytes // _HEAD_SHARE)
        self.find_head, self.add_head = heads.get, heads.add  # a method of this class would cost one call more
        self.cache = ResponseCache(most_bytes - most_bytes // _HEAD_SHARE)
        self.renewal = Renewal(short, self.cache)
        self._short = short if most_bytes else None
        self._requests = requests
        self._recorder = recorder
        self._log_requests = log_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a cached response, or call the application and record its response."""
        if scope["type"] != "http" or not may_be_cached(scope):
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        context = context_of(scope, self._addresses)
        response = self._find_or_make(context)
        if response is None:
            await self._call_and_record(context, scope, receive, send)
            return
        cached = response.cached
        headers = [*cached.headers, *response.own_headers]
        await send({"type": "http.response.start", "status": cached.status, "headers": headers})
        *others, last = cached.blocks
        for block in others:
            await send({"type": "http.response.body", "body": block, "more_body": True})
            await asyncio.sleep(0)  # otherwise a fast client would block all others
        await send({"type": "http.response.body", "body": last})
        self.count_sent(response.counted_as("response_cache"), context, time.perf_counter() - started)

    async def _call_and_record(self, context: RequestContext, scope: Scope, receive: Receive, send: Send) -> None:
        if context.key is None:
            await self._app(scope, receive, send)
            return
        scope[VIEW] = context.view
        recording = Recording(self.cache, context.key, context.head.if_none_match, scope, send)
        try:
            await self._app(scope, receive, recording.send)
        finally:
            recording.end()

    def read_head(self, scope: Scope) -> RequestHead | None:
        """Return the head of a request whose response may be cached; None for any other request."""
        return read_head(scope, self._addresses) if may_be_cached(scope) else None

    def context(self, head: RequestHead, client: tuple[str, int] | None) -> RequestContext:
        """Return a request's context; `client` is the connection's other end."""
        return new_context(head, client[0] if client else None, self._addresses)

    def respond(self, context: RequestContext) -> FastResponse | None:
        """Return the response to a request if it has one block, and is cached or short; does not block."""
        return self._find_or_make(context, most_blocks=1)

    def _find_or_make(self, context: RequestContext, most_blocks: int | None = None) -> FastResponse | None:
        """Return the response to a request; None if the application must make it, or if it has more blocks."""
        if context.is_tried:
            return None
        cached = self._admit_and_find(context)
        is_made = cached is None
        if is_made:
            cached = self._make_short(context)
        if cached is not None and most_blocks is not None and len(cached.blocks) > most_blocks:
            return None  # `__call__` finds it again, counts it and sends it
        own_headers = None if cached is None else self._count_against_limit(context, cached, is_made=is_made)
        if cached is None or own_headers is None:
            context.is_tried = True
            return None
        return FastResponse(cached, own_headers, is_made)

    def count_sent(self, key: Key, context: RequestContext, seconds: float) -> None:
        """Count a response that is sent, for the metrics and for the request's key, and record its span."""
        self._requests.add(key, seconds)
        if context.holder is not None:
            self._recorder.add_read(context.holder, key[0], key[1])
        if SPANS.recorder is not None:
            method, route, status, way = key
            span = RequestSpan(
                method=method,
                route=route,
                status=int(status),
                way=way,
                request_id=context.request_id,
                customer_id=context.customer_id,
            )
            SPANS.recorder.responded(span, seconds)

    def _admit_and_find(self, context: RequestContext) -> CachedResponse | None:
        """Admit a request, which sets the context's customer, view and key; return the cached response, or None."""
        head, key = context.head, context.key
        if key is None:
            if head.key is None:
                return None
            customer_id = context.customer_id or self._admission.admit_from_cache(context, "read")
            view = context.view = None if customer_id is None else self._storefront.view(customer_id)
            if view is None:
                return None
            key = context.key = (view.digest, *head.key)
        if head.if_none_match is None:
            return self.cache.get(key)
        cached = self.cache.get((*key, head.if_none_match))
        if cached is not None:
            return cached
        # A client with an outdated response gets the same response as a client without one.
        current, tag = self.cache.get(key), _ONE_TAG.fullmatch(head.if_none_match)
        return None if current is None or tag is None or current.tag.startswith(tag[1]) else current

    def _make_short(self, context: RequestContext) -> CachedResponse | None:
        """Make and cache a short response for a customer who has requests left; none without memory for the cache."""
        key, view, customer_id, short = context.key, context.view, context.customer_id, self._short
        if short is None or key is None or view is None or customer_id is None:
            return None
        if self._admission.rate_limit.is_spent(customer_id):
            return None
        made = short.make(key, customer_id, view, context.head.if_none_match)
        if made is not None:
            self.cache.add(made)
        return made

    def _count_against_limit(
        self, context: RequestContext, cached: CachedResponse, *, is_made: bool
    ) -> list[Header] | None:
        """Count a request; return the headers that it alone gets, or None if the endpoint must send an error."""
        headers: list[Header] = [(b"x-request-id", context.request_id.encode())]
        customer_id, view = context.customer_id, context.view
        if customer_id is None or view is None:
            return None
        if view.cursor is not None:
            # Not cached: the response may be the same for weeks, and the cursor would expire.
            headers.append((b"x-cursor", view.cursor))
        try:
            links = () if cached.links is None else context.head.links(cached.links)
            quota = self._admission.rate_limit.count(customer_id, cached.requests)
        except (RateLimitedError, DomainError):
            return None
        if not (is_made or cached.was_sent):
            self.renewal.note_sent(cached, customer_id)
        if quota is not None:
            headers += quota.headers
        head = context.head
        if head.ignored is not None:
            headers.append(head.ignored)
        headers += links
        if self._log_requests:
            log.info(
                "request",
                request_id=context.request_id,
                method="GET",
                path=cached.key[1],
                route=cached.route,
                status=cached.status,
                address=context.address,
                customer=customer_id,
                from_memory=not is_made,
            )
        return headers
