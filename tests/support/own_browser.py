"""A browser that keeps cookies as browsers do, also Secure ones over plain HTTP on loopback."""

from dataclasses import dataclass, field
from http.cookies import Morsel, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import httpx2

from support.pages import browser, fields_of
from support.service import unused_client_address


@dataclass
class Browser:
    """A browser at an address of its own."""

    url: str
    address: str = field(default_factory=unused_client_address)
    cookies: dict[str, str] = field(default_factory=dict)
    set: dict[str, "Morsel[str]"] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """A page; redirects are not followed."""
        return self._request("GET", path, headers=headers)

    def send(self, path: str, **fields: str) -> httpx2.Response:
        """The response to a form that a page of the site sends; redirects are not followed."""
        return self._request("POST", path, headers={"Sec-Fetch-Site": "same-origin"}, data=fields)

    def fill(self, path: str, **fields: str) -> httpx2.Response:
        """Open the page of a form and send it, with its hidden fields."""
        page = self.get(path)
        assert page.status_code == 200, page.text
        hidden = fields_of(page, where=lambda name: name not in fields and name != "q")
        return self.send(urlsplit(path).path, **hidden, **fields)

    def _request(self, method: str, path: str, headers: dict[str, str], **options: Any) -> httpx2.Response:
        sent = {"X-Forwarded-For": self.address, **headers}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        with browser(self.url) as client:
            response = client.request(method, path, headers=sent, **options)
        for line in response.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                self.set[name] = morsel
                if morsel["max-age"] == "0":
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = morsel.value
        return response
