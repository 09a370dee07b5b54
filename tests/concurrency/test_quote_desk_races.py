"""Previews of a quote's price while others, or the same form, send it: no response is a server error."""

import random
import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

import psycopg
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import confirm, faults_in_the_books, in_parallel
from support.pages import Person, fields_of, staff_member
from support.quotes import jobs, request_quote
from support.service import Customer, Service

_ITEMS = [("PHONE", 1), ("CABLE", 1)]
_ROUNDS = 12


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture(scope="module")
def desk(office: BackOfficeSite) -> list[Person]:
    """Three people who price quotes."""
    return [staff_member(office.service, office.url, "support") for _ in range(3)]


def _typed(person: Person, path: str, phone: str) -> dict[str, str]:
    """The form of a quote with prices, whatever they were before."""
    return fields_of(person.get(path)) | {"items-0-price": phone, "items-1-price": "2", "force": "true"}


def _status(person: Person, path: str, fields: dict[str, str]) -> int:
    return person.send(path, fields).status_code


def _confirmed(customer: Customer, quote: dict[str, Any]) -> int:
    return confirm(customer, quote).status_code


def _hang_up(person: Person, path: str, fields: dict[str, str]) -> int:
    """Send a form and leave before the response, as a browser does with a preview that it no longer needs."""
    address, body = urlsplit(str(person.http.base_url)), urlencode(fields).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\nCookie: {person.cookie}\r\nSec-Fetch-Site: same-origin\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        connection.sendall(head.encode() + body)
        time.sleep(random.uniform(0, 0.05))  # noqa: S311 somewhere between the request and the response
    return 0


@pytest.mark.sweep
def test_previews_and_the_sent_form_do_not_disturb_each_other(office: BackOfficeSite, desk: list[Person]) -> None:
    customer = office.service.customer()
    for _ in range(_ROUNDS):
        quote = request_quote(customer, _ITEMS)
        path = f"/quote/{quote['confirmation_code']}/price"
        typed = _typed(desk[0], path, "20")
        live = typed | {"preview": "live"}
        calls: list[Callable[[], Any]] = [partial(_status, person, path, live) for person in desk]
        calls += [partial(_hang_up, person, path, live) for person in desk]
        calls += [partial(_status, desk[0], path, typed)] * 3
        found = in_parallel(calls)
        assert set(found[:3]) == {200}, found
        assert 303 in found[6:], found
        assert set(found[6:]) <= {303, 409}, found
        assert len(jobs(office.service, "mail_quote_priced", quote)) == 1
    assert faults_in_the_books(office.service) == {}


@pytest.mark.sweep
def test_previews_during_a_confirmation_show_the_quote_as_it_is(office: BackOfficeSite, desk: list[Person]) -> None:
    customer = office.service.customer()
    for _ in range(_ROUNDS):
        quote = request_quote(customer, _ITEMS)
        path = f"/quote/{quote['confirmation_code']}/price"
        typed = _typed(desk[0], path, "20")
        assert desk[0].send(path, typed).status_code == 303
        live = typed | {"preview": "live"}
        again = _typed(desk[1], path, "10")
        calls: list[Callable[[], Any]] = [partial(_status, person, path, live) for person in desk * 2]
        calls += [partial(_status, desk[1], path, again), partial(_status, desk[2], path, again)]
        calls += [partial(_confirmed, customer, quote)]
        calls += [partial(_status, desk[0], path.replace("/price", "/decline"), {"once": "", "reason": "No stock"})]
        found = in_parallel(calls)
        assert set(found[:6]) <= {200, 409}, found
        assert set(found[6:]) <= {200, 303, 409, 410, 412}, found  # 410: confirmed after it was declined
    assert faults_in_the_books(office.service) == {}


@pytest.mark.sweep
def test_a_preview_that_waits_too_long_for_the_quote_keeps_the_form(office: BackOfficeSite, desk: list[Person]) -> None:
    quote = request_quote(office.service.customer(), _ITEMS)
    path = f"/quote/{quote['confirmation_code']}/price"
    live = _typed(desk[0], path, "20.5") | {"preview": "live"}
    with psycopg.connect(office.service.database_url) as holder:
        holder.execute("select 1 from orders where confirmation_code = %s for update", [quote["confirmation_code"]])
        shown = desk[0].send(path, live)
    assert shown.status_code == 409
    assert "Someone else is changing this" in shown.text
    assert 'value="20.5"' in shown.text
