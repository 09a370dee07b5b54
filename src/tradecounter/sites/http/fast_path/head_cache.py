"""A cache of parsed request heads, because polling programs send the same bytes repeatedly."""

from hashlib import sha256

from cachetools import FIFOCache

from tradecounter.sites.http.request_head import RequestHead

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
