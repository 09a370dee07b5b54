"""A trial: a small shop, clients that tell stories of orders, and receivers of webhooks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from rigs.kill.ledger import Ledger
from rigs.kill.receivers import Endpoint, receiving_endpoints
from rigs.kill.sender import Sender
from rigs.kill.stories import PLENTY, RETURNABLE, SCARCE, Buyer, tell_stories
from support.backoffice import backoffice_of
from support.events import number_events
from support.orders import rows
from support.service import Service, running_service
from support.shop import stock_shop
from tradecounter.access.tokens import add_token
from tradecounter.edge.permissions import AREAS
from tradecounter.kit.clock import SystemClock

ENOUGH = 1_000_000
SETTINGS = {
    "webhook_networks": "127.0.0.0/8",
    "webhook_http": "true",
    "rate_limit": "0",
    "seller_name": "Trade & Sons",
    "seller_address": "7 Sales Street, York, YO1 7HH",
    "seller_vat_number": "GB123456782",
}
SERVED: dict[str, Any] = {**SETTINGS, "webhook_http": True, "rate_limit": 0}  # the same for a site in this process
_BUYERS = 5
_WAITING = (
    "select (select count(*) from procrastinate_jobs where status in ('todo', 'doing'))"
    " + (select count(*) from unnumbered_event)"
    " + (select count(*) from webhook_delivery where delivered_at is null)"
    " + (select count(*) from webhook where read_up_to < coalesce((select max(e.sequence) from event e"
    "    where webhook.customer_id is null or e.customer_id = webhook.customer_id and e.for_customer), 0))"
)


@dataclass
class Trial:
    """What a trial began with, what was acknowledged in it, and what the receivers got."""

    token: str
    buyers: list[Buyer]
    stock: dict[str, int]  # on hand at first
    first_sequence: int  # events up to this one are older than the trial
    first_audit_entry: int
    rivals: list[Buyer] = field(default_factory=list)  # customers who tell no stories
    ledger: Ledger = field(default_factory=Ledger)
    endpoints: list[Endpoint] = field(default_factory=list)

    @contextmanager
    def receiving(self, sender: Sender) -> Iterator[None]:
        """Run receivers while the block runs: one gets the events of all, one those of a customer.

        No worker may run when this begins: an event before the first webhook would be delivered to none.
        """
        self.endpoints = [Endpoint(), Endpoint(self.buyers[0].id)]
        with receiving_endpoints(*self.endpoints):
            for number, endpoint in enumerate(self.endpoints):
                endpoint.add(sender, f"webhook-{number}")
            yield

    def run(self, sender: Sender, operations: int, seed: int) -> None:
        """Send so many operations, and some more to end what has begun."""
        self.run_until(lambda: self.ledger.operations >= operations, sender, seed)

    def run_until(self, enough: Callable[[], bool], sender: Sender, seed: int) -> None:
        """Send operations until it is enough, and some more to end what has begun."""
        tell_stories(sender, self.ledger, self.buyers, enough, seed)


@contextmanager
def served(url: str, trial: Trial | None = None) -> Iterator[tuple[Service, Sender]]:
    """Both sites on a database, in this process, and a client of them."""
    with (
        running_service(url, now=SystemClock().now(), **SERVED) as service,
        backoffice_of(service) as office,
        Sender([service.url], [office.url], trial.token if trial else "") as sender,
    ):
        yield service, sender


def new_trial(service: Service, stock_more: Callable[[Service], None] = lambda _: None) -> Trial:
    """Fill an empty database; `stock_more` adds to the shop's products."""
    stock_shop(service)
    stock_more(service)
    stock = {PLENTY: ENOUGH, RETURNABLE: ENOUGH, SCARCE: 0}
    service.must_load("stock", [{"sku": sku, "available": units} for sku, units in stock.items()])
    buyers = [Buyer(made.id, made.key) for made in (service.customer(credit="100000000.00") for _ in range(_BUYERS))]
    now, scopes = service.clock.now(), [f"{area}:write" for area in AREAS]
    token = service.in_transaction(lambda tx: add_token(tx, "trial", scopes, now))[1]
    number_events(service)
    [(sequence, entry)] = rows(
        service, "select (select last from event_sequence), (select coalesce(max(id), 0) from audit_entry)"
    )
    return Trial(token, buyers, stock, sequence, entry)


def waiting_work(database_url: str) -> int:
    """How many jobs, events and deliveries the worker has still to do."""
    with psycopg.connect(database_url, autocommit=True) as database:
        row = database.execute(_WAITING).fetchone()
    assert row is not None
    return int(row[0])
