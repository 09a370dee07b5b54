"""Admits requests to feeds, by the secret in their address."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import Scope

from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.rest.operation import Operation
from tradecounter.feeds.operations import note_feed
from tradecounter.feeds.queries import FeedRecord, feed_at, record_read
from tradecounter.identity.admission import sender_of
from tradecounter.identity.credentials import PREFIX_LENGTH
from tradecounter.identity.secret_hash import secret_hash
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found
from tradecounter.sites.http.customer_gate import CustomerGate


@dataclass(frozen=True, slots=True)
class FeedGate:
    """Admits requests to feeds, which are looked up each time: one that ends is over at once."""

    customers: CustomerGate
    database: Database
    clock: Clock

    async def admit(self, request: Request, operation: Operation) -> int:
        """Return the customer of a feed, whose request counts against the rate limit.

        An unknown secret counts as a wrong credential. Raises DomainError (not found, blocked, too many requests).
        """
        sender, admission = sender_of(request.scope), self.customers.admission
        admission.check_address(sender)
        secret: str = request.path_params["secret"]
        feed = await self._find(secret)
        if feed is None:
            await admission.record_failure(sender, prefix=secret[:PREFIX_LENGTH])
            raise not_found("feed")
        note_feed(request.scope, feed)
        return self.customers.let_in(request, operation, feed.customer_id)

    def actor_of(self, scope: Scope) -> Actor:
        """Raise RuntimeError: reading a feed changes nothing that is audited."""
        raise RuntimeError("a feed is only read")

    def count_more(self, request: Request, customer_id: int, requests: int) -> None:
        """Count a long feed as several requests."""
        self.customers.count_more(request, customer_id, requests)

    async def _find(self, secret: str) -> FeedRecord | None:
        async with transaction(self.database) as tx:
            feed = await feed_at(tx, secret_hash(secret))
            if feed is not None:
                await record_read(tx, feed, self.clock.now())
        return feed
