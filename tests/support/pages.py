"""People who are signed in to pages, with a browser's headers and cookies."""

import itertools
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from typing import Any, Literal

import httpx2

from support.service import Service
from support.web_page import plain
from tradecounter.access.queries.people import put_user
from tradecounter.access.sessions import start_session
from tradecounter.access.staff import NewStaffMember, add_staff_member
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite
from tradecounter.edge.permissions import UserRole

_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_NO_KEEPING = httpx2.Limits(max_keepalive_connections=0)  # nothing to close after a test
_numbers = itertools.count(1)


@dataclass
class Person:
    """Someone at a site with pages; `send` sends forms as a browser does from a page of the site."""

    http: httpx2.Client
    id: int
    email: str
    site: PageSite

    def get(self, path: str, **options: Any) -> httpx2.Response:
        """A page; redirects are not followed."""
        return self.http.get(path, **options)

    def send(
        self, path: str, fields: dict[str, Any] | None = None, *, headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """The response to a form; redirects are not followed."""
        sent = {"Sec-Fetch-Site": "same-origin", **(headers or {})}
        return self.http.post(path, data=fields or {"once": ""}, headers=sent)

    def sends(self, path: str, fields: dict[str, Any] | None = None) -> httpx2.Response:
        """The page to which a form leads, with what it says; fails unless the form was taken."""
        response = self.send(path, fields)
        assert response.status_code == 303, response.text
        flash = {cookie.name: cookie.value for cookie in response.cookies.jar}
        cookies = "; ".join([self.cookie, *(f"{name}={value}" for name, value in flash.items())])
        return self.http.get(response.headers["Location"], headers={"Cookie": cookies})

    def confirms(self, path: str, fields: dict[str, Any]) -> httpx2.Response:
        """The page to which a form leads that shows what it would do before it does it."""
        return self.sends(path, fields | self.shown(self.send(path, fields)))

    def shown(self, response: httpx2.Response) -> dict[str, str]:
        """What to send to do what a form has shown, with a tick where it asks; nothing if it has shown nothing."""
        asked = re.findall(r'name="(on_account)" type="checkbox" value="([^"]*)"', response.text)
        return {name: value for name, value in fields_of(response).items() if name == "seen"} | dict(asked)

    @property
    def cookie(self) -> str:
        return self.http.headers.get("Cookie", "")


def browser(url: str, cookie: str = "") -> httpx2.Client:
    """A client with a browser's headers; its cookie is fixed, because it keeps no Secure cookies of plain HTTP."""
    headers = {"Accept": "text/html", "User-Agent": "Test Browser"} | ({"Cookie": cookie} if cookie else {})
    return httpx2.Client(base_url=url, headers=headers, verify=_NO_TLS, timeout=30, limits=_NO_KEEPING)


def staff_member(service: Service, url: str, *roles: Any, name: str = "Sam Staff") -> Person:
    """A new member of the staff, signed in to the back office at `url`."""
    email = f"staff{next(_numbers)}@reseller.example"
    now = service.clock.now()

    async def add(tx: Transaction) -> tuple[int, str]:
        member, _ = await add_staff_member(tx, NewStaffMember(email, name, list(roles)), "s" * 64, now)
        cookie, _ = await start_session(tx, "staff", member.id, "127.0.0.1", "Test Browser", now)
        return member.id, cookie

    member_id, value = service.in_transaction(add)
    return Person(browser(url, f"{BACK_OFFICE.cookie}={value}"), member_id, email, BACK_OFFICE)


def customer_user(service: Service, customer_id: int, role: UserRole = "owner", url: str = "") -> Person:
    """A new user of a customer, signed in to the account."""
    email = f"user{next(_numbers)}@shop.example"
    now = service.clock.now()

    async def add(tx: Transaction) -> tuple[int, str]:
        user = await put_user(tx, customer_id, email, role, now)
        assert user is not None
        cookie, _ = await start_session(tx, "account", user.id, "127.0.0.1", "Test Browser", now)
        return user.id, cookie

    user_id, value = service.in_transaction(add)
    return Person(browser(url or service.url, f"{ACCOUNT.cookie}={value}"), user_id, email, ACCOUNT)


def signed_in_again(service: Service, person: Person) -> None:
    """Give a person a new session."""
    now = service.clock.now()
    site: Literal["account", "staff"] = "account" if person.site is ACCOUNT else "staff"
    value, _ = service.in_transaction(lambda tx: start_session(tx, site, person.id, "127.0.0.1", "Test Browser", now))
    person.http.headers["Cookie"] = f"{person.site.cookie}={value}"


def text_of(response: httpx2.Response) -> str:
    """What a page says, without its markup, in one line."""
    parser = _Text()
    parser.feed(response.text)
    return re.sub(r"\s+", " ", " ".join(parser.parts)).strip()


def fields_of(response: httpx2.Response, *, where: Callable[[str], bool] = lambda _: True) -> dict[str, Any]:
    """The names and values of a page's fields, as they would be sent unchanged; not those of its header.

    Several ticked boxes of one name are a list.
    """
    parser = _Fields()
    parser.feed(response.text.partition("<main")[2] or response.text)
    return {name: value for name, value in parser.found.items() if where(name)}


def beside(page: httpx2.Response, name: str, form: str = "form") -> str:
    """The message beside a field of a form."""
    _, found, after = page.text.partition(f'id="{form}-{name}-error">')
    assert found, f"no message is beside {name}"
    text = unescape(after.partition("</p>")[0])
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def code_of(response: httpx2.Response, name: str) -> str:
    """A piece of code on a page, as a person copies it."""
    found = re.search(rf'<code id="{name}">(.*?)</code>', response.text, re.DOTALL)
    assert found is not None, response.text
    return plain(found[1])


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.goes_on = False  # after a place where a word may break

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.goes_on = tag == "wbr"

    def handle_data(self, data: str) -> None:
        if self.goes_on:
            self.parts[-1] += data
        else:
            self.parts.append(data)


class _Fields(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Any] = {}
        self._select = ""
        self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        name = values.get("name") or ""
        if tag == "input" and name and (values.get("type") not in {"checkbox", "radio"} or "checked" in values):
            value, before = values.get("value") or "", self.found.get(name)
            is_further = values.get("type") == "checkbox" and bool(before)
            self.found[name] = (
                [*before, value] if isinstance(before, list) else [before, value] if is_further else value
            )
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and (self._select not in self.found or "selected" in values):
            self.found[self._select] = values.get("value") or ""
        elif tag == "textarea" and name:
            self._area, self.found[name] = name, ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""
        elif tag == "textarea":
            self.found[self._area] = self.found[self._area].removeprefix("\n")
            self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.found[self._area] += data
