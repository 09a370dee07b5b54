"""Whatever a token, a client's credentials or a form of an application contain, only what is right is accepted."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.applications import Exchange, running_exchange
from support.consent import Consenting, running_consent
from support.fuzzed import damaged, fuzzed
from support.orders import rows
from support.plain_request import ask

FORM = ("Content-Type", "application/x-www-form-urlencoded")
PATHS = ["/oauth/token", "/auth/token", "/auth/revoke"]
CLAIMS = ["iss", "sub", "aud", "exp", "nbf", "iat", "client_id", "azp", "grant", "jti", "kid", "alg", "typ", "crit",
"b64",
          "jwk", "jku", "x5c", "x5u", "zip", "enc", "cty"]  # fmt: skip
PIECES = [
    b".", b"=", b"==", b"-", b"_", b"+", b"/", b"A", b"e30", b"%", b"%2", b"%00", b"%ff", b"&", b"&&", b"\x00",
    b"\xff", b" ",
    b"client_id=", b"&client_secret=x", b"grant_type=", b"subject_token=", b"&resource=http%3A%2F%2F", b"code=",
    b"token=",
    b"refresh_token=", b"a" * 9000, b"eyJhbGciOiJub25lIn0", b"..", b"....", b"&a=" * 2000,
]  # fmt: skip
pieces = st.sampled_from(PIECES) | st.binary(max_size=5)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
    | st.sampled_from(["ES256", "RS256", "HS256", "none", "EdDSA", "first", "JWT", "1001", "-1", 2**63, 10**400,
    "\x00", "*"])
)  # fmt: skip
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(CLAIMS), inner, max_size=3)
)
objects = st.dictionaries(st.sampled_from(CLAIMS), anything, max_size=6)


@pytest.fixture(scope="module")
def exchange(database_url: str) -> Iterator[Exchange]:
    with running_exchange(database_url) as running:
        assert [running.customer.id, running.service.customer().id] == [1001, 1002]
        yield running


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


def parts_of(token: str) -> list[bytes] | None:
    """The bytes that a token in compact form stands for: unused bits of its last characters mean nothing."""
    try:
        return [base64.urlsafe_b64decode(part.encode() + b"=" * (-len(part) % 4)) for part in token.split(".")]
    except ValueError:
        return None


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@pytest.mark.sweep
@fuzzed(150)
@given(st.data())
def test_a_damaged_token_is_rejected(exchange: Exchange, data: st.DataObject) -> None:
    right = exchange.subject_token()
    token = data.draw(damaged(right.encode(), pieces)).decode("latin-1")
    response = exchange.exchange(token)
    if parts_of(token) == parts_of(right):
        return
    assert response.status_code in {400, 413}, response.text
    assert set(response.json()) <= {"error", "error_description", "message", "errors"}


@pytest.mark.sweep
@fuzzed(100)
@given(header=objects, claims=objects, kept=st.booleans())
def test_an_unsigned_token_is_rejected_whatever_its_header_says(
    exchange: Exchange, header: dict[str, Any], claims: dict[str, Any], kept: bool
) -> None:
    whole = {**exchange.claims(), **claims} if kept else claims
    signature = exchange.subject_token().rpartition(".")[2]
    for ending in ("", signature):
        response = exchange.exchange(f"{encoded(header)}.{encoded(whole)}.{ending}")
        assert response.status_code in {400, 413}, response.text


@pytest.mark.sweep
@fuzzed(100)
@given(objects, st.sampled_from(["1001", "1002"]))
def test_a_signed_token_of_any_claims_gives_only_the_customer_that_it_names(
    exchange: Exchange, claims: dict[str, Any], customer: str
) -> None:
    claims = {"sub": customer, **claims}
    claims.pop("alg", None)  # of the header
    token = exchange.subject_token(**claims)
    response = exchange.exchange(token)
    assert response.status_code in {200, 400}, response.text
    if response.status_code == 200:
        found = exchange.use(response.json()["access_token"]).json()
        named = {**exchange.claims(), **claims}["sub"]
        [(email,)] = rows(exchange.service, "select email_address from customer where id = %s", int(named))
        assert found["email_address"] == email


@pytest.mark.sweep
@fuzzed(150)
@given(st.data(), st.sampled_from(PATHS))
def test_any_form_of_an_application_is_rejected_clearly(consenting: Consenting, data: st.DataObject, path: str) -> None:
    application = consenting.application
    fields = b"grant_type=refresh_token&refresh_token=x&token=x&subject_token=a.b.c&client_id=&client_secret="
    basic = base64.b64encode(f"{application.client_id}:{application.client_secret}".encode())
    body = data.draw(damaged(fields, pieces))
    sender = data.draw(st.just(basic) | damaged(basic, pieces))
    credentials = ("Authorization", f"Basic {sender.decode('latin-1')}")
    if any(character in credentials[1] for character in "\x00\r\n"):
        return
    response = ask(consenting.service.url, "POST", path, [FORM, credentials], body)
    # A damaged form of a revocation may still name an unknown token, which is a success (RFC 7009).
    right = {400, 401, 403, 413} | ({200} if path == "/auth/revoke" else set())
    assert response.status in right, (response.status, response.body)
    assert json.loads(response.body) or response.status == 200


@pytest.mark.sweep
@fuzzed(150)
@given(
    st.text(st.characters(max_codepoint=255, exclude_characters="\0\r\n"), max_size=80)
    | st.sampled_from(
        ["Bearer", "bearer ", "Bearer  x", "Basic Og==", "Digest x", "Bearer " + "a" * 5000, "Bearer a.b.c", "Bearer é"]
    )
)
def test_any_credential_that_was_not_given_out_is_rejected(consenting: Consenting, credential: str) -> None:
    for name in ("Authorization", "X-Api-Key"):
        response = ask(consenting.service.url, "GET", "/customer", [(name, credential)])
        assert response.status in {400, 401}, (response.status, response.body)
