"""`POST /oauth/token`: requests and responses (specification, section 4)."""

import base64
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
import psycopg
import pytest
from authlib.integrations.httpx_client import OAuth2Client
from psycopg.sql import SQL, Identifier

from support.applications import ACCESS_TOKEN, GRANT, JWT, Exchange, assert_rejected, register, running_exchange
from support.applications import switch_off as switch_off_application

FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def exchange(database_url: str) -> Iterator[Exchange]:
    with running_exchange(database_url) as running:
        yield running


def post(exchange: Exchange, content: str | bytes, content_type: str | None = FORM, **options: Any) -> httpx2.Response:
    headers = {"Content-Type": content_type} if content_type else {}
    return exchange.http.post("/oauth/token", content=content, headers=headers, auth=exchange.basic, **options)


@pytest.mark.spec("4 POST /oauth/token", "consent is exchanged for a bearer token of 64 characters, not to be stored")
@pytest.mark.spec("8 API key and bearer token length", "a token has 64 characters")
def test_consent_is_exchanged_for_a_token_that_works_like_the_customers_key(exchange: Exchange) -> None:
    response = exchange.request_token(requested_token_type=ACCESS_TOKEN, resource=exchange.service.url)
    body = response.json()
    token = body.pop("access_token")
    assert response.status_code == 200
    assert body == {"issued_token_type": ACCESS_TOKEN, "token_type": "Bearer", "expires_in": 3600}
    assert (len(token), set(token) - set("0123456789abcdef")) == (64, set())
    assert (response.headers["cache-control"], response.headers["pragma"]) == ("no-store", "no-cache")
    assert response.headers["content-type"] == "application/json"
    for path in ("/customer", "/order", "/product", "/customer/credit"):
        with_token, with_key = exchange.use(token, path), exchange.customer.get(path)
        assert (with_token.status_code, with_token.content) == (200, with_key.content)


@pytest.mark.spec("4 POST /oauth/token", "consent is exchanged for a bearer token of 64 characters, not to be stored")
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_stock_oauth_client_obtains_a_token_and_uses_it(exchange: Exchange, method: str) -> None:
    application = exchange.application
    with OAuth2Client(
        application.client_id, application.client_secret, token_endpoint_auth_method=method, timeout=30
    ) as client:
        token = client.fetch_token(
            f"{exchange.service.url}/oauth/token",
            grant_type=GRANT,
            subject_token=exchange.subject_token(),
            subject_token_type=JWT,
            resource=exchange.service.url,
        )
        assert token["expires_in"] == 3600
        response = client.get(f"{exchange.service.url}/product", headers={"Accept": "application/json"})
    assert (response.status_code, response.json()) == (200, [])


def test_a_subject_token_can_be_exchanged_again_for_a_new_token(exchange: Exchange) -> None:
    subject_token = exchange.subject_token()
    tokens = {exchange.exchange(subject_token).json()["access_token"] for _ in range(3)}
    assert len(tokens) == 3
    assert {exchange.use(token).status_code for token in tokens} == {200}


@pytest.mark.spec("5 Authentication", "the client authenticates by HTTP Basic or in the form")
def test_credentials_may_be_in_the_form(exchange: Exchange) -> None:
    application = exchange.application
    fields = exchange.form(client_id=application.client_id, client_secret=application.client_secret)
    assert exchange.http.post("/oauth/token", data=fields).status_code == 200
    other = {"Authorization": "Digest x"}
    assert exchange.http.post("/oauth/token", data=fields, headers=other).status_code == 200


def test_the_form_may_repeat_only_the_client_id_of_http_basic(exchange: Exchange) -> None:
    application = exchange.application
    assert exchange.request_token(client_id=application.client_id).status_code == 200
    assert_rejected(exchange.request_token(client_id="another"), "invalid_request")
    both = exchange.request_token(client_id=application.client_id, client_secret=application.client_secret)
    assert_rejected(both, "invalid_request")
    assert_rejected(exchange.request_token(client_secret=application.client_secret), "invalid_request")


def test_two_authorization_headers_are_rejected(exchange: Exchange) -> None:
    basic = basic_header(f"{exchange.application.client_id}:{exchange.application.client_secret}".encode())
    twice = [(b"Authorization", basic), (b"Authorization", basic)]
    assert_rejected(exchange.http.post("/oauth/token", data=exchange.form(), headers=twice), "invalid_request")


def basic_header(user_and_password: bytes) -> bytes:
    return b"Basic " + base64.b64encode(user_and_password)


@pytest.mark.spec("5 Authentication", "the client authenticates by HTTP Basic or in the form")
def test_http_basic_credentials_are_form_encoded(exchange: Exchange) -> None:
    application = exchange.application
    encoded = "".join(f"%{ord(letter):02X}" for letter in application.client_id)
    header = {b"authorization": basic_header(f"{encoded}:{quote(application.client_secret)}".encode())}
    assert exchange.http.post("/oauth/token", data=exchange.form(), headers=header).status_code == 200


@pytest.mark.spec("4 POST /oauth/token", "a client that is not authenticated is 401")
@pytest.mark.parametrize(
    "authorization",
    [
        b"Basic",
        b"Basic !!!",
        b"Basic eA",
        basic_header(b"no colon"),
        basic_header(b":"),
        basic_header(b"%zz:x"),
        basic_header(b"\xff\xfe:\xff"),
        basic_header(b"a%00:b"),
        basic_header(b"nobody:" + b"0" * 64),
        b"Basic \xff",
    ],
)
def test_wrong_or_unreadable_basic_credentials_are_401(exchange: Exchange, authorization: bytes) -> None:
    response = exchange.http.post("/oauth/token", data=exchange.form(), headers={b"authorization": authorization})
    assert_rejected(response, "invalid_client")
    assert response.headers["www-authenticate"].startswith("Basic realm=")


@pytest.mark.spec("4 POST /oauth/token", "a client that is not authenticated is 401")
@pytest.mark.parametrize(
    "fields", [{}, {"client_id": "x"}, {"client_secret": "x"}, {"client_id": "", "client_secret": ""}]
)
def test_missing_client_credentials_are_401(exchange: Exchange, fields: dict[str, str]) -> None:
    assert_rejected(exchange.http.post("/oauth/token", data=exchange.form(**fields)), "invalid_client")


def test_another_applications_secret_is_401(exchange: Exchange) -> None:
    other = register(exchange.service, "other")
    wrong = exchange.form(client_id=exchange.application.client_id, client_secret=other.client_secret)
    assert_rejected(exchange.http.post("/oauth/token", data=wrong), "invalid_client")


def test_a_disabled_application_is_401(exchange: Exchange) -> None:
    application = register(exchange.service, "short-lived")
    fields = exchange.form(
        client_id=application.client_id,
        client_secret=application.client_secret,
        subject_token=exchange.subject_token(client_id=application.client_id),
    )
    assert exchange.http.post("/oauth/token", data=fields).status_code == 200
    switch_off_application(exchange.service, application)
    assert_rejected(exchange.http.post("/oauth/token", data=fields), "invalid_client")


@pytest.mark.spec("2 OrderVideoResponse, Error, OAuthError", "an OAuth error is one of five codes")
@pytest.mark.spec("4 POST /oauth/token", "an invalid field is 400")
@pytest.mark.spec("7 Errors", "the token endpoint has its own body")
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"grant_type": None}, "invalid_request"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": GRANT + " "}, "unsupported_grant_type"),
        ({"grant_type": GRANT.upper()}, "unsupported_grant_type"),
        ({"subject_token": None}, "invalid_request"),
        ({"subject_token": ""}, "invalid_request"),
        ({"subject_token_type": None}, "invalid_request"),
        ({"subject_token_type": "urn:ietf:params:oauth:token-type:id_token"}, "invalid_request"),
        ({"requested_token_type": JWT}, "invalid_request"),
        ({"resource": "https://other_audience.example"}, "invalid_target"),
        ({"resource": "https://other_audience.example", "subject_token": "bad"}, "invalid_target"),
        ({"subject_token": "bad"}, "invalid_grant"),
        ({"subject_token": "x" * 60_000}, "invalid_grant"),
        ({"subject_token": "a.b.c"}, "invalid_grant"),
    ],
)
def test_a_wrong_field_is_an_oauth_error(exchange: Exchange, changes: dict[str, str], error: str) -> None:
    assert_rejected(exchange.request_token(**changes), error)


def test_all_wrong_fields_are_named_with_what_is_right(exchange: Exchange) -> None:
    rejected = exchange.request_token(subject_token=None, subject_token_type="jwt")
    wanted = f"subject_token: is required; subject_token_type: 'jwt' is not one of {JWT}"
    assert rejected.json()["error_description"] == wanted


def test_empty_optional_fields_and_unknown_fields_are_ignored(exchange: Exchange) -> None:
    assert exchange.request_token(resource="", requested_token_type="", scope="orders", audience="x").status_code == 200


@pytest.mark.spec("4 POST /oauth/token", "an invalid field is 400")
def test_the_resource_is_the_base_url_with_or_without_a_trailing_slash(exchange: Exchange) -> None:
    assert exchange.request_token(resource=exchange.service.url + "/").status_code == 200
    for wrong in ("/product", "?", "#x"):
        assert_rejected(exchange.request_token(resource=exchange.service.url + wrong), "invalid_target")


@pytest.mark.parametrize("name", ["grant_type", "subject_token", "resource", "client_id", "unknown"])
def test_a_repeated_field_is_rejected(exchange: Exchange, name: str) -> None:
    assert_rejected(post(exchange, urlencode(exchange.form()) + f"&{name}=x&{name}=x"), "invalid_request")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"&&&", b"=x", b"%", b"grant_type=%zz", b"grant_type=%f", b"grant_type=%ff", b"grant_type=\xff",
        b"grant_type=a%00b", b"grant_type=a\x00b", b"%00=x", b'{"grant_type": "x"}', b"x" * 70_000,
        b"grant_type=" + b"%61" * 30_000, b"&".join(b"a%d=" % n for n in range(9_000)), b"%ED%A0%80=x",
    ],
)  # fmt: skip
def test_a_form_that_cannot_be_read_is_rejected(exchange: Exchange, content: bytes) -> None:
    assert_rejected(post(exchange, content), "invalid_request")


@pytest.mark.spec("4 POST /oauth/token", "an invalid field is 400")
@pytest.mark.parametrize(
    "content_type", [None, "application/json", "text/plain", "multipart/form-data; boundary=x", "", ";"]
)
def test_a_body_without_the_form_content_type_is_an_invalid_request(
    exchange: Exchange, content_type: str | None
) -> None:
    assert_rejected(post(exchange, urlencode(exchange.form()), content_type), "invalid_request")


def test_a_form_may_name_its_character_set(exchange: Exchange) -> None:
    content = urlencode(exchange.form())
    assert post(exchange, content, f"{FORM}; charset=utf-8").status_code == 200
    assert post(exchange, content, FORM.upper()).status_code == 200


def test_fields_in_the_query_are_ignored(exchange: Exchange) -> None:
    assert_rejected(post(exchange, b"", params=exchange.form()), "invalid_request")


def test_a_customers_key_does_not_authenticate_the_client(exchange: Exchange) -> None:
    response = exchange.http.post("/oauth/token", data=exchange.form(), headers={"X-Api-Key": exchange.customer.key})
    assert_rejected(response, "invalid_client")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_other_methods_are_405(exchange: Exchange, method: str) -> None:
    response = exchange.http.request(method, "/oauth/token")
    assert (response.status_code, response.headers["allow"]) == (405, "OPTIONS, POST")


def test_the_database_contains_neither_tokens_nor_secrets(exchange: Exchange) -> None:
    token = exchange.access_token()
    with psycopg.connect(exchange.service.database_url) as connection:
        contents = "".join(
            str(connection.execute(SQL("select t::text from {} t").format(Identifier(table))).fetchall())
            for table in ("application", "access_token")
        )
    assert exchange.application.client_id in contents
    assert exchange.application.client_secret not in contents
    assert token not in contents
    assert token[:16] not in contents


def test_the_audience_ignores_the_host_header(exchange: Exchange) -> None:
    """Otherwise the Host header could make the service accept a token for another service."""
    other_audience = exchange.form(subject_token=exchange.subject_token(aud="http://other_audience.example"))
    named = {"Host": "other_audience.example"}
    assert_rejected(
        exchange.http.post("/oauth/token", data=other_audience, headers=named, auth=exchange.basic), "invalid_grant"
    )
    port = exchange.service.url.rpartition(":")[2]
    for host in ("other_audience.example", "127.0.0.1:99999", "127.0.0.1:x", "[", f"127.0.0.1:{port}"):
        ours = exchange.http.post("/oauth/token", data=exchange.form(), headers={"Host": host}, auth=exchange.basic)
        assert ours.status_code == 200, host
    local = f"localhost:{port}"
    token = exchange.form(subject_token=exchange.subject_token(aud=f"http://{local}"))
    here = exchange.http.post("/oauth/token", data=token, headers={"Host": local}, auth=exchange.basic)
    assert here.status_code == 200


def test_a_configured_base_url_is_the_audience_and_the_resource(exchange: Exchange) -> None:
    database_url, base = exchange.service.database_url, "https://api.example/v1"
    with running_exchange(database_url, base_url=base) as other:
        good = other.subject_token(aud=["https://other_audience.example", base])
        assert other.request_token(subject_token=good, resource=base).status_code == 200
        assert_rejected(other.request_token(subject_token=other.subject_token(aud=other.service.url)), "invalid_grant")
        assert_rejected(other.request_token(subject_token=good, resource=other.service.url), "invalid_target")
