"""People who sign in to the pages of a site, as a browser does."""

import base64
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

import httpx2

from bench.kit.processes import BenchError
from bench.kit.product import Server, tradecounter
from bench.kit.store import Store
from tradecounter.access.second_factor import code_at, step_of
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite

_PASSWORD = "a long bench password"  # noqa: S105 the account exists only during the benchmark
_OK, _SEE_OTHER = 200, 303
_KEY = re.compile(r"Key: <code>([A-Z2-7 ]+)</code>")


class Visitor:
    """Somebody at a server's pages; a context manager."""

    def __init__(self, server: Server, cookie: str = "") -> None:
        headers = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin", "Cookie": cookie}
        self._http = httpx2.Client(base_url=f"http://{server.host}:{server.port}", headers=headers, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def get(self, path: str) -> str:
        """Return a page."""
        return self._checked(path, self._http.get(path)).text

    def send(self, path: str, **fields: object) -> str:
        """Send a form; return the address to which its response leads, or nothing."""
        return self._leads_to(path, self._http.post(path, data={**fields, "once": ""}))

    def upload(self, path: str, name: str, content: str) -> str:
        """Send a form with a file; return the address as `send`."""
        return self._leads_to(path, self._http.post(path, files={"file": (name, content.encode(), "text/csv")}))

    def cookie_after(self, path: str, **fields: str) -> str:
        """Send a form; return the cookies that its response sets."""
        response = self._checked(path, self._http.post(path, data=fields))
        return "; ".join(line.partition(";")[0] for line in response.headers.get_list("set-cookie"))

    def _leads_to(self, path: str, response: httpx2.Response) -> str:
        return self._checked(path, response).headers.get("Location", "")

    def _checked(self, path: str, response: httpx2.Response) -> httpx2.Response:
        if response.status_code not in {_OK, _SEE_OTHER}:
            raise BenchError(f"{path} responded with {response.status_code}")
        return response


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who can sign in at a site."""

    site: PageSite
    email: str

    def cookie_at(self, server: Server) -> str:
        """Sign in; return the cookies of the session. Those of somebody with a second factor only lead to the code."""
        with Visitor(server) as visitor:
            return visitor.cookie_after(f"{self.site.root}/sign-in", email=self.email, password=_PASSWORD)

    def set_up_factor(self, server: Server) -> None:
        """Set up a second factor."""
        path = f"{self.site.root}/sign-ins/second-factor"
        with Visitor(server, self.cookie_at(server)) as visitor:
            key = _KEY.search(visitor.get(path))
            if key is None:
                raise BenchError(f"{path} shows no key")
            visitor.send(path, code=code_at(base64.b32decode(key[1].replace(" ", "")), step_of(datetime.now(UTC))))


def invite_member(store: Store, email: str) -> str:
    """Add an administrator; return the secret with which the password is set."""
    return _invited(store, "staff", "add", email, "--name", "Bench", "--role", "administrator")


def invite_user(store: Store, customer_id: int, email: str, role: str) -> str:
    """Add a user of a customer; return the secret as `invite_member`."""
    return _invited(store, "user", "invite", str(customer_id), email, "--role", role)


def add_member(store: Store, server: Server, name: str = "bench") -> Person:
    """Add an administrator who can sign in to the back office."""
    person = Person(BACK_OFFICE, f"{name}@reseller.example")
    return _with_password(person, server, invite_member(store, person.email))


def add_owner(store: Store, server: Server, customer_id: int, name: str = "owner") -> Person:
    """Add an owner of a customer who can sign in to the account."""
    person = Person(ACCOUNT, f"{name}-{customer_id}@shop.example")
    return _with_password(person, server, invite_user(store, customer_id, person.email, "owner"))


def _invited(store: Store, *words: str) -> str:
    link: str = tradecounter(store.env, *words)["link"]
    [token] = parse_qs(urlsplit(link).query)["token"]
    return token


def _with_password(person: Person, server: Server, token: str) -> Person:
    with Visitor(server) as visitor:
        visitor.send(f"{person.site.root}/set-password", token=token, password=_PASSWORD)
    return person
