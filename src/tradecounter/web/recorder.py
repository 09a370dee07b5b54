"""Noting a response on its way out, so that it can be given again."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.types import Message, Scope, Send

from tradecounter.rest.answer_memory import AnswerMemory, GivenAnswer, Question
from tradecounter.rest.caching import answered_from
from tradecounter.rest.paging import links_noted, requests_noted

_BLOCK = 128 * 1024
_CURRENT = 200
_REPEATABLE = {_CURRENT, 304}

# The headers that are the same for all requests with the same question. Any other header belongs to one request: from
# memory, `RepeatedReads` makes it for each.
_LASTING = frozenset(
    b"cache-control content-disposition content-encoding content-length content-security-policy content-type etag "
    b"referrer-policy strict-transport-security vary x-content-type-options x-limit x-page x-total-count "
    b"x-total-pages".split()
)


class CustomersQuestion(NamedTuple):
    """What one customer asks at one moment, and from where: `parts` begin with the digest of its view."""

    parts: Question
    held: bytes | None
    customer_id: int
    address: str


class Recorder:
    """Passes one answer on; remembers it when it is whole, from the data in question, and not too big."""

    def __init__(self, memory: AnswerMemory, question: CustomersQuestion, scope: Scope, send: Send) -> None:
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
        headers = tuple((name, value) for name, value in start["headers"] if name in _LASTING)
        is_current = start["status"] == _CURRENT
        if is_current and not any(name == b"content-length" for name, _ in headers):
            # Now it is known; and in one piece, without uvicorn to cut it into chunks, it would have no end.
            headers += ((b"content-length", b"%d" % sum(map(len, self._pieces))),)
        parts = question.parts if is_current else (*question.parts, question.held)
        links, requests = (links_noted(self._scope), requests_noted(self._scope)) if is_current else (None, 1)
        answer = GivenAnswer(start["status"], tag[1:], headers, _blocks(self._pieces), links, requests)
        self._memory.keep(parts, answer)


def _blocks(pieces: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the same bytes in pieces of a good size to send: compressed ones are small, and many."""
    whole = b"".join(pieces)
    return tuple(whole[start : start + _BLOCK] for start in range(0, len(whole), _BLOCK)) or (b"",)
