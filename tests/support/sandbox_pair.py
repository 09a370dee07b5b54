"""A live site and its sandbox."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support.backoffice import backoffice_of
from support.cluster import Cluster
from support.pages import Person, customer_user
from support.service import MORNING, Customer, Service, running_service
from support.shop import stock_shop
from tradecounter.sandbox.refresh import refresh_sandbox

LIST = "/account/developer/sandbox"


@dataclass
class SandboxPair:
    """A live site whose customers may make keys of its sandbox."""

    live: Service
    sandbox: Service
    customer: Customer
    dev: Person

    def refresh(self) -> None:
        self.sandbox.in_transaction(lambda tx: refresh_sandbox(tx, self.live.database_url, MORNING))


@contextmanager
def sandbox_pair(postgres: Cluster) -> Iterator[SandboxPair]:
    """Start both, with a customer who has a developer."""
    with (
        postgres.database() as sandbox_url,
        running_service(sandbox_url, sandbox=True) as sandbox,
        backoffice_of(sandbox) as office,
        postgres.database() as live_url,
    ):
        settings: dict[str, Any] = {
            "sandbox_url": sandbox.url,
            "sandbox_backoffice_url": office.url,
            "sandbox_token": office.token("customers:write"),
        }
        with running_service(live_url, **settings) as live:
            stock_shop(live)
            customer = live.customer()
            yield SandboxPair(live, sandbox, customer, customer_user(live, customer.id, "developer"))
