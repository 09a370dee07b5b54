"""A new secret key, step by step as the operators' guide says, at processes that are restarted one after the other.

One process has the keys of a step already, the other still those of the step before. Each reads what the other
encrypts.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from rigs.kill.receivers import Endpoint, receiving_endpoints
from support.backoffice import BackOfficeSite, backoffice_of
from support.cluster import Cluster
from support.events import number_events
from support.mail import deliver_mail, html
from support.orders import buy, sell
from support.pages import browser
from support.receiver import deliver
from support.secret_keys import NEW, OLD, registered
from support.service import Customer, Service, running_service
from support.shop import stock_shop
from tradecounter.consent.issuer import issuer_vault, key_that_signs, signing_key
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.installation.secret import _reseal_others
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import SystemClock
from tradecounter.shipments.secret_keys import WrongSecretError, rotate_secret
from tradecounter.sites.commands.service import require_secret

ONE, FIRST, SECOND = (OLD, None), (OLD, NEW), (NEW, OLD)
LAST = (NEW, None)
STEPS = [(FIRST, ONE), (SECOND, FIRST), (LAST, SECOND)]  # `secret rotate` runs before the last

Keys = tuple[str, str | None]


class Pair:
    """Two running processes with keys of their own: of each, the public site and the back office."""

    def __init__(self, url: str, stack: ExitStack, *keys: Keys) -> None:
        self.sites: list[tuple[Service, BackOfficeSite]] = []
        for current, former in keys:
            found: dict[str, Any] = {"secret_key": current, "former_secret_keys": former, "webhook_http": True,
                     "webhook_networks": "127.0.0.0/8"}  # fmt: skip
            service = stack.enter_context(running_service(url, now=SystemClock().now(), **found))
            require_secret(service.settings, url)
            self.sites.append((service, stack.enter_context(backoffice_of(service))))

    def both_ways(self) -> Iterator[tuple[tuple[Service, BackOfficeSite], Service]]:
        """Each process as the one that writes, with the one that reads."""
        (first, second) = self.sites
        yield first, second[0]
        yield second, first[0]


@pytest.fixture
def url(postgres: Cluster) -> Iterator[str]:
    with postgres.database() as found:
        yield found


def as_customer(customer: Customer, service: Service) -> Customer:
    """The customer at another process."""
    return Customer(customer.id, customer.key, service.client(**{"X-Api-Key": customer.key}))


def configured(customer: Customer, name: str) -> dict[str, Any]:
    placed = buy(customer, [("ROUTER", 1)])
    path = f"/order/{placed['order_id']}/item/{placed['items'][0]['id']}/configuration"
    body = {"configurations": [{"adsl_username": "line@isp.example", "adsl_password": name}]}
    customer.post(path, body).raise_for_status()
    return placed


def passwords(customer: Customer, placed: dict[str, Any]) -> list[str]:
    shown = customer.get(f"/order/{placed['order_id']}").json()
    return [each["data"]["adsl_password"] for item in shown["items"] for each in item["configurations"]]


def invite(office: BackOfficeSite, customer: Customer, email: str) -> None:
    path = f"/api/customer/{customer.id}/user"
    office.caller().post(path, json={"email": email, "role": "buyer"}).raise_for_status()


def mailed_links(service: Service) -> set[str]:
    """Run the worker's jobs with a process's keys; the links in the mails, without the site's address."""
    bodies = [html(mail) for mail in deliver_mail(service)]
    return {found for body in bodies for found in re.findall(r"/account(/set-password\?token=\w+)", body)}


def add_webhook(endpoint: Endpoint, office: BackOfficeSite) -> None:
    made = office.caller().post("/api/webhook", json={"url": endpoint.url})
    made.raise_for_status()
    endpoint.secret = made.json()["secret"]


def deliver_now(service: Service) -> None:
    number_events(service)
    service.call(lambda: deliver(service, clock=SystemClock()))


def rotate(service: Service) -> None:
    service.call(
        lambda: rotate_secret(
            service.commands, secret_keys(service.settings), service.clock.now(),
            actor=Actor("command_line", "test"), others=_reseal_others,
        )
    )  # fmt: skip


def signs(service: Service) -> str:
    vault = issuer_vault(lambda: secret_keys(service.settings))
    found = service.in_transaction(lambda tx: key_that_signs(tx, vault))
    assert found is not None
    return str(found.kid)


@pytest.mark.sweep
def test_nothing_fails_while_processes_change_to_a_new_secret_key(url: str) -> None:
    with running_service(url, now=SystemClock().now(), secret_key=OLD) as service:
        stock_shop(service)
        sell(service, "ROUTER", available=1000, configurable=True)
        customer = service.customer()
        vault = issuer_vault(lambda: [OLD])
        kid = service.in_transaction(lambda tx: signing_key(tx, vault, service.clock.now())).kid
    stored: list[tuple[dict[str, Any], str]] = []
    endpoints = [Endpoint() for _ in range(2 * len(STEPS))]
    with receiving_endpoints(*endpoints):
        fresh = iter(endpoints)
        for number, keys in enumerate(STEPS):
            if keys[0] == LAST:
                with running_service(url, secret_key=NEW, former_secret_keys=OLD) as service:
                    rotate(service)
            with ExitStack() as stack:
                for (writer, office), reader in Pair(url, stack, *keys).both_ways():
                    name = f"password {len(stored)}"
                    stored.append((configured(as_customer(customer, writer), name), name))
                    at_reader = as_customer(customer, reader)
                    assert [passwords(at_reader, placed) for placed, _ in stored] == [[name] for _, name in stored]
                    add_webhook(next(fresh), office)
                    invite(office, customer, f"user{number}-{len(stored)}@shop.example")
                    [link] = mailed_links(reader)
                    assert browser(reader.url).get(f"/account{link}").status_code == 200
                    deliver_now(reader)
                    assert signs(reader) == kid
        with ExitStack() as stack:
            [(service, _)] = Pair(url, stack, LAST).sites
            buy(as_customer(customer, service), [("CABLE", 1)])
            deliver_now(service)
    assert registered(url) == {NEW}
    assert [endpoint.faults for endpoint in endpoints] == [[] for _ in endpoints]
    everything = {event["id"] for event in endpoints[0].attempts}
    assert all({event["id"] for event in endpoint.attempts} <= everything for endpoint in endpoints)
    assert all(endpoint.attempts for endpoint in endpoints)


def test_the_old_key_alone_is_of_no_use_after_the_rotation(url: str) -> None:
    with running_service(url, secret_key=NEW, former_secret_keys=OLD) as service:
        require_secret(service.settings, url)
        rotate(service)
    with running_service(url, secret_key=OLD) as service, pytest.raises(WrongSecretError):
        require_secret(service.settings, url)
