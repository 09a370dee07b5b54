"""Which credential takes precedence, and how a wrong one is rejected (specification, section 5)."""

from collections.abc import Callable
from urllib.parse import quote

import httpx2
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from support.service import Customer, Service

Headers = list[tuple[bytes, bytes]]

WRONG = "0" * 64
MISSING = "Bearer"
BAD = 'Bearer error="invalid_token"'


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    return service.customer(first_name="Ada")


@pytest.fixture(scope="module")
def other(service: Service) -> Customer:
    return service.customer(first_name="Bob")


@pytest.fixture(scope="module")
def bare(service: Service) -> httpx2.Client:
    """A client without credentials."""
    return service.client()


def headers_of(*pairs: tuple[str, str | bytes]) -> Headers:
    return [(name.encode(), value if isinstance(value, bytes) else value.encode()) for name, value in pairs]


def assert_rejected(response: httpx2.Response, challenge: str) -> None:
    assert response.status_code == 401, response.text
    assert response.content == b"{}"
    assert response.headers["content-type"] == "application/json"
    assert response.headers["www-authenticate"] == challenge


def who(response: httpx2.Response) -> str:
    assert response.status_code == 200, response.text
    name: str = response.json()["first_name"]
    return name


@pytest.mark.spec("5 Authentication", "a key in the header or in the query identifies the customer")
def test_a_key_in_the_header_is_accepted(bare: httpx2.Client, customer: Customer) -> None:
    assert who(bare.get("/customer", headers={"X-Api-Key": customer.key})) == "Ada"


@pytest.mark.spec("5 Authentication", "a key in the header or in the query identifies the customer")
def test_a_key_in_the_query_is_accepted(bare: httpx2.Client, customer: Customer) -> None:
    assert who(bare.get("/customer", params={"api-key": customer.key})) == "Ada"


def test_a_percent_encoded_key_in_the_query_is_accepted(bare: httpx2.Client, customer: Customer) -> None:
    encoded = "".join(f"%{ord(letter):02x}" for letter in customer.key)
    assert who(bare.get(f"/customer?api%2Dkey={encoded}")) == "Ada"


@pytest.mark.spec("5 Authentication", "a key in the header or in the query identifies the customer")
def test_the_header_takes_precedence_over_the_query(bare: httpx2.Client, customer: Customer, other: Customer) -> None:
    found = bare.get("/customer", headers={"X-Api-Key": customer.key}, params={"api-key": other.key})
    assert who(found) == "Ada"


def test_a_wrong_header_is_rejected_even_with_a_valid_query_parameter(bare: httpx2.Client, customer: Customer) -> None:
    found = bare.get("/customer", headers={"X-Api-Key": WRONG}, params={"api-key": customer.key})
    assert_rejected(found, BAD)


def test_an_empty_header_falls_back_to_the_query(bare: httpx2.Client, customer: Customer) -> None:
    assert who(bare.get("/customer", headers={"X-Api-Key": ""}, params={"api-key": customer.key})) == "Ada"


def test_an_empty_parameter_is_ignored(bare: httpx2.Client, customer: Customer) -> None:
    assert who(bare.get(f"/customer?api-key=&api-key={customer.key}&api-key=")) == "Ada"
    assert_rejected(bare.get("/customer?api-key="), MISSING)


@pytest.mark.spec("5 Authentication", "a bearer token takes precedence")
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
@pytest.mark.parametrize("token", ["a" * 64, "short", "with spaces in it", "\tx"])
def test_a_bearer_token_takes_precedence_over_any_key(
    bare: httpx2.Client, customer: Customer, scheme: str, token: str
) -> None:
    found = bare.get(
        "/customer",
        headers={"Authorization": f"{scheme} {token}", "X-Api-Key": customer.key},
        params={"api-key": customer.key},
    )
    assert_rejected(found, BAD)


def test_a_customers_key_is_not_accepted_as_bearer_token(bare: httpx2.Client, customer: Customer) -> None:
    assert_rejected(bare.get("/customer", headers={"Authorization": f"Bearer {customer.key}"}), BAD)


@pytest.mark.spec("5 Authentication", "a bearer token takes precedence")
def test_an_empty_bearer_token_does_not_fall_back_to_the_key(bare: httpx2.Client, customer: Customer) -> None:
    found = bare.get("/customer", headers={"Authorization": "Bearer", "X-Api-Key": customer.key})
    assert_rejected(found, MISSING)


def test_a_bearer_token_after_another_authorization_still_takes_precedence(
    bare: httpx2.Client, customer: Customer
) -> None:
    headers = headers_of(
        ("Authorization", "Basic eDp5"), ("Authorization", "Bearer stolen"), ("X-Api-Key", customer.key)
    )
    assert_rejected(bare.get("/customer", headers=headers), BAD)


@pytest.mark.parametrize(
    "authorization",
    [
        "Basic eDp5",
        "Digest username=x",
        "Negotiate abc",
        "ApiKey 1",
        "Bearerish x",
        "gibberish",
        "",
        b"\xff\xfe x",
    ],
)
def test_other_authorization_schemes_are_ignored(
    bare: httpx2.Client, customer: Customer, authorization: str | bytes
) -> None:
    with_key = headers_of(("Authorization", authorization), ("X-Api-Key", customer.key))
    assert who(bare.get("/customer", headers=with_key)) == "Ada"
    assert_rejected(bare.get("/customer", headers=headers_of(("Authorization", authorization))), MISSING)


def test_two_keys_in_the_query_are_rejected_even_if_both_are_valid(bare: httpx2.Client, customer: Customer) -> None:
    assert_rejected(bare.get(f"/customer?api-key={customer.key}&api-key={customer.key}"), BAD)


def test_two_key_headers_are_rejected(bare: httpx2.Client, customer: Customer, other: Customer) -> None:
    headers = headers_of(("X-Api-Key", customer.key), ("X-Api-Key", other.key))
    assert_rejected(bare.get("/customer", headers=headers), BAD)


MISSHAPEN: dict[str, Callable[[str], bytes]] = {
    "a character short": lambda key: key[:-1].encode(),
    "a character long": lambda key: (key + "0").encode(),
    "twice": lambda key: (key * 2).encode(),
    "upper case": lambda key: key.upper().encode(),
    "quoted": lambda key: f'"{key}"'.encode(),
    "joined by a comma": lambda key: f"{key}, {key}".encode(),
    "with a Latin-1 letter": lambda key: (key[:-1] + "é").encode("latin-1"),
    "with an accent in UTF-8": lambda key: (key[:-2] + "é").encode(),
    "the beginning": lambda key: key[:8].encode(),
    "very long": lambda key: key.encode() * 300,
    "another": lambda key: key[::-1].encode(),
}


@pytest.mark.spec("7 401", "missing or invalid key or token")
@pytest.mark.parametrize("change", MISSHAPEN.values(), ids=MISSHAPEN.keys())
def test_a_slightly_changed_key_is_rejected(
    bare: httpx2.Client, customer: Customer, change: Callable[[str], bytes]
) -> None:
    key = change(customer.key)
    assert_rejected(bare.get("/customer", headers=[(b"X-Api-Key", key)]), BAD)
    assert_rejected(bare.get(f"/customer?api-key={quote(key)}"), BAD)


@pytest.mark.parametrize("encoded", ["%00" * 64, "%ED%A0%80", "%ff" * 64, "%C3%A9" * 64, "%20", "%", "%zz", "a%0d%0a"])
def test_garbage_as_a_key_in_the_query_is_rejected(bare: httpx2.Client, encoded: str) -> None:
    assert_rejected(bare.get(f"/customer?api-key={encoded}"), BAD)


@pytest.mark.spec("5 Authentication", "missing or invalid is 401 with an empty JSON body")
def test_a_missing_and_a_bad_credential_differ_only_in_the_challenge(bare: httpx2.Client) -> None:
    assert_rejected(bare.get("/customer"), MISSING)
    assert_rejected(bare.get("/customer", headers={"X-Api-Key": WRONG}), BAD)


@pytest.mark.parametrize("name", ["API-KEY", "apikey", "api_key", "x-api-key", "key"])
def test_a_key_under_another_parameter_name_is_ignored(bare: httpx2.Client, customer: Customer, name: str) -> None:
    assert_rejected(bare.get("/customer", params={name: customer.key}), MISSING)


def test_a_key_in_a_cookie_or_in_the_body_is_ignored(bare: httpx2.Client, customer: Customer) -> None:
    assert_rejected(bare.get("/customer", headers={"Cookie": f"api-key={customer.key}"}), MISSING)
    assert_rejected(bare.post("/order", json={"api-key": customer.key}), MISSING)


def test_the_header_name_ignores_case(bare: httpx2.Client, customer: Customer) -> None:
    for name in ("x-api-key", "X-API-KEY", "X-Api-Key"):
        assert who(bare.get("/customer", headers={name: customer.key})) == "Ada"


def test_the_database_stores_only_the_hash_and_the_prefix_of_a_key(service: Service, customer: Customer) -> None:
    with psycopg.connect(service.database_url) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        contents = "".join(
            str(connection.execute(SQL("select t::text from {} t").format(Identifier(table))).fetchall())
            for (table,) in tables
        )
    assert customer.key[:8] in contents, "the prefix identifies the key"
    assert customer.key not in contents
    assert customer.key[8:] not in contents


def test_a_response_never_contains_a_key(bare: httpx2.Client, customer: Customer) -> None:
    """Paging links are the exception: they keep a key from the query, so that a client can follow them."""
    for path in ("/customer", "/product?page=x", "/product?sort=x", "/order/nothing", "/nowhere", "/customer/credit"):
        for found in (
            bare.get(path, headers={"X-Api-Key": customer.key}),
            bare.get(path, params={**httpx2.URL(path).params, "api-key": customer.key}),
        ):
            assert customer.key not in found.text + str(found.headers), path
