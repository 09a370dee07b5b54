"""Whatever a request for consent contains, the browser is sent nowhere but to the application's own addresses."""

from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.consent import CALLBACK, Consenting, Registered, running_consent
from support.fuzzed import fuzzed
from support.pages import Person, customer_user

pytestmark = pytest.mark.sweep

ALLOWED = (CALLBACK, "https://erp.example/callback?from=shop")
NAMES = ["response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method", "prompt",
         "response_mode", "scope", "nonce", "request", "request_uri", "decision", "login_hint"]  # fmt: skip
PARTS = [
    CALLBACK, ALLOWED[1], "https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)",
    "@evil.example",
    ".evil.example", "#", "?", "&", "%0d%0aLocation: https://evil.example", "\r\nX-Injected: 1", "\x00", "é", "\ud83d",
    "none", "consent", "login", "code", "token", "S256", "plain", "query", "fragment", "v" * 43, "a" * 3000, "..", " ",
    "http://127.0.0.1:9/callback/../x", "http://127.0.0.1:10/callback", "HTTP://127.0.0.1:9/callback",
]  # fmt: skip
values = st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=3).map("".join)
changes = st.lists(st.tuples(st.sampled_from(NAMES), values | st.none()), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def application(consenting: Consenting) -> Registered:
    return consenting.register(*ALLOWED)


@pytest.fixture(scope="module")
def owner(consenting: Consenting) -> Person:
    return customer_user(consenting.service, consenting.customer.id, "owner")


@fuzzed(200)
@given(changes, st.booleans(), st.sampled_from(["", "allow", "deny", "allowed"]))
def test_nobody_is_sent_to_an_address_that_is_not_registered(
    consenting: Consenting, application: Registered, owner: Person,
    changes: list[tuple[str, str | None]], repeated: bool, decision: str,
) -> None:  # fmt: skip
    whole: list[tuple[str, str]] = list(consenting.request(application).items())
    for name, value in changes:
        if not repeated:
            whole = [pair for pair in whole if pair[0] != name]
        if value is not None:
            whole.append((name, value))
    query = "&".join(f"{name}={quote(value, safe='', errors='replace')}" for name, value in whole)
    if decision:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
        response = owner.http.post("/auth/authorize", content=f"{query}&decision={decision}", headers=headers)
    else:
        response = owner.get(f"/auth/authorize?{query}", headers={"Sec-Fetch-Site": "cross-site"})
    assert response.status_code < 500, response.text
    assert "x-injected" not in response.headers
    location = response.headers.get("location")
    if location is not None:
        assert location.isascii()
        assert location.startswith(ALLOWED) or not urlsplit(location).netloc, location
        assert not location.startswith(("//", "/\\")), location
