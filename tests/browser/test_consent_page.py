"""The consent page in a real Chromium: the redirects to the application under the content policies of the pages."""

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from support.application_site import Application, application_site
from support.browsing import Tab, signed_in, tab_in, window
from support.consent import Consenting, Registered, running_consent
from support.pages import customer_user


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def application() -> Iterator[Application]:
    with application_site() as site:
        yield site


@pytest.fixture
def tab(
    browser: Browser, consenting: Consenting, application: Application, request: pytest.FixtureRequest
) -> Iterator[Tab]:
    """A tab in which an owner has signed in."""
    owner = customer_user(consenting.service, consenting.customer.id)
    own = [consenting.service.url, application.url]
    with window(browser) as context, tab_in(context, own, request.node.name) as found:
        signed_in(found, owner, consenting.service.url)
        yield found


def address(consenting: Consenting, application: Registered) -> str:
    return f"{consenting.issuer}/authorize?{urlencode(consenting.request(application))}"


def test_the_forms_redirect_to_the_application_is_followed(
    tab: Tab, consenting: Consenting, application: Application
) -> None:
    registered = consenting.register(application.url)
    for decision, response in (("deny", "error"), ("allow", "code")):
        tab.open(address(consenting, registered))
        expect(tab.page.locator("h1")).to_have_text("Allow ERP?")
        tab.page.locator(f"button[value={decision}]").click()
        found = application.arrival()
        assert response in found
        assert found["iss"] == [consenting.issuer]
    tab.open(address(consenting, registered))
    assert "code" in application.arrival(), "not asked again"


def test_the_application_is_reached_after_a_form_of_this_site(
    tab: Tab, consenting: Consenting, application: Application
) -> None:
    registered = consenting.register(application.url)
    consenting.code(registered)  # so the consent stands
    tab.open(f"{consenting.service.url}/account")
    # As the sign-in page does: a form under a policy that allows only this site leads here.
    tab.run(
        "{ const form = document.createElement('form'); form.action = " + repr(f"{consenting.issuer}/authorize") + ";"
        f" const fields = {json.dumps(consenting.request(registered))};"
        " for (const name in fields) { const input = document.createElement('input');"
        " input.name = name; input.value = fields[name]; form.append(input); }"
        " document.body.append(form); form.submit(); }"
    )
    assert "code" in application.arrival()
    tab.page.wait_for_url(f"{application.url}?**")  # Chromium may hang when a tab is closed that is on its way
