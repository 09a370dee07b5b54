"""Records a response for the cache while sending it."""

from collections.abc import Iterable, Sequence

from starlette.types import Message, Scope, Send

from tradecounter.edge.rest.conditional import data_digest_of
from tradecounter.edge.rest.deprecation import LINK_RELATION
from tradecounter.edge.rest.paging import links_noted, requests_noted
from tradecounter.edge.rest.responses import Header
from tradecounter.sites.http.fast_path.response_cache import CachedResponse, CacheKey, ResponseCache

_BLOCK = 128 * 1024
_CURRENT = 200
_CACHEABLE = {_CURRENT, 304}

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
    is_current = status == _CURRENT
    if is_current and not any(name == b"content-length" for name, _ in shared):
        # The fast path sends one block without chunked encoding, so the client needs the length.
        shared += ((b"content-length", b"%d" % sum(map(len, chunks))),)
    links, requests = (links_noted(scope), requests_noted(scope)) if is_current else (None, 1)
    full_key = key if is_current else (*key, if_none_match)
    return CachedResponse(full_key, status, tag[1:], shared, _blocks(chunks), links, requests)


def _is_shared(name: bytes, value: bytes) -> bool:
    return name not in _OWN_HEADERS or (name == b"link" and LINK_RELATION.encode() in value)


def _blocks(chunks: Sequence[bytes]) -> tuple[bytes, ...]:
    """Join small chunks, as compression produces, into larger blocks."""
    whole = b"".join(chunks)
    return tuple(whole[start : start + _BLOCK] for start in range(0, len(whole), _BLOCK)) or (b"",)
