"""Reads a request's head once: credential, forwarding hops, request id, and the cache key of a product read."""

from collections.abc import Sequence

from msgspec import Struct
from starlette.types import Scope

from tradecounter.edge.rest.conditional import CREDENTIALS, NEGOTIATED
from tradecounter.edge.rest.paging import MOST_LINK_BYTES, PageLinks, linked_query
from tradecounter.edge.rest.parameters import (
    IGNORED_HEADER,
    Pair,
    header_value,
    known_names,
    raw_pairs,
    unknown_parameters,
)
from tradecounter.edge.rest.responses import Header
from tradecounter.edge.server.client_address import FORWARDING, ClientAddresses, Hops
from tradecounter.identity.credentials import Credential, read_credential
from tradecounter.kit.errors import DomainError
from tradecounter.sites.http.fast_path.response_cache import CacheKey
from tradecounter.storefront.find_in_view import ProductListParameters, ProductParameters
from tradecounter.storefront.operations import LIST_PATH

_LIST_NAMES, _ONE_NAMES = known_names(ProductListParameters), known_names(ProductParameters)
WITHOUT_CHUNKS = "1.0"  # the version of HTTP in which the length of a body must precede it
SAFE_METHODS = {"GET", "HEAD"}  # which change nothing

# Headers that are part of the cache key, and headers that prevent caching. Repeated headers prevent it too.
KEYED = (b"host", *(name.lower().encode() for name in NEGOTIATED))
_UNCACHEABLE = frozenset({b"content-length", b"transfer-encoding", b"expect", b"origin"})
_AUTHORIZATION, _API_KEY = (name.lower().encode() for name in CREDENTIALS)
_READ = frozenset(
    {*KEYED, _AUTHORIZATION, _API_KEY, b"if-none-match", b"traceparent", b"x-request-id", *_UNCACHEABLE, *FORWARDING}
)

_OVERHEAD = 1_200  # approximate bytes of a head without its strings
_TEXT_OVERHEAD = 150  # approximate bytes of a query parameter or a hop without its characters
_LINK_OVERHEAD = 200  # approximate bytes of a link without the query


class RequestHead(Struct):
    """The contents of a request's head, independent of its connection.

    `credential` is an error if no valid one was sent. `key` is None if the response cannot come from the cache;
    otherwise it contains what determines the response, except the customer's view and `If-None-Match`. It has
    only known parameters and no credential; `pairs` has the whole query.
    """

    credential: Credential | DomainError
    hops: Hops | None
    request_id: str
    if_none_match: bytes | None = None
    key: CacheKey | None = None
    pairs: list[Pair] | None = None
    traceparent: str | None = None  # the caller's span
    ignored: Header | None = None  # names the unknown parameters
    _linked: PageLinks | None = None
    _links: Sequence[Header] = ()

    def links(self, links: PageLinks) -> Sequence[Header]:
        """Return the response's `Link` headers; the result is cached with the head.

        Raises DomainError (query too long).
        """
        if links is not self._linked:
            query = linked_query(self.pairs or [])
            self._links = [
                (b"link", field.encode()) for field in (links.fields(query) if query else links.short_fields)
            ]
            self._linked = links
        return self._links

    @property
    def size(self) -> int:
        """The memory that the head takes at most, in bytes."""
        pairs = self.pairs or []
        query = sum(len(name) + len(value) for name, value in pairs)
        texts = sum(len(part) for part in self.key or () if part is not None) + query + len(self.if_none_match or b"")
        link = min(4 * (query + _LINK_OVERHEAD), MOST_LINK_BYTES)
        ignored = len(self.ignored[1]) if self.ignored else 0
        return _OVERHEAD + texts + ignored + _TEXT_OVERHEAD * (2 * len(pairs) + len(self.hops or ())) + link


def may_be_cached(scope: Scope) -> bool:
    """Return whether a request reads products, so that its response may be cached."""
    is_read: bool = scope["method"] == "GET" and scope["path"].startswith(LIST_PATH)
    return is_read and scope["http_version"] != WITHOUT_CHUNKS


def read_head(scope: Scope, addresses: ClientAddresses) -> RequestHead:
    """Return the contents of the head in an ASGI scope."""
    headers: dict[bytes, bytes] = {}
    repeated: list[Header] = []
    is_forwarded = False
    for name, value in scope["headers"]:
        if name in _READ:
            if name in FORWARDING:
                is_forwarded = True
            elif name in headers:
                repeated.append((name, value))
            else:
                headers[name] = value
    query = scope["query_string"].decode("latin-1")
    credential = _read_credential(headers, repeated, query)
    head = RequestHead(
        credential=credential,
        hops=addresses.hops(scope["headers"]) if is_forwarded else None,
        request_id=headers.get(b"x-request-id", b"").decode("latin-1"),
        if_none_match=headers.get(b"if-none-match"),
    )
    if (traceparent := headers.get(b"traceparent")) is not None:
        head.traceparent = traceparent.decode("latin-1")
    # Without `Host`, the response's links use the address to which the client connected.
    if not repeated and b"host" in headers and may_be_cached(scope) and _UNCACHEABLE.isdisjoint(headers):
        _read_key(head, scope["path"], query, headers)
    return head


def _read_key(head: RequestHead, path: str, query: str, headers: dict[bytes, bytes]) -> None:
    if isinstance(head.credential, DomainError):
        return
    try:
        pairs = raw_pairs(query)
    except DomainError:
        return
    names, shape = (_LIST_NAMES, ProductListParameters) if path == LIST_PATH else (_ONE_NAMES, ProductParameters)
    known = "&".join([f"{name}={value}" for name, value in pairs if value and name in names])
    head.pairs, head.key = pairs, (path, known, *map(headers.get, KEYED))
    if not names.issuperset([name for name, _ in pairs]) and (unknown := unknown_parameters(query, shape)):
        head.ignored = (IGNORED_HEADER.lower().encode(), header_value(unknown).encode())


def _read_credential(headers: dict[bytes, bytes], repeated: list[Header], query: str) -> Credential | DomainError:
    lines = {name: [headers[name].decode("latin-1")] for name in (_AUTHORIZATION, _API_KEY) if name in headers}
    for name, value in repeated:
        if name in lines:
            lines[name].append(value.decode("latin-1"))
    try:
        return read_credential(lines.get(_AUTHORIZATION, ()), lines.get(_API_KEY, ()), query)
    except DomainError as error:
        return error
