"""Conditional reads: a client that has the current response gets 304 (RFC 9110, section 13; docs/adr/0009).

The entity tag is a digest of the data and of the request, not of the response, so a poll for unchanged data is cheap.
Unknown query parameters do not affect the tag. Each content coding has its own tag: `"…"`, `"…-zstd"`.
"""

import re
from collections.abc import Callable
from importlib.metadata import version

import msgspec
from starlette.responses import Response
from starlette.types import Scope

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.negotiation import (
    COMPRESSING,
    IDENTITY,
    SMALLEST_COMPRESSED,
    Coding,
    accepts_coding,
    choose_coding,
)
from tradecounter.edge.rest.responses import ChunkedResponse
from tradecounter.kit.digest import digest_of

# The request headers that affect a response. Negotiated ones are part of the cache key (`sites/http/request_head.py`).
NEGOTIATED = ("Accept", "Accept-Encoding")
CREDENTIALS = ("Authorization", "X-Api-Key")

REVALIDATED = {"Cache-Control": "private, no-cache", "Vary": ", ".join((*NEGOTIATED, *CREDENTIALS))}

_RELEASE = version("tradecounter").encode()  # another release may render the same data differently
_MEMBER = re.compile(r'(?:^|,)[ \t]*(?:W/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?=,|$)')
_TAG_LENGTH = 32

_DATA_DIGEST = "tradecounter.data_digest"


def data_digest_of(scope: Scope) -> bytes | None:
    """Return the data digest of a conditional response, or None for any other response."""
    digest: bytes | None = scope.get(_DATA_DIGEST)
    return digest


def conditional_response(
    call: Call, data: bytes, media_type: str, render: Callable[[], Response], parameters: msgspec.Struct | None = None
) -> Response:
    """Return 304 if `If-None-Match` contains the current tag, else the response of `render` with its entity tag.

    The response may depend on `data` (a digest), the path, the media type and the known query `parameters`.
    """
    call.request.scope[_DATA_DIGEST] = data
    if_none_match = ", ".join(call.request.headers.getlist("if-none-match"))
    tag = _tag_of(call, data, media_type, parameters)
    if if_none_match and (matching := _matching(if_none_match, tag, call.accept_encoding)):
        return _not_modified(matching)
    response = render()
    if if_none_match.strip() == "*":
        fit_to_compress = isinstance(response, ChunkedResponse) or len(response.body) >= SMALLEST_COMPRESSED
        return _not_modified(coded_tag(tag, choose_coding(call.accept_encoding) if fit_to_compress else IDENTITY))
    response.headers.update({"ETag": tag, **REVALIDATED})
    return response


def coded_tag(tag: str, coding: Coding) -> str:
    """Return a response's entity tag for a content coding; different bytes need different strong tags."""
    return tag if coding == IDENTITY else f'{tag[:-1]}-{coding}"'


def _tag_of(call: Call, data: bytes, media_type: str, parameters: msgspec.Struct | None) -> str:
    path = call.request.scope["path"].encode()
    request = (call.base_url.encode(), path, msgspec.json.encode(parameters), media_type.encode())
    return f'"{digest_of(_RELEASE, data, *request).hex()[:_TAG_LENGTH]}"'


def _matching(if_none_match: str, tag: str, accept_encoding: str) -> str | None:
    """Return the current response's tag, if the header contains it for a coding that the client accepts.

    A shared cache may send the tags of all its responses, including other clients' responses.
    """
    members = {f'"{opaque}"' for opaque in _MEMBER.findall(if_none_match)}
    ours = {coding: coded_tag(tag, coding) for coding in (choose_coding(accept_encoding), *COMPRESSING, IDENTITY)}
    matching = (own for coding, own in ours.items() if own in members and accepts_coding(accept_encoding, coding))
    return next(matching, None)


def _not_modified(tag: str) -> Response:
    return Response(status_code=304, headers={"ETag": tag, **REVALIDATED})
