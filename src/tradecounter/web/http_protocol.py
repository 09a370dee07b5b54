"""The HTTP protocol of the service: a shortcut for responses that were given before.

Where the application has a shortcut, it is asked first. What it answers goes out as it is: a task and the messages of
ASGI would cost more than all the rest; and a program that asks the same again sends the same bytes, which need not be
parsed again.
"""

import asyncio
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tradecounter.rest.answer_memory import GivenAnswer, Header
from tradecounter.web.bounded_http import BoundedHttp


class AnswerAtOnce(NamedTuple):
    """An answer in one piece that was given before, and the headers of this request alone."""

    answer: GivenAnswer
    own_headers: list[Header]


class Shortcut(Protocol):
    """What an application has as `shortcut` when it can answer some requests without waiting for anything."""

    def read(self, scope: dict[str, Any]) -> Any:
        """Return what a request says; None when there is no shortcut for it."""
        ...

    def known(self, raw: bytes) -> Any:
        """Return what a request says that was learnt by its text; None when it was not."""
        ...

    def learn(self, raw: bytes, asked: Any) -> None:
        """Learn what a request of just this text says."""
        ...

    def at_once(self, asked: Any, client: tuple[str, int] | None) -> AnswerAtOnce | None:
        """Return the answer to what is asked from an address, or None."""
        ...


class HttpProtocol(BoundedHttp):
    """One client's connection, with a shortcut."""

    __slots__ = ("_answered", "_answered_at", "_asked", "_shortcut")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._shortcut: Shortcut | None = None
        self._asked: Any = None  # what the request under way says, when it was answered by the shortcut
        self._answered: AnswerAtOnce | None = None
        self._answered_at = 0.0  # on the loop's clock: the last answer by the shortcut

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        if not self._stopping.is_set:
            self._shortcut = getattr(self.app, "shortcut", None)

    def announce_end(self) -> None:
        """Leave all further requests to the application, whose responses close the connection."""
        self._shortcut = None
        super().announce_end()

    def data_received(self, data: bytes) -> None:
        """Take in a piece of a request."""
        between = not self._under_way
        if between and self._shortcut is not None and self._answer_known(data, self._shortcut):
            return
        self._asked = None
        super().data_received(data)
        if between and self._begun == 1 and not self._under_way and self._shortcut and self._asked is not None:
            self._shortcut.learn(data, self._asked)

    def begin_answer(self) -> None:
        """Answer the request whose head is there if the shortcut can, or else have the application do so.

        What the head is checked for is never answered by the shortcut, since the application never answered it.
        Raises RefusedError.
        """
        self._answered = None if self._shortcut is None or self._is_busy() else self._at_once(self._shortcut)
        if self._answered is None:
            super().begin_answer()

    def end_request(self) -> None:
        """Send the shortcut's answer, or tell the application that the whole request is there."""
        if self._answered is None:
            super().end_request()
        else:
            self._send(self._answered, keep_alive=self.parser.should_keep_alive())

    def _answer_known(self, data: bytes, shortcut: Shortcut) -> bool:
        """Answer a request whose very text is known; return whether that was possible."""
        if not data.startswith(b"GET ") or self._is_busy():
            return False
        asked = shortcut.known(data)
        answered = None if asked is None else shortcut.at_once(asked, self.client)
        if answered is None:
            return False
        self._clear_deadline()
        self._send(answered, keep_alive=True)
        return True

    def _is_busy(self) -> bool:
        """Return whether the client has to take another answer first."""
        return self.flow.write_paused or self._is_answering()

    def _at_once(self, shortcut: Shortcut) -> AnswerAtOnce | None:
        if self.parser.get_method() != b"GET" or self.parser.get_http_version() != "1.1":
            return None
        url = httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        told = {"method": "GET", "path": unquote(path) if "%" in path else path, "query_string": url.query or b""}
        asked = shortcut.read({**self.scope, **told})
        answered = None if asked is None else shortcut.at_once(asked, self.client)
        if answered is not None and self.parser.should_keep_alive():
            self._asked = asked
        return answered

    def _send(self, answered: AnswerAtOnce, *, keep_alive: bool) -> None:
        answer, own_headers = answered
        head = [STATUS_LINE[answer.status]]
        for name, value in (*self.server_state.default_headers, *own_headers):
            head += (name, b": ", value, b"\r\n")
        head += (answer.head, b"\r\n" if keep_alive else b"connection: close\r\n\r\n")
        self.transport.write(b"".join((*head, *answer.pieces)))  # copying costs less than a list of buffers
        self.server_state.total_requests += 1
        if not keep_alive:
            self.transport.close()
            return
        # One timer for many answers: setting and cancelling one for each would take a tenth of the whole time.
        self._answered_at = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self._close_if_idle)

    def _close_if_idle(self) -> None:
        left = self._answered_at + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self.timeout_keep_alive_task = self.loop.call_later(left, self._close_if_idle)
        else:
            self.timeout_keep_alive_handler()
