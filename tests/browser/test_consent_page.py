"""The consent page in a real Chromium: the redirects to the application under the content policies of the pages."""

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from support.browsing import Tab, signed_in, tab_in, window
from support.consent import Consenting, Registered, running_consent
from support.pages import customer_user


@dataclass
class Application:
    """The site of an application: another origin, which notes how browsers arrive at its redirect URI."""

    url: str
    arrivals: queue.Queue[tuple[str, str | None]]

    def arrival(self) -> dict[str, list[str]]:
        """The query with which the browser arrives next; it must not say where it came from."""
        path, referrer = self.arrivals.get(timeout=20)
        assert referrer is None
        return parse_qs(urlsplit(path).query)


@contextmanager
def application_site() -> Iterator[Application]:
    arrivals: queue.Queue[tuple[str, str | None]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/callback"):
                arrivals.put((self.path, self.headers["Referer"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Application(f"http://127.0.0.1:{server.server_port}/callback", arrivals)
        finally:
            server.shutdown()
            thread.join()


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
