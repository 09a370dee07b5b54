"""Both sites with the demo's data and three months of history."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from support.backoffice import BackOfficeSite, backoffice_of
from support.developers import add_developers_things
from support.mail import deliver_mail
from support.service import MORNING, Service, running_service
from tradecounter.demo.history.fill import fill_history
from tradecounter.demo.load import demo_customers, load_demo
from tradecounter.demo.people import demo_service_token, demo_staff, demo_users

_SECRET = "s" * 64


@dataclass
class DemoSites:
    """The public site and the back office; `customer_id` is the customer with most of everything."""

    service: Service
    office: BackOfficeSite
    customer_id: int


@contextmanager
def demo_sites(database_url: str) -> Iterator[DemoSites]:
    """Serve the demo with its history while the block runs; the database must be empty."""
    with running_service(database_url) as service, backoffice_of(service) as office:
        filling = asyncio.run_coroutine_threadsafe(_fill(service), service.loop)
        customer_id = filling.result(timeout=600)
        add_developers_things(service, customer_id, "Price list")
        deliver_mail(service)
        service.refresh()
        office.refresh()
        yield DemoSites(service, office, customer_id)


async def _fill(service: Service) -> int:
    database, settings = service.commands, service.settings
    await load_demo(database, settings, MORNING)
    customers = await demo_customers(database, _SECRET, MORNING)
    _, _, domain = customers[0].email.partition("@")
    await demo_users(database, _SECRET, customers[0].id, domain, MORNING)
    await demo_staff(database, _SECRET, MORNING)
    await demo_service_token(database, _SECRET, MORNING)
    await fill_history(database, settings, _SECRET)
    return customers[0].id
