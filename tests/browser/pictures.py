"""Takes the pictures of the README and the guides, into docs/pictures/: `make screenshots`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from support.browsing import Tab, signed_in, tab_in, window
from support.demo_sites import DemoSites
from support.page_walk import Walk, walk
from support.pages import Person, customer_user, staff_member

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
MOST = 150_000  # bytes of one picture
_EACH = 25

OFFICE = {
    "today": "/",
    "orders": "/order",
    "order": "/order/{reference}",
    "quote": "/quote/{code}/price",
    "customer": "/customer/{id}",
    "price": "/product/{sku}",
    "imports": "/import",
    "money": "/money",
    "debtors": "/customer/{id}/statement",
}
ACCOUNT = {
    "account": "/account",
    "account-order": "/account/order/{reference}",
    "account-new-order": "/account/new-order",
    "account-statement": "/account/invoice/statement",
    "account-developers": "/account/developer/call",
}
PHONE = {"order-phone-dark": "/order/{reference}"}


@pytest.fixture(scope="module")
def office_walk(sites: DemoSites) -> Walk:
    return walk(staff_member(sites.service, sites.office.url, "administrator", name="Sam Porter"), each=_EACH)


@pytest.fixture(scope="module")
def account_walk(sites: DemoSites) -> Walk:
    return walk(customer_user(sites.service, sites.customer_id), each=_EACH)


@pytest.fixture
def tab(browser: Browser, sites: DemoSites, request: pytest.FixtureRequest) -> Iterator[Tab]:
    own = [sites.service.url, sites.office.url]
    with window(browser) as context, tab_in(context, own, request.node.name) as found:
        yield found


def take(tab: Tab, person: Person, url: str, address: str, name: str) -> None:
    signed_in(tab, person, url)
    tab.open(url + address)
    file = FOLDER / f"{name}.png"
    tab.picture(file, whole=False)
    assert file.stat().st_size < MOST, name


def richest(walked: Walk, path: str) -> str:
    """The address of the page of a kind with most to show."""
    return max(walked.pages[path], key=lambda seen: len(seen.response.text)).address


@pytest.mark.parametrize("name", OFFICE)
def test_of_the_back_office(tab: Tab, sites: DemoSites, office_walk: Walk, name: str) -> None:
    take(tab, office_walk.person, sites.office.url, richest(office_walk, OFFICE[name]), name)


@pytest.mark.parametrize("name", ACCOUNT)
def test_of_the_account(tab: Tab, sites: DemoSites, account_walk: Walk, name: str) -> None:
    take(tab, account_walk.person, sites.service.url, richest(account_walk, ACCOUNT[name]), name)


@pytest.mark.parametrize("name", PHONE)
def test_on_a_phone_in_the_dark(tab: Tab, sites: DemoSites, office_walk: Walk, name: str) -> None:
    tab.resize(375, dark=True)
    take(tab, office_walk.person, sites.office.url, richest(office_walk, PHONE[name]), name)
