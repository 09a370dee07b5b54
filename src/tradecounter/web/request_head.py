"""What the head of a usual request for products says: read once, whoever sends it and whenever."""

from dataclasses import dataclass

from starlette.types import Scope

from tradecounter.identity.client_address import FORWARDING, ClientAddresses, Hops
from tradecounter.identity.credentials import ApiKey, BearerToken, credential_in
from tradecounter.kit.errors import DomainError
from tradecounter.rest.answer_memory import Header, Question
from tradecounter.rest.caching import CREDENTIALS, NEGOTIATED
from tradecounter.rest.ignored import HEADER as IGNORED
from tradecounter.rest.ignored import header_value, unknown_parameters
from tradecounter.rest.paging import MOST_LINK_BYTES, PageLinks, linked_query
from tradecounter.rest.parameters import Pair, known_names, raw_pairs
from tradecounter.storefront.parameters import ProductListParameters, ProductParameters

_LIST = "/product"
_LIST_NAMES, _ONE_NAMES = known_names(ProductListParameters), known_names(ProductParameters)
_WITHOUT_CHUNKS = "1.0"  # its answers have to tell their length beforehand, and are of one piece

# The headers on which an answer, or letting the request in, depends. With one of them twice it is not the usual case.
_ANSWERED_BY = (b"host", *(name.lower().encode() for name in NEGOTIATED))
_ADMITTED_BY = {name.lower().encode() for name in CREDENTIALS}
_UNUSUAL = frozenset({b"content-length", b"transfer-encoding", b"expect", b"origin"})
_WATCHED = frozenset({*_ANSWERED_BY, *_ADMITTED_BY, b"if-none-match", b"x-request-id", *_UNUSUAL, *FORWARDING})

_OVERHEAD = 1_200  # bytes that a request takes besides its texts, roughly
_TEXT_OVERHEAD = 150  # bytes that a part of the query, or a hop, takes besides its characters, roughly
_LINK_OVERHEAD = 200  # bytes of a `Link` header besides four times the query, roughly


@dataclass(slots=True)
class Asked:
    """What the text of a request says.

    `parts` are all that decides the answer, but for the customer's view and the entity tag that the client holds. Of
    the query they hold only the parameters that the endpoint knows, and no credential; `pairs` are all of it.
    """

    credential: ApiKey | BearerToken
    hops: Hops | None
    parts: Question
    pairs: list[Pair]
    held: bytes | None
    request_id: str
    ignored: Header | None = None  # that names the parameters that are not known
    _linked: PageLinks | None = None
    _link: Header | None = None

    def link(self, links: PageLinks) -> Header | None:
        """Return the `Link` header of the response to this request; of one that is asked again it is at hand."""
        if links is not self._linked:
            query = linked_query(self.pairs)
            value = links.header(query) if query else links.short_header
            self._link = None if value is None else (b"link", value.encode())
            self._linked = links
        return self._link

    @property
    def size(self) -> int:
        """How many bytes it takes, at most."""
        query = sum(len(name) + len(value) for name, value in self.pairs)
        texts = sum(len(part) for part in self.parts if part is not None) + query + len(self.held or b"")
        link = min(4 * (query + _LINK_OVERHEAD), MOST_LINK_BYTES)
        ignored = len(self.ignored[1]) if self.ignored else 0
        return _OVERHEAD + texts + ignored + _TEXT_OVERHEAD * (2 * len(self.pairs) + len(self.hops or ())) + link


def read_head(scope: Scope, addresses: ClientAddresses) -> Asked | None:
    """Return what a request says when it is a usual one for products."""
    path: str = scope["path"]
    if scope["method"] != "GET" or not path.startswith(_LIST) or scope["http_version"] == _WITHOUT_CHUNKS:
        return None
    said: dict[bytes, bytes] = {}
    is_forwarded = False
    for name, value in scope["headers"]:
        if name in _WATCHED:
            if name in FORWARDING:
                is_forwarded = True
            elif name in said or name in _UNUSUAL:
                return None
            else:
                said[name] = value
    if b"host" not in said:  # then the answer's links name the address that was reached
        return None
    query = scope["query_string"].decode("latin-1")
    try:
        credential = credential_in(_lines(said, b"authorization"), _lines(said, b"x-api-key"), query)
        pairs = raw_pairs(query)
    except DomainError:
        return None
    names = _LIST_NAMES if path == _LIST else _ONE_NAMES
    known = "&".join(f"{name}={value}" for name, value in pairs if value and name in names)
    return Asked(
        credential,
        addresses.hops(scope["headers"]) if is_forwarded else None,
        (path, known, *map(said.get, _ANSWERED_BY)),
        pairs,
        said.get(b"if-none-match"),
        said.get(b"x-request-id", b"").decode("latin-1"),
        _ignored(query, ProductListParameters if path == _LIST else ProductParameters),
    )


def _ignored(query: str, shape: type[ProductListParameters | ProductParameters]) -> Header | None:
    names = unknown_parameters(query, shape)
    return (IGNORED.lower().encode(), header_value(names).encode()) if names else None


def _lines(said: dict[bytes, bytes], name: bytes) -> tuple[str, ...]:
    """Return the lines of a header, of which there is one at most."""
    return (said[name].decode("latin-1"),) if name in said else ()
