"""The cache of product responses, bounded in bytes, and the recording of responses for it while they are sent."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from cachetools import LRUCache
from starlette.types import Message, Scope, Send

from tradecounter.edge.rest.conditional import data_digest_of
from tradecounter.edge.rest.headers import LINK_RELATION
from tradecounter.edge.rest.paging import PageLinks, links_noted, requests_noted
from tradecounter.edge.rest.responses import Header
from tradecounter.edge.server.request_figures import Key, Way
from tradecounter.storefront.operations import LIST_PATH, ONE_PATH

_OK = 200
CacheKey = tuple[bytes | str | None, ...]

_OVERHEAD = 1000  # approximate bytes of a response without its strings
_LARGEST_SHARE = 4  # one response takes at most a quarter of the cache


@dataclass(eq=False)
class CachedResponse:
    """A response as it was sent: status, entity tag, the shared headers, and the body in blocks.

    Requests with the same cache key share a response, except for parts that depend on the request, such as the query in
    its links.

    `links` are for its `Link` header; `requests` is how many requests it counts as. `was_sent`: the cache has sent it,
    and may renew it (`short_responses.py`).
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
        return self.key if self.status == _OK else self.key[:-1]

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


_BLOCK = 128 * 1024
_CACHEABLE = {_OK, 304}

# The headers of one request, which `ResponseCacheMiddleware` adds; all requests with a key share the others.
_OWN_HEADERS = frozenset({b"link", b"ratelimit", b"ratelimit-policy", b"x-cursor", b"x-ignored", b"x-request-id"})


class Recording:
    """Sends a response and caches it, if it is complete, not too large, and made from the data in its key."""

    def __init__(
        self, cache: ResponseCache, key: CacheKey, if_none_match: bytes | None, scope: Scope, send: Send
    ) -> None:
        self._cache = cache
        self._key = key
        self._if_none_match = if_none_match
        self._scope = scope
        self._send = send
        self._start: Message | None = None
        self._chunks: list[bytes] = []
        self._has_reservation = False

    async def send(self, message: Message) -> None:
        """Record and send an ASGI message of the response."""
        if message["type"] == "http.response.start":
            self._start = message if message["status"] in _CACHEABLE else None
        elif self._start is not None:
            self._record(self._start, message)
        await self._send(message)

    def end(self) -> None:
        """Stop recording, after the response was sent or failed."""
        self._start, self._chunks = None, []
        if self._has_reservation:
            self._cache.end_recording(self._key)
            self._has_reservation = False

    def _record(self, start: Message, message: Message) -> None:
        chunk, is_last = message.get("body", b""), not message.get("more_body", False)
        if (is_last and not self._has_reservation) or self._reserve(len(chunk)):
            self._chunks.append(chunk)
            if is_last:
                self._add(start)
        else:
            self.end()

    def _reserve(self, size: int) -> bool:
        self._has_reservation = self._has_reservation or self._cache.begin_recording(self._key)
        return self._has_reservation and self._cache.reserve(self._key, size)

    def _add(self, start: Message) -> None:
        response = recorded(
            self._scope, self._key, self._if_none_match, start["status"], start["headers"], self._chunks
        )
        if response is not None:
            self._cache.add(response)


def recorded(
    scope: Scope,
    key: CacheKey,
    if_none_match: bytes | None,
    status: int,
    headers: Iterable[Header],
    chunks: Sequence[bytes],
) -> CachedResponse | None:
    """Return a complete response as the cache keeps it; None if it was not made from the data in its key."""
    shared = tuple((name, value) for name, value in headers if _is_shared(name, value))
    tag = next((value for name, value in shared if name == b"etag"), None)
    if tag is None or data_digest_of(scope) != key[0]:
        return None
    is_current = status == _OK
    if is_current and not any(name == b"content-length" for name, _ in shared):
        # The fast path sends one block without chunked encoding, so the client needs the length.
        shared += ((b"content-length", b"%d" % sum(map(len, chunks))),)
    links, requests = (links_noted(scope), requests_noted(scope)) if is_current else (None, 1)
    full_key = key if is_current else (*key, if_none_match)
    return CachedResponse(
        key=full_key, status=status, tag=tag[1:], headers=shared, blocks=_blocks(chunks), links=links, requests=requests
    )


def _is_shared(name: bytes, value: bytes) -> bool:
    return name not in _OWN_HEADERS or (name == b"link" and LINK_RELATION.encode() in value)


def _blocks(chunks: Sequence[bytes]) -> tuple[bytes, ...]:
    """Join small chunks, as compression produces, into larger blocks."""
    whole = b"".join(chunks)
    return tuple(whole[start : start + _BLOCK] for start in range(0, len(whole), _BLOCK)) or (b"",)
