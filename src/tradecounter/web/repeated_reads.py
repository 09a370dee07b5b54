"""Reads of products that were answered before are answered again from memory, ahead of everything else.

Customers' programs ask for the same pages all day, many of them at the same prices. What `GET /product` answers follows
from the data behind the customer's view, of which the view has a digest, and from a few parts of the request: when
both are the same, so is the answer, to the byte. All that differs from request to request is done anew: the
credential, the blocked address, the rate limit, the links, the request's id. Whatever is not plainly the usual case is
left to the endpoints, whose answers these are in the first place (docs/adr/0012, docs/adr/0014).
"""

import asyncio
import re

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from tradecounter.identity.admission import Admission
from tradecounter.identity.http import rate_limit_lines
from tradecounter.identity.rate_limit import RateLimitedError
from tradecounter.rest.answer_memory import AnswerMemory, GivenAnswer, Header
from tradecounter.storefront.storefront import Storefront
from tradecounter.web.frame import request_id_for
from tradecounter.web.http_protocol import AnswerAtOnce
from tradecounter.web.known_requests import KnownRequests
from tradecounter.web.recorder import CustomersQuestion, Recorder
from tradecounter.web.request_head import Asked, read_head

log = structlog.get_logger()

_ONE_TAG = re.compile(rb'"([0-9a-f]{32})(?:-(?:zstd|br|gzip))?"')


class RepeatedReads:
    """An ASGI application around another one, whose answers to reads of products it remembers."""

    def __init__(
        self, app: ASGIApp, storefront: Storefront, admission: Admission, memory: AnswerMemory, *, log_requests: bool
    ) -> None:
        self._app = app
        self._storefront = storefront
        self._admission = admission
        self._memory = memory
        known = KnownRequests(memory)
        self.known, self.learn = known.get, known.learn
        self._log_requests = log_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request from memory, or pass it on and remember the answer."""
        asked = self.read(scope) if scope["type"] == "http" else None
        question = None if asked is None else self._question(asked, scope["client"])
        if asked is None or question is None:
            await self._app(scope, receive, send)
            return
        answer = self._remembered(question)
        own_headers = None if answer is None else self._let_in(question, asked, answer)
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

    async def _record(self, question: CustomersQuestion, scope: Scope, receive: Receive, send: Send) -> None:
        recorder = Recorder(self._memory, question, scope, send)
        try:
            await self._app(scope, receive, recorder.send)
        finally:
            recorder.end()

    def read(self, scope: Scope) -> Asked | None:
        """Return what a request says when it is a usual one for products."""
        try:
            return read_head(scope, self._admission.addresses)
        except Exception:  # with the endpoints, whatever is wrong is answered too
            log.exception("a request could not be read for the memory")
            return None

    def at_once(self, asked: Asked, client: tuple[str, int] | None) -> AnswerAtOnce | None:
        """Return the answer to a request if it is remembered and of one piece, without waiting for anything."""
        question = self._question(asked, client)
        answer = None if question is None else self._remembered(question)
        if question is None or answer is None or len(answer.pieces) > 1:
            return None
        own_headers = self._let_in(question, asked, answer)
        return None if own_headers is None else AnswerAtOnce(answer, own_headers)

    def _question(self, asked: Asked, client: tuple[str, int] | None) -> CustomersQuestion | None:
        """Return what is asked when the customer is known without a look-up."""
        address = self._admission.addresses.of(client[0] if client else None, asked.hops)
        customer_id = self._admission.recognise(address, asked.credential)
        view = None if customer_id is None else self._storefront.view(customer_id)
        if customer_id is None or view is None:
            return None
        return CustomersQuestion((view.digest, *asked.parts), asked.held, customer_id, address)

    def _let_in(self, question: CustomersQuestion, asked: Asked, answer: GivenAnswer) -> list[Header] | None:
        """Count a request that gets an answer, and return the headers of its own.

        Return None when it is one request too many, which others have to say.
        """
        request_id = request_id_for(asked.request_id)
        own = [(b"x-request-id", request_id.encode())]
        try:
            quota = self._admission.rate_limit.count(question.customer_id, answer.requests)
        except RateLimitedError:
            return None
        if quota is not None:
            own += rate_limit_lines(quota)
        if asked.ignored is not None:
            own.append(asked.ignored)
        if answer.links is not None and (link := asked.link(answer.links)) is not None:
            own.append(link)
        if self._log_requests:
            log.info(
                "request",
                request_id=request_id,
                method="GET",
                path=asked.parts[0],
                status=answer.status,
                address=question.address,
                customer=question.customer_id,
                from_memory=True,
            )
        return own

    def _remembered(self, question: CustomersQuestion) -> GivenAnswer | None:
        if question.held is None:
            return self._memory.get(question.parts)
        found = self._memory.get((*question.parts, question.held))
        if found is not None:
            return found
        # A client that holds an older answer gets the current one, as one that holds none does.
        current, held = self._memory.get(question.parts), _ONE_TAG.fullmatch(question.held)
        return None if current is None or held is None or current.tag.startswith(held[1]) else current
