"""Conditional reads: a client that holds the current answer gets 304 instead (RFC 9110, section 13; docs/adr/0009).

The entity tag is made from digests of the data and from what the request asks for, never from the answer, so that
asking again for what has not changed costs next to nothing. Query parameters that an endpoint does not know do not
matter. Each content coding has a tag of its own: `"…"`, `"…-zstd"`.
"""

import re
from collections.abc import Callable
from importlib.metadata import version

import msgspec
from starlette.responses import Response
from starlette.types import Scope

from tradecounter.kit.digest import digest_of
from tradecounter.rest.call import Call
from tradecounter.rest.codings import COMPRESSING, IDENTITY, SMALLEST_COMPRESSED, Coding, choose_coding, takes_coding
from tradecounter.rest.piecewise import PiecewiseResponse

# The request headers that a response depends on: these choose among its forms, and those tell whose it is. What is
# kept of responses depends on the first ones too (`web/repeated_reads.py`).
NEGOTIATED = ("Accept", "Accept-Encoding")
CREDENTIALS = ("Authorization", "X-Api-Key")

REVALIDATED = {
    "Cache-Control": "private, no-cache",
    "Vary": ", ".join((*NEGOTIATED, *CREDENTIALS)),
}

# What writes the answers is part of what they depend on.
_RELEASE = version("tradecounter").encode()
_MEMBER = re.compile(r'(?:^|,)[ \t]*(?:W/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?=,|$)')
_TAG_LENGTH = 32

_ANSWERED_FROM = "tradecounter.answered_from"


def answered_from(scope: Scope) -> bytes | None:
    """Return the digest of the data from which a request was answered; None unless `unless_held` answered it."""
    digest: bytes | None = scope.get(_ANSWERED_FROM)
    return digest


def unless_held(
    call: Call,
    data: bytes,
    media_type: str,
    render: Callable[[], Response],
    parameters: msgspec.Struct | None = None,
) -> Response:
    """Return 304 when the client holds the current answer, else the answer, with its entity tag.

    `data` is a digest of all data that the answer can depend on; what else decides it are the path, the media type and
    the query's `parameters`, as far as the endpoint knows any. `render` makes the answer, or raises the refusal.
    """
    call.request.scope[_ANSWERED_FROM] = data
    named = ", ".join(call.request.headers.getlist("if-none-match"))
    tag = _tag_of(call, data, media_type, parameters)
    if named and (held := _held(named, tag, call.accept_encoding)):
        return _not_modified(held)
    response = render()
    if named.strip() == "*":
        fit_to_compress = isinstance(response, PiecewiseResponse) or len(response.body) >= SMALLEST_COMPRESSED
        return _not_modified(coded_tag(tag, choose_coding(call.accept_encoding) if fit_to_compress else IDENTITY))
    response.headers.update({"ETag": tag, **REVALIDATED})
    return response


def coded_tag(tag: str, coding: Coding) -> str:
    """Return the entity tag of the same answer in a coding: other bytes need another strong tag."""
    return tag if coding == IDENTITY else f'{tag[:-1]}-{coding}"'


def _tag_of(call: Call, data: bytes, media_type: str, parameters: msgspec.Struct | None) -> str:
    path = call.request.scope["path"].encode()
    asked = (call.base_url.encode(), path, msgspec.json.encode(parameters), media_type.encode())
    return f'"{digest_of(_RELEASE, data, *asked).hex()[:_TAG_LENGTH]}"'


def _held(named: str, tag: str, accept_encoding: str) -> str | None:
    """Return which of the named tags stands for the current answer, in a coding that the client takes now.

    A cache may name all that it holds, also for other clients than the one that it asks for.
    """
    members = {f'"{opaque}"' for opaque in _MEMBER.findall(named)}
    ours = {coding: coded_tag(tag, coding) for coding in (choose_coding(accept_encoding), *COMPRESSING, IDENTITY)}
    held = (own for coding, own in ours.items() if own in members and takes_coding(accept_encoding, coding))
    return next(held, None)


def _not_modified(tag: str) -> Response:
    return Response(status_code=304, headers={"ETag": tag, **REVALIDATED})
