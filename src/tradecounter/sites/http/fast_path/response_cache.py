"""The cache of product responses, bounded in bytes; evicts the least recently used.

Requests with the same cache key share a response, except for parts that depend on the request, such as the query in
its links.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from cachetools import LRUCache

from tradecounter.edge.rest.paging import PageLinks
from tradecounter.edge.rest.responses import Header
from tradecounter.edge.server.request_figures import Key, Way
from tradecounter.storefront.operations import LIST_PATH, ONE_PATH

CacheKey = tuple[bytes | str | None, ...]

_OVERHEAD = 1000  # approximate bytes of a response without its strings
_CURRENT = 200
_LARGEST_SHARE = 4  # one response takes at most a quarter of the cache


@dataclass(eq=False)
class CachedResponse:
    """A response as it was sent: status, entity tag, the shared headers, and the body in blocks.

    `links` are for its `Link` header; `requests` is how many requests it counts as. `was_sent`: the cache has sent it,
    and may renew it (`renewal.py`).
    """

    key: CacheKey
    status: int
    tag: bytes
    headers: tuple[Header, ...]
    blocks: tuple[bytes, ...]
    links: PageLinks | None = None
    requests: int = 1
    was_sent: bool = False

    @property
    def request_key(self) -> CacheKey:
        """The key without `If-None-Match`, which a 304 has."""
        return self.key if self.status == _CURRENT else self.key[:-1]

    @cached_property
    def head(self) -> bytes:
        """The headers as lines of an HTTP message."""
        return b"".join(name + b": " + value + b"\r\n" for name, value in self.headers)

    def counted_as(self, way: Way) -> Key:
        """Return how the response is counted if it is sent in this way."""
        return "GET", self.route, self._status, way

    @cached_property
    def _status(self) -> str:
        return str(self.status)

    @cached_property
    def route(self) -> str:
        """The path of the operation."""
        return LIST_PATH if self.key[1] == LIST_PATH else ONE_PATH

    @property
    def size(self) -> int:
        """The memory that the response and its key take, in bytes; the key's length depends on the client."""
        key = sum(len(part) for part in self.key if part is not None)
        headers = sum(len(name) + len(value) for name, value in self.headers)
        return _OVERHEAD + key + 2 * headers + sum(map(len, self.blocks))  # `head` repeats the headers


class ResponseCache:
    """The cached responses and the memory reserved for recordings; with 0 bytes it stays empty."""

    def __init__(self, most_bytes: int) -> None:
        self._responses: LRUCache[CacheKey, CachedResponse] = LRUCache(most_bytes, lambda response: response.size)
        self._most_bytes_of_one = most_bytes // _LARGEST_SHARE
        self._recording: dict[CacheKey, int] = {}

    def get(self, key: CacheKey) -> CachedResponse | None:
        """Return the response for a cache key, or None."""
        try:
            return self._responses[key]
        except KeyError:
            return None

    def add(self, response: CachedResponse) -> None:
        """Cache a response, unless it would take more than a quarter of the cache."""
        if response.size <= self._most_bytes_of_one:
            self._responses[response.key] = response

    def __len__(self) -> int:
        return len(self._responses)

    @property
    def size(self) -> int:
        """The memory that all responses take, in bytes."""
        return int(self._responses.currsize)

    def __iter__(self) -> Iterator[CacheKey]:
        return iter(self._responses)

    def begin_recording(self, key: CacheKey) -> bool:
        """Begin to record a long response; return False if one with this key is being recorded."""
        if key in self._recording:
            return False
        self._recording[key] = 0
        return True

    def reserve(self, key: CacheKey, size: int) -> bool:
        """Reserve bytes for a recording; return False if memory is exhausted.

        All recordings together, many of them for slow clients, may take as much memory as one cached response.
        """
        if sum(self._recording.values()) + size > self._most_bytes_of_one:
            return False
        self._recording[key] += size
        return True

    def end_recording(self, key: CacheKey) -> None:
        """Release a recording's memory."""
        del self._recording[key]
