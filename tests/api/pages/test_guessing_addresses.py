"""Addresses that guess passwords: slowed down at both sites, in the log, and shown to administrators."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import buy, sell
from support.own_browser import Browser
from support.pages import staff_member, text_of
from support.people import PASSWORD, customer_user
from support.service import running_service
from support.shop import stock_shop

FORM = "/account/sign-in"


@pytest.fixture
def office(database_url: str) -> Iterator[BackOfficeSite]:
    """A back office of its own, since what one test guesses slows down the next."""
    with running_service(database_url) as service, backoffice_of(service) as site:
        yield site


def guess(browser: Browser, *accounts: str) -> list[int]:
    return [browser.send(FORM, email=email, password="a wrong guess").status_code for email in accounts]


def lines(work: Callable[[], object]) -> list[Any]:
    """The log's lines about sign-ins while some work is done."""
    with capture_logs() as logs:
        work()
    return [line for line in logs if line["event"].startswith("sign-in")]


def test_ten_guesses_slow_down_every_sign_in_from_an_address_whatever_the_accounts(office: BackOfficeSite) -> None:
    service, known = office.service, customer_user(office.service)
    guesser = Browser(service.url)
    assert guess(guesser, *(f"person-{n}@nowhere.example" for n in range(10))) == [401] * 10
    slowed = guesser.send(FORM, email=known.email, password=PASSWORD)
    assert (slowed.status_code, slowed.headers["Retry-After"]) == (429, "30")
    assert "too many wrong passwords: try again in 30 seconds" in text_of(slowed).lower()
    elsewhere = Browser(office.url, guesser.address)
    assert elsewhere.send("/sign-in", email=known.email, password=PASSWORD).status_code == 429, "the other site"
    assert Browser(service.url).send(FORM, email=known.email, password=PASSWORD).status_code == 303, "another address"
    service.clock.advance(timedelta(seconds=30))
    assert guess(guesser, known.email) == [401]
    assert guess(guesser, known.email) == [429], "one in 30 seconds"
    service.clock.advance(timedelta(seconds=30))
    assert guesser.send(FORM, email=known.email, password=PASSWORD).status_code == 303


@pytest.mark.sweep
def test_right_passwords_do_not_count(office: BackOfficeSite) -> None:
    known = customer_user(office.service)
    behind_one_address = Browser(office.service.url)
    for _ in range(12):
        behind_one_address.cookies.clear()
        assert behind_one_address.send(FORM, email=known.email, password=PASSWORD).status_code == 303


def test_every_failed_sign_in_is_in_the_log_without_what_was_typed(office: BackOfficeSite) -> None:
    known, guesser = customer_user(office.service), Browser(office.service.url)
    stranger = "my-secret-password@x"
    found = lines(lambda: guess(guesser, known.email, stranger))
    common = {"event": "sign-in failed", "log_level": "warning", "site": "account", "step": "password"}
    assert found == [
        common | {"person": f"user/{known.person.id}", "address": guesser.address},
        common | {"person": None, "address": guesser.address},
    ]
    assert stranger not in str(found)


@pytest.mark.sweep
def test_those_of_a_slowed_address_are_counted(office: BackOfficeSite) -> None:
    guesser = Browser(office.service.url)
    guess(guesser, *["nobody@nowhere.example"] * 10)
    [first, *more] = lines(lambda: guess(guesser, *["nobody@nowhere.example"] * 5))
    assert first["event"] == "sign-in from an address that is slowed down rejected"
    assert first["address"] == guesser.address
    assert more == [], "a count follows five seconds later"


@pytest.mark.sweep
def test_administrators_see_slowed_addresses(office: BackOfficeSite) -> None:
    ada = staff_member(office.service, office.url, "administrator")
    guesser = Browser(office.service.url)
    assert guesser.address not in text_of(ada.get("/staff"))
    guess(guesser, *(f"person-{n % 4}@nowhere.example" for n in range(10)))
    shown = text_of(ada.get("/staff"))
    assert f"{guesser.address} 10 4" in shown
    office.service.clock.advance(timedelta(minutes=10))
    assert guesser.address not in text_of(ada.get("/staff"))


@pytest.mark.sweep
def test_a_flood_of_one_address_delays_nobody_else(database_url: str) -> None:
    with running_service(database_url) as service, ThreadPoolExecutor(60) as threads:
        stock_shop(service)
        customer, known = service.customer(), customer_user(service)
        sku = sell(service, "FLOOD-1", available=100)
        flooding = Browser(service.url)
        sent = [threads.submit(guess, flooding, *[f"person-{n}@nowhere.example"] * 2) for n in range(60)]
        for _ in range(5):
            assert Browser(service.url).send(FORM, email=known.email, password=PASSWORD).status_code == 303
            assert buy(customer, [(sku, 1)])["order_reference"]
        statuses = [status for each in sent for status in each.result()]
    assert set(statuses) == {401, 429}
    assert statuses.count(401) == 10
