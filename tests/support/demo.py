"""The API on the demo data, which the interface document's examples are true of."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support.service import MORNING, Customer, Service, running_service
from tradecounter.db.transaction import Transaction
from tradecounter.demo.load import load_demo
from tradecounter.identity.queries.api_keys import add_key

FIRST_CUSTOMER = 1001  # the one whose key `make demo` prints first


@dataclass
class Demo:
    """The service and the demo's first customer."""

    service: Service
    customer: Customer


@contextmanager
def running_demo(database_url: str, **settings: Any) -> Iterator[Demo]:
    """Serve the demo data while the block runs; the database must be empty."""
    with running_service(database_url, **settings) as service:
        service.call(lambda: load_demo(service.commands, service.settings, MORNING))
        service.refresh()

        async def add(tx: Transaction) -> str:
            return (await add_key(tx, FIRST_CUSTOMER, "test", MORNING)).key

        key = service.in_transaction(add)
        yield Demo(service, Customer(FIRST_CUSTOMER, key, service.client(**{"X-Api-Key": key})))
