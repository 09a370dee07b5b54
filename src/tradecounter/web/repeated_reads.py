"""Reads of products that were answered before are answered again from memory, ahead of everything else.

Customers' programs ask for the same pages all day, many of them at the same prices. What `GET /product` answers follows
from the data behind the customer's view, of which the view has a digest, and from a few parts of the request: when
both are the same, so is the answer, to the byte. All that differs from request to request is done anew: the
credential, the blocked address, the rate limit, the request's id. Whatever is not plainly the usual case is left to
the endpoints, whose answers these are in the first place (docs/adr/0012).
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tradecounter.identity.admission import Admission
from tradecounter.identity.client_address import ClientAddresses, Hops
from tradecounter.identity.credentials import ApiKey, BearerToken, Presented, credential_of
from tradecounter.identity.http import rate_limit_lines
from tradecounter.identity.rate_limit import RateLimitedError
from tradecounter.kit.errors import DomainError
from tradecounter.rest.answer_memory import AnswerMemory, GivenAnswer, Header, Question
from tradecounter.rest.caching import answered_from
from tradecounter.storefront.storefront import Storefront
from tradecounter.web.frame import request_id_for
from tradecounter.web.http_protocol import AnswerAtOnce

log = structlog.get_logger()

_PATH = "/product"
_MOST_KNOWN = 20_000  # requests known by their text, of some 500 bytes each
_LONGEST_KNOWN = 2_000  # bytes
_BLOCK = 128 * 1024
_WITHOUT_CHUNKS = "1.0"  # its answers have to tell their length beforehand, and are of one piece
_CURRENT = 200
_REPEATABLE = {_CURRENT, 304}
_OF_ONE_REQUEST = {b"x-request-id", b"ratelimit", b"ratelimit-policy"}

# The headers on which an answer, or letting the request in, depends. With one of them twice it is not the usual case.
_ANSWERED_BY = (b"host", b"accept", b"accept-encoding")
_ADMITTED_BY = {b"authorization", b"x-api-key"}
_UNUSUAL = frozenset({b"content-length", b"transfer-encoding", b"expect", b"origin"})
_WATCHED = frozenset({*_ANSWERED_BY, *_ADMITTED_BY, b"if-none-match", b"x-request-id", *_UNUSUAL})

_ONE_TAG = re.compile(rb'"([0-9a-f]{32})(?:-(?:zstd|br|gzip))?"')


@dataclass(frozen=True, slots=True)
class Asked:
    """What the text of a request says, whoever sends it and whenever.

    `parts` are all that decides the answer, but for the customer's view and the entity tag that the client holds.
    """

    credential: ApiKey | BearerToken
    hops: Hops | None
    parts: Question
    held: bytes | None
    request_id: str


class _Question(NamedTuple):
    """What one customer asks at one moment: `parts` begin with the digest of its view."""

    parts: Question
    held: bytes | None
    customer_id: int


class RepeatedReads:
    """An ASGI application around another one, whose answers to reads of products it remembers."""

    def __init__(self, app: ASGIApp, storefront: Storefront, admission: Admission, memory: AnswerMemory) -> None:
        self._app = app
        self._storefront = storefront
        self._admission = admission
        self._memory = memory
        self._known: dict[bytes, Asked] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request from memory, or pass it on and remember the answer."""
        asked = self.read(scope) if scope["type"] == "http" else None
        question = None if asked is None else self._question(asked, scope["client"])
        if asked is None or question is None:
            await self._app(scope, receive, send)
            return
        answer = self._remembered(question)
        own_headers = None if answer is None else self._let_in(question, asked)
        if answer is None or own_headers is None:
            await self._record(question, scope, receive, send)
            return
        headers = [*answer.headers, *own_headers]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        *others, last = answer.pieces
        for piece in others:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)  # while the client reads as fast as this, nobody else would have a turn
        await send({"type": "http.response.body", "body": last})

    async def _record(self, question: _Question, scope: Scope, receive: Receive, send: Send) -> None:
        recorder = _Recorder(self._memory, question, scope, send)
        try:
            await self._app(scope, receive, recorder.send)
        finally:
            recorder.end()

    def read(self, scope: Scope) -> Asked | None:
        """Return what a request says when it is a usual one for products."""
        try:
            return _read(scope, self._admission.addresses)
        except Exception:  # with the endpoints, whatever is wrong is answered too
            log.exception("a request could not be read for the memory")
            return None

    def known(self, raw: bytes) -> Asked | None:
        """Return what a request says that was learnt by its text."""
        return self._known.get(sha256(raw).digest())

    def learn(self, raw: bytes, asked: Asked) -> None:
        """Learn what a request of just this text says. Only a digest of the text is kept, since it holds a key."""
        if len(raw) > _LONGEST_KNOWN:
            return
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[sha256(raw).digest()] = asked

    def at_once(self, asked: Asked, client: tuple[str, int] | None) -> AnswerAtOnce | None:
        """Return the answer to a request if it is remembered and of one piece, without waiting for anything."""
        question = self._question(asked, client)
        answer = None if question is None else self._remembered(question)
        if question is None or answer is None or len(answer.pieces) > 1:
            return None
        own_headers = self._let_in(question, asked)
        return None if own_headers is None else AnswerAtOnce(answer, own_headers)

    def _question(self, asked: Asked, client: tuple[str, int] | None) -> _Question | None:
        """Return what is asked when the customer is known without a look-up."""
        address = self._admission.addresses.of(client[0] if client else None, asked.hops)
        customer_id = self._admission.recognise(address, asked.credential)
        view = None if customer_id is None else self._storefront.view(customer_id)
        if customer_id is None or view is None:
            return None
        return _Question((view.digest, *asked.parts), asked.held, customer_id)

    def _let_in(self, question: _Question, asked: Asked) -> list[Header] | None:
        """Count a request and return the headers of its own; None when it is one too many, which others have to say."""
        own = [(b"x-request-id", request_id_for(asked.request_id).encode())]
        try:
            quota = self._admission.rate_limit.count(question.customer_id)
        except RateLimitedError:
            return None
        if quota is not None:
            own += rate_limit_lines(quota)
        return own

    def _remembered(self, question: _Question) -> GivenAnswer | None:
        if question.held is None:
            return self._memory.get(question.parts)
        found = self._memory.get((*question.parts, question.held))
        if found is not None:
            return found
        # A client that holds an older answer gets the current one, as one that holds none does.
        current, held = self._memory.get(question.parts), _ONE_TAG.fullmatch(question.held)
        return None if current is None or held is None or current.tag.startswith(held[1]) else current


def _read(scope: Scope, addresses: ClientAddresses) -> Asked | None:
    if scope["method"] != "GET" or not scope["path"].startswith(_PATH):
        return None
    if scope["http_version"] == _WITHOUT_CHUNKS:
        return None
    said: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in _WATCHED:
            if name in said or name in _UNUSUAL:
                return None
            said[name] = value
    if b"host" not in said:  # then the answer's links name the address that was reached
        return None
    query = scope["query_string"]
    presented = Presented("", _lines(said, b"authorization"), _lines(said, b"x-api-key"), query.decode("latin-1"))
    try:
        credential = credential_of(presented)
    except DomainError:
        return None
    return Asked(
        credential,
        addresses.hops(scope["headers"]),
        (scope["path"], query, *map(said.get, _ANSWERED_BY)),
        said.get(b"if-none-match"),
        said.get(b"x-request-id", b"").decode("latin-1"),
    )


def _lines(said: dict[bytes, bytes], name: bytes) -> tuple[str, ...]:
    """Return the lines of a header, of which there is one at most."""
    return (said[name].decode("latin-1"),) if name in said else ()


def _blocks(pieces: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the same bytes in pieces of a good size to send: compressed ones are small, and many."""
    whole = b"".join(pieces)
    return tuple(whole[start : start + _BLOCK] for start in range(0, len(whole), _BLOCK)) or (b"",)


class _Recorder:
    """Passes one answer on; remembers it when it is whole, from the data in question, and not too big."""

    def __init__(self, memory: AnswerMemory, question: _Question, scope: Scope, send: Send) -> None:
        self._memory = memory
        self._question = question
        self._scope = scope
        self._send = send
        self._start: Message | None = None
        self._pieces: list[bytes] = []
        self._is_long = False

    async def send(self, message: Message) -> None:
        """Note a part of the answer, and pass it on."""
        if message["type"] == "http.response.start":
            self._start = message if message["status"] in _REPEATABLE else None
        elif self._start is not None:
            self._note(self._start, message)
        await self._send(message)

    def end(self) -> None:
        """Note nothing more: the answer went out, or broke off."""
        self._start, self._pieces = None, []
        if self._is_long:
            self._memory.end(self._question.parts)
            self._is_long = False

    def _note(self, start: Message, message: Message) -> None:
        piece, is_last = message.get("body", b""), not message.get("more_body", False)
        if (is_last and not self._is_long) or self._has_room(len(piece)):
            self._pieces.append(piece)
            if is_last:
                self._keep(start)
        else:
            self.end()

    def _has_room(self, size: int) -> bool:
        """Tell whether there is room for one piece of several: slow clients may have many answers under way."""
        self._is_long = self._is_long or self._memory.begin(self._question.parts)
        return self._is_long and self._memory.has_room(self._question.parts, size)

    def _keep(self, start: Message) -> None:
        question = self._question
        tag = next((value for name, value in start["headers"] if name == b"etag"), None)
        if tag is None or answered_from(self._scope) != question.parts[0]:
            return
        headers = tuple((name, value) for name, value in start["headers"] if name.lower() not in _OF_ONE_REQUEST)
        is_current = start["status"] == _CURRENT
        if is_current and not any(name == b"content-length" for name, _ in headers):
            # Now it is known; and in one piece, without uvicorn to cut it into chunks, it would have no end.
            headers += ((b"content-length", b"%d" % sum(map(len, self._pieces))),)
        parts = question.parts if is_current else (*question.parts, question.held)
        self._memory.keep(parts, GivenAnswer(start["status"], tag[1:], headers, _blocks(self._pieces)))
