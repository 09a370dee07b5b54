"""Takes the pictures of the README and the guides: `make screenshots`."""

import base64
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from support.browsing import Tab, signed_in, tab_in, window
from support.demo_sites import DemoSites
from support.page_walk import Walk, walk
from support.pages import Person, customer_user, staff_member

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
SERVED = ROOT / "src" / "tradecounter" / "edge" / "page_kit" / "static"  # the customers' guide is a page of the service
MOST = 110_000  # bytes of one picture
_EACH = 25
_QUALITY = 88

# The path of each picture's page, and what the page says, of which the one with most to show is taken.
OFFICE = {
    "today": ("/", "What needs attention"),
    "orders": ("/order", "More filters"),
    "order": ("/order/{reference}", "Part dispatched"),
    "quote": ("/quote/{code}/price", "Waiting"),
    "price": ("/product/{sku}", 'href="/customer/1001/price"'),
    "imports": ("/import", "Check a file"),
    "debtors": ("/money", "Due by age"),
}
ACCOUNT = {
    "account": ("/account", "To do first"),
    "account-order": ("/account/order/{reference}", "serial number"),
    "account-shop": ("/account/product", "Categories"),
    "account-product": ("/account/product/{sku}", "Goes with it"),
    "account-new-order": ("/account/new-order", "Net, without shipping"),
    "account-statement": ("/account/invoice/statement", "Closing balance"),
}
# What is chosen on a page, and where the picture begins.
CHOSEN = {"orders": "?status=To+dispatch", "price": "?customer=1001&quantity=5#why"}
IN_CUSTOMERS_GUIDE = ("account", "account-order")
DARK = ("today", "account-shop")  # in the README, which follows the reader's colours
PHONE = ("order",)


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
    """Write what the window shows of a page."""
    signed_in(tab, person, url)
    tab.open(url + address)
    tab.page.wait_for_load_state("networkidle")  # counts come after the page
    session = tab.page.context.new_cdp_session(tab.page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": _QUALITY})
    picture = base64.b64decode(taken["data"])
    assert len(picture) < MOST, name
    folder = SERVED if name in IN_CUSTOMERS_GUIDE else FOLDER
    (folder / f"{name}.webp").write_bytes(picture)


def best(walked: Walk, page: tuple[str, str]) -> str:
    """The address of the page with most to show."""
    path, text = page
    fitting = [seen for seen in walked.pages[path] if seen.is_html and text in seen.response.text]
    return max(fitting, key=lambda seen: (-len(urlsplit(seen.address).query), len(seen.response.text))).address


@pytest.mark.parametrize("name", OFFICE)
def test_of_the_back_office(tab: Tab, sites: DemoSites, office_walk: Walk, name: str) -> None:
    address = best(office_walk, OFFICE[name]) + CHOSEN.get(name, "")
    take(tab, office_walk.person, sites.office.url, address, name)


@pytest.mark.parametrize("name", ACCOUNT)
def test_of_the_account(tab: Tab, sites: DemoSites, account_walk: Walk, name: str) -> None:
    take(tab, account_walk.person, sites.service.url, best(account_walk, ACCOUNT[name]), name)


@pytest.mark.parametrize("name", DARK)
def test_in_the_dark(tab: Tab, sites: DemoSites, office_walk: Walk, account_walk: Walk, name: str) -> None:
    tab.resize(1280, dark=True)
    if name in OFFICE:
        take(tab, office_walk.person, sites.office.url, best(office_walk, OFFICE[name]), f"{name}-dark")
    else:
        take(tab, account_walk.person, sites.service.url, best(account_walk, ACCOUNT[name]), f"{name}-dark")


@pytest.mark.parametrize("name", PHONE)
def test_on_a_phone(browser: Browser, sites: DemoSites, office_walk: Walk, name: str) -> None:
    with window(browser, width=375) as context, tab_in(context, [sites.office.url], name) as phone:
        take(phone, office_walk.person, sites.office.url, best(office_walk, OFFICE[name]), f"{name}-phone")
