"""Makes responses to reads of products without ASGI, and renews cached ones before new data is shown."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import cast
from urllib.parse import quote

from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import mark_deprecated
from tradecounter.edge.rest.operation import Operation
from tradecounter.edge.rest.responses import ChunkedResponse, Header
from tradecounter.edge.server.compression import compress_short
from tradecounter.kit.actor import Actor
from tradecounter.sites.http.fast_path.response_cache import CachedResponse, CacheKey, ResponseCache, recorded
from tradecounter.sites.http.request_head import KEYED
from tradecounter.storefront.operations import LIST_PATH, ONE_PATH, ProductEndpoints
from tradecounter.storefront.view import CustomerView

_BEFORE_SKU = ONE_PATH.removesuffix("{sku}")
_MOST_LONG = 1_000


class ShortResponses:
    """Makes responses as the application would, but for the headers of a single request.

    ASGI's messages, the middleware and the routing take longer than finding and rendering a short page of products.
    """

    def __init__(
        self,
        products: ProductEndpoints,
        operations: Iterable[Operation],
        base_url_of: Callable[[Request], str],
        standing_headers: Sequence[Header],
    ) -> None:
        """Make the responses of `products`, with the headers of those `operations` of the site that are deprecated."""
        self._products = products
        self._deprecated = {
            operation.path: operation for operation in operations if operation.method == "GET" and operation.deprecation
        }
        self._base_url_of = base_url_of
        self._standing_headers = standing_headers
        self._long: LRUCache[int, bool] = LRUCache(_MOST_LONG)  # requests with long responses, by the hash of their key

    def make(
        self, key: CacheKey, customer_id: int, view: CustomerView, if_none_match: bytes | None = None
    ) -> CachedResponse | None:
        """Return the response to the request with a cache key; None for an error, and for a long response.

        It waits for nothing. The application meets the same error, and responds to it.
        """
        asked = hash(key[1:])
        if asked in self._long:
            return None
        scope = _scope(key, if_none_match)
        request = Request(scope)
        base_url = self._base_url_of(request)  # once: the response has it several times
        call = Call(
            request,
            base_url_of=lambda _: base_url,
            max_body_bytes=0,
            admitted_customer_id=customer_id,
            actor_of=_no_actor,
        )
        response = self._response(scope["path"], call, view)
        if response is None:
            return None
        if isinstance(response, ChunkedResponse) or not compress_short(response, call.accept_encoding):
            self._long[asked] = True  # from now on the application is asked at once
            return None
        operation = self._deprecated.get(LIST_PATH if scope["path"] == LIST_PATH else ONE_PATH)
        if operation is not None:
            mark_deprecated(response, operation, call.base_url)
        present = {name for name, _ in response.raw_headers}
        headers = [*response.raw_headers, *(header for header in self._standing_headers if header[0] not in present)]
        return recorded(scope, key, if_none_match, response.status_code, headers, [bytes(response.body)])

    def _response(self, path: str, call: Call, view: CustomerView) -> Response | None:
        if not call.base_url:  # of an invalid `Host`: then it is the server's own
            return None
        try:
            return self._called(path, call, view)
        except Exception:  # noqa: BLE001 which the application logs
            return None

    def _called(self, path: str, call: Call, view: CustomerView) -> Response | None:
        if path == LIST_PATH:
            return self._products.list_in(view, call)
        return self._products.show_in(view, call, path.removeprefix(_BEFORE_SKU)) if path != _BEFORE_SKU else None


def _scope(key: CacheKey, if_none_match: bytes | None) -> Scope:
    """Return the ASGI scope of a request with this cache key."""
    path, query = cast("tuple[str, str]", key[1:3])
    headers = [(name, value) for name, value in zip(KEYED, key[3:], strict=True) if value is not None]
    if if_none_match is not None:
        headers.append((b"if-none-match", if_none_match))
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": quote(path).encode(),
        "root_path": "",
        "query_string": query.encode("latin-1"),
        "headers": headers,
        "client": None,
        "server": None,
    }


def _no_actor(_: Scope) -> Actor:
    raise RuntimeError("a read of products changes nothing")


_MOST = 500  # responses
_LONGEST_SECONDS = 1.0  # the new data waits this long


class Renewal:
    """Knows which responses the cache has sent since the last change, and renews them.

    Without renewal, every request would miss the cache at once after each change of prices or stock (docs/adr/0025). A
    response is renewed only if the cache has sent it since the last change, so at most as many responses are rendered
    as requests have been spared.
    """

    def __init__(self, short: ShortResponses, cache: ResponseCache) -> None:
        self._short = short
        self._cache = cache
        self._sent: deque[tuple[CacheKey, int]] = deque(maxlen=_MOST)

    def note_sent(self, response: CachedResponse, customer_id: int) -> None:
        """Note that a cached response is sent for the first time. Long ones, sent in blocks, are not renewed."""
        response.was_sent = True
        if len(response.blocks) == 1:
            self._sent.append((response.request_key, customer_id))

    async def renew(self, view_of: Callable[[int], CustomerView | None]) -> None:
        """Render the responses for the views that customers will have; the latest first, for at most a second."""
        until = monotonic() + _LONGEST_SECONDS
        sent, self._sent = self._sent, deque(maxlen=_MOST)
        for key, customer_id in reversed(sent):
            view = view_of(customer_id)
            if view is None:
                continue
            renewed = (view.digest, *key[1:])
            if renewed == key:  # the change does not affect it
                self._sent.appendleft((key, customer_id))
            elif self._cache.get(renewed) is None:
                began = monotonic()
                if (response := self._short.make(renewed, customer_id, view)) is not None:
                    self._cache.add(response)
                await asyncio.sleep(monotonic() - began)  # requests that waited for it, and other processes, go first
            if monotonic() >= until:
                break
