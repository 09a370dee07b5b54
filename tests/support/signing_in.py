"""Both sites with someone who can sign in, over HTTP as a browser does."""

import base64
import re
from dataclasses import dataclass
from datetime import timedelta

import httpx2

from support.backoffice import BackOfficeSite
from support.own_browser import Browser
from support.pages import text_of
from support.people import PASSWORD, Someone, customer_user, staff_member, totp
from support.service import Service
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite
from tradecounter.edge.people import Site


@dataclass
class Place:
    """A site with someone who can sign in."""

    service: Service
    site: PageSite
    url: str
    who: Someone

    def browser(self) -> Browser:
        return Browser(self.url)

    def path(self, page: str) -> str:
        return self.site.root + page

    def sign_in(self, browser: Browser, password: str = PASSWORD, **fields: str) -> httpx2.Response:
        return browser.send(self.path("/sign-in"), email=self.who.email, password=password, **fields)

    def signed_in(self) -> Browser:
        browser = self.browser()
        response = self.sign_in(browser)
        assert response.status_code == 303, response.text
        assert browser.get(self.site.home).status_code == 200
        return browser

    def set_up_factor(self, browser: Browser) -> tuple[bytes, list[str]]:
        """Set up a second factor; return its secret and the recovery codes."""
        path = self.path("/sign-ins/second-factor")
        secret = secret_in(browser.get(path))
        shown = browser.fill(path, code=totp(secret, self.service))
        assert shown.status_code == 200
        self.service.clock.advance(timedelta(seconds=30))
        return secret, codes_in(shown)


def secret_in(page: httpx2.Response) -> bytes:
    found = re.search(r"Key: ((?:[A-Z2-7]{4} ){8})", text_of(page) + " ")
    assert found is not None, page.text
    return base64.b32decode(found[1].replace(" ", ""))


def codes_in(page: httpx2.Response) -> list[str]:
    found = re.findall(r"<code>((?:[a-z2-7]{5}-){5}[a-z2-7])</code>", page.text)
    assert len(found) == 10
    return found


def place_at(site: Site, office: BackOfficeSite) -> Place:
    service = office.service
    if site == "staff":
        return Place(service, BACK_OFFICE, office.url, staff_member(service))
    return Place(service, ACCOUNT, service.url, customer_user(service))
