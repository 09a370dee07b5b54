"""The pages about agents in a real Chromium: what a person allows, the way back, and the list that ends it."""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from support.accessibility import all_errors
from support.agent_consent import Connecting, connecting
from support.application_site import Application, application_site
from support.backoffice import BackOfficeSite
from support.browsing import Tab, signed_in, tab_in, window
from support.orders import rows
from support.pages import customer_user, staff_member
from support.service import Service


@pytest.fixture(scope="module")
def application() -> Iterator[Application]:
    with application_site() as site:
        yield site


@pytest.fixture
def program(shop: Service, application: Application) -> Connecting:
    owner = customer_user(shop, shop.customer().id, "owner")
    return connecting(shop, owner, application.url)


@pytest.fixture
def tab(
    browser: Browser, shop: Service, office: BackOfficeSite, application: Application, program: Connecting,
    request: pytest.FixtureRequest,
) -> Iterator[Tab]:  # fmt: skip
    """A tab in which the owner has signed in."""
    own = [shop.url, office.url, application.url]
    with window(browser) as context, tab_in(context, own, request.node.name) as found:
        signed_in(found, program.person, shop.url)
        yield found


def test_a_person_corrects_the_limits_allows_the_agent_and_ends_it(
    tab: Tab, shop: Service, application: Application, program: Connecting
) -> None:
    tab.open(f"{shop.url}/auth/authorize?{urlencode(program.request())}")
    expect(tab.page.locator("h1")).to_have_text("Allow Assistant?")
    assert all_errors(tab) == []
    tab.page.get_by_label("All its orders of a day may cost").fill("100")
    tab.page.get_by_role("button", name="Allow", exact=True).click()
    expect(tab.page.get_by_role("alert")).to_contain_text("must be at least the limit of one order")
    assert all_errors(tab) == []
    tab.page.get_by_label("All its orders of a day may cost").fill("2,000")
    tab.page.get_by_role("button", name="Allow", exact=True).click()
    found = application.arrival()
    assert (found["state"], found["iss"]) == (["some state"], [f"{shop.url}/auth"])
    assert program.redeem(found["code"][0]).status_code == 200
    tab.open(f"{shop.url}/account/developer/agent")
    expect(tab.page.get_by_role("row", name="Assistant")).to_contain_text("£2,000.00")
    assert all_errors(tab) == []
    tab.page.get_by_role("link", name="Revoke").click()
    tab.page.get_by_role("button", name="Revoke").click()
    expect(tab.page.get_by_text("The access is revoked")).to_be_visible()
    expect(tab.page.get_by_text("No agent has access.")).to_be_visible()


def test_staff_see_a_customers_agents_and_end_them(
    tab: Tab, shop: Service, office: BackOfficeSite, program: Connecting
) -> None:
    program.tokens()
    [(customer,)] = rows(shop, "select customer_id from customer_user where id = %s", program.person.id)
    signed_in(tab, staff_member(shop, office.url, "support"), office.url)
    tab.open(f"{office.url}/customer/{customer}/access")
    agents = tab.page.get_by_role("region", name="Agents with access")
    expect(agents).to_contain_text("Assistant")
    assert all_errors(tab) == []
    agents.get_by_role("link", name="Revoke").click()
    tab.page.get_by_role("button", name="Revoke").click()
    expect(tab.page.get_by_text("The access is revoked")).to_be_visible()
    expect(agents).to_have_count(0)
