"""Renews cached responses before new data is shown: renders those that were asked for last from the new data.

Without it, every request would miss the cache at once after each change of prices or stock (docs/adr/0025). A response
is renewed only if the cache has sent it since the last change, so at most as many responses are rendered as requests
have been spared.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

from tradecounter.sites.http.fast_path.response_cache import CachedResponse, CacheKey, ResponseCache
from tradecounter.sites.http.fast_path.short_responses import ShortResponses
from tradecounter.storefront.view import CustomerView

_MOST = 500  # responses
_LONGEST_SECONDS = 1.0  # the new data waits this long


class Renewal:
    """Knows which responses the cache has sent since the last change, and renews them."""

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
