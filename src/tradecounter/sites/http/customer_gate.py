"""Admits requests to the public site: by a customer's, an agent's or a feed's credential; then the rate limit."""

from msgspec import Struct
from starlette.requests import Request
from starlette.types import Scope
from structlog.contextvars import bind_contextvars

from tradecounter.agents.queries import find_agent_of_token
from tradecounter.db.fair_shares import act_for
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.rest.call import add_response_headers
from tradecounter.edge.rest.operation import Operation
from tradecounter.feeds.operations import note_feed
from tradecounter.feeds.queries import FeedRecord, find_feed_at, record_read
from tradecounter.identity.admission import Admission, sender_of
from tradecounter.identity.credentials import PREFIX_LENGTH, BearerToken, InvalidCredentialError, secret_hash
from tradecounter.identity.rate_limit import RateLimitedError
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found
from tradecounter.sites.http.resource import Gate


class CustomerGate(Struct, Gate, frozen=True):
    """Admits customers' requests."""

    admission: Admission

    async def admit(self, request: Request, operation: Operation) -> int:
        """Return the customer of a request, which counts against the rate limit. Raises DomainError."""
        sender = sender_of(request.scope)
        customer_id = await self.admission.admit(sender)
        sender.require_one_of(*operation.key_scopes)
        return self.let_in(request, operation, customer_id)

    def let_in(self, request: Request, operation: Operation, customer_id: int) -> int:
        """Count a request, and return its customer. Raises RateLimitedError."""
        self._count(request, customer_id, 1 if operation.rate_limited else 0)
        bind_contextvars(customer=customer_id)  # in all log lines of the request
        act_for(customer_id)
        return customer_id

    async def check_again(self, request: Request) -> None:
        """Check that the key or token of a request is still valid. Raises InvalidCredentialError."""
        await self.admission.check_again(sender_of(request.scope))

    def actor_of(self, scope: Scope) -> Actor:
        """Return the customer's key or application."""
        return sender_of(scope).actor

    def count_more(self, request: Request, customer_id: int, requests: int) -> None:
        """Count a long response as several requests."""
        self._count(request, customer_id, requests, admitted=True)

    def _count(self, request: Request, customer_id: int, requests: int, *, admitted: bool = False) -> None:
        try:
            quota = self.admission.rate_limit.count(customer_id, requests, admitted=admitted)
        except RateLimitedError as error:
            add_response_headers(request.scope, error.quota.headers)
            raise
        if quota is not None:
            add_response_headers(request.scope, quota.headers)


class AgentGate(CustomerGate, frozen=True):
    """Admits requests to `/mcp`: by a key, as the API does, or by the access token of an agent.

    Each request looks its token up, so a revocation takes effect at the next request, in every process.
    """

    database: Database
    clock: Clock

    async def admit(self, request: Request, operation: Operation) -> int:
        """Return the customer of a request, which counts against the rate limit. Raises DomainError."""
        sender = sender_of(request.scope)
        credential = sender.credential
        if not isinstance(credential, BearerToken):
            return await super().admit(request, operation)
        self.admission.check_address(sender)
        async with transaction(self.database) as tx:
            agent = await find_agent_of_token(tx, credential.hash, self.clock.now())
        if agent is None:
            await self.admission.record_failure(sender, prefix=credential.prefix)
            raise InvalidCredentialError
        return self.let_in(request, operation, sender.admitted_as(agent))


class FeedGate(CustomerGate, frozen=True):
    """Admits requests to feeds; each looks its feed up, so that an ended one serves nobody."""

    database: Database
    clock: Clock

    async def admit(self, request: Request, operation: Operation) -> int:
        """Return the customer of a feed, whose request counts against the rate limit.

        An unknown secret counts as a wrong credential. Raises DomainError (not found, blocked, too many requests).
        """
        sender = sender_of(request.scope)
        self.admission.check_address(sender)
        secret: str = request.path_params["secret"]
        feed = await self._find(secret)
        if feed is None:
            await self.admission.record_failure(sender, prefix=secret[:PREFIX_LENGTH])
            raise not_found("feed")
        note_feed(request.scope, feed)
        return self.let_in(request, operation, feed.customer_id)

    async def check_again(self, request: Request) -> None:
        """Do nothing: no request of a feed waits."""

    async def _find(self, secret: str) -> FeedRecord | None:
        async with transaction(self.database) as tx:
            feed = await find_feed_at(tx, secret_hash(secret))
            if feed is not None:
                await record_read(tx, feed, self.clock.now())
        return feed
