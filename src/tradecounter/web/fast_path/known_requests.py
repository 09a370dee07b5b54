"""Known requests: a program that polls sends the same bytes again, and they need no parsing."""

from hashlib import sha256

from cachetools import FIFOCache

from tradecounter.web.request_head import RequestHead

_MOST_REQUEST_BYTES = 2_000


class KnownRequests:
    """Parsed request heads by a digest of the request's bytes, which contain a credential.

    The oldest are evicted first.
    """

    def __init__(self, most_bytes: int) -> None:
        self._heads: FIFOCache[bytes, RequestHead] = FIFOCache(most_bytes, lambda head: head.size)

    @property
    def size(self) -> int:
        """How many bytes they take together."""
        return int(self._heads.currsize)

    def get(self, raw: bytes) -> RequestHead | None:
        """Return the head of a known request, or None."""
        try:
            return self._heads[sha256(raw).digest()]
        except KeyError:
            return None

    def add(self, raw: bytes, head: RequestHead) -> None:
        """Add a request, unless it is long or has an id, which no other request will have."""
        if len(raw) > _MOST_REQUEST_BYTES or head.request_id or head.size > self._heads.maxsize:
            return
        self._heads.setdefault(sha256(raw).digest(), head)
