"""Renews cached responses before new data is shown: renders those that were asked for last from the new data.

Without it, every request would miss the cache at once after each change of prices or stock (docs/adr/0025). A response
is renewed only if the cache has sent it since the last change, so at most as many responses are rendered as requests
have been spared.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import cast
from urllib.parse import quote

import structlog
from starlette.types import ASGIApp, Message, Scope

from tradecounter.identity.admission import SENDER
from tradecounter.identity.credentials import MissingCredentialError
from tradecounter.sites.http.fast_path.recording import Recording
from tradecounter.sites.http.fast_path.response_cache import CachedResponse, CacheKey, ResponseCache
from tradecounter.sites.http.request_context import RequestContext
from tradecounter.sites.http.request_head import KEYED, RequestHead
from tradecounter.storefront.operations import VIEW
from tradecounter.storefront.view import CustomerView

log = structlog.get_logger()

_MOST = 500  # responses
_LONGEST_SECONDS = 1.0  # the new data waits this long


class Renewal:
    """Knows which responses the cache has sent since the last change, and renews them.

    `app` responds to reads of products for the customer in the request context, without admitting and counting it.
    """

    def __init__(self, app: ASGIApp, cache: ResponseCache) -> None:
        self._app = app
        self._cache = cache
        self._sent: deque[tuple[CacheKey, int]] = deque(maxlen=_MOST)

    def note(self, response: CachedResponse, customer_id: int) -> None:
        """Note that a cached response is sent for the first time. Long ones, sent in blocks, are not renewed."""
        response.is_noted = True
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
                await self._render(renewed, customer_id, view)
                await asyncio.sleep(monotonic() - began)  # requests that waited for it, and other processes, go first
            if monotonic() >= until:
                break

    async def _render(self, key: CacheKey, customer_id: int, view: CustomerView) -> None:
        scope = _scope(key, customer_id, view)
        recording = Recording(self._cache, key, None, scope, _discard)
        try:
            await self._app(scope, _no_body, recording.send)
        except Exception:  # a request for this response gets the same error
            log.exception("a response cannot be renewed", path=scope["path"])
        finally:
            recording.end()


def _scope(key: CacheKey, customer_id: int, view: CustomerView) -> Scope:
    """Return the ASGI scope of a request with this cache key."""
    path, query = cast("tuple[str, str]", key[1:3])
    no_credential = MissingCredentialError()
    head = RequestHead(no_credential, None, "", key=key[1:])
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": quote(path).encode(),
        "root_path": "",
        "query_string": query.encode("latin-1"),
        "headers": [(name, value) for name, value in zip(KEYED, key[3:], strict=True) if value is not None],
        "client": None,
        "server": None,
        SENDER: RequestContext(None, None, "", no_credential, customer_id, None, None, head, "renewal", view, key),
        VIEW: view,
    }


async def _discard(_: Message) -> None:
    pass


async def _no_body() -> Message:
    """Wait until cancelled: there is no client that could leave, and reads of products have no body."""
    await asyncio.Event().wait()
    raise AssertionError
