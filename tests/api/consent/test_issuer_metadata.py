"""The own issuer's metadata and keys (RFC 8414, RFC 7517)."""

from collections.abc import Iterator
from datetime import timedelta

import httpx2
import psycopg
import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

from support.consent import Consenting, running_consent
from support.service import running_service
from tradecounter.consent.authorize import clean_up_consent
from tradecounter.consent.issuer import issuer_vault, reseal_keys, rotate_key
from tradecounter.db.transaction import Transaction
from tradecounter.identity.oauth.issuer import read_issuer

SECRET = "s" * 64


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


def rotate(consenting: Consenting) -> str:
    vault = issuer_vault(lambda: [SECRET])

    async def work(tx: Transaction) -> str:
        return await rotate_key(tx, vault, consenting.service.clock.now())

    return consenting.service.in_transaction(work)


def clean_up(consenting: Consenting) -> int:
    async def work(tx: Transaction) -> int:
        return await clean_up_consent(tx, consenting.service.clock.now())

    return consenting.service.in_transaction(work)


def kids(consenting: Consenting) -> list[str]:
    return [key["kid"] for key in consenting.http.get("/auth/jwks.json").json()["keys"]]


def test_both_documents_say_what_the_issuer_does(consenting: Consenting) -> None:
    url = consenting.service.url
    found = consenting.http.get("/auth/.well-known/openid-configuration").json()
    assert found == consenting.http.get("/.well-known/oauth-authorization-server/auth").json()
    assert found == {
        "issuer": f"{url}/auth",
        "authorization_endpoint": f"{url}/auth/authorize",
        "token_endpoint": f"{url}/auth/token",
        "jwks_uri": f"{url}/auth/jwks.json",
        "revocation_endpoint": f"{url}/auth/revoke",
        "registration_endpoint": f"{url}/auth/register",
        "service_documentation": f"{url}/guide",
        "scopes_supported": ["read", "order"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }


def test_the_documents_name_the_configured_base_url(consenting: Consenting) -> None:
    with running_service(consenting.service.database_url, base_url="https://api.example") as service:
        found = service.client().get("/auth/.well-known/openid-configuration").json()
    assert found["issuer"] == "https://api.example/auth"
    AuthorizationServerMetadata(found).validate()  # a stock library; it accepts only https


def test_the_documents_ignore_the_host_header(consenting: Consenting) -> None:
    found = consenting.http.get("/auth/.well-known/openid-configuration", headers={"Host": "evil.example"}).json()
    assert found["issuer"] == consenting.issuer


def test_the_issuer_can_be_read_like_any_other(consenting: Consenting) -> None:
    found = consenting.service.call(lambda: read_issuer(consenting.issuer))
    assert found.name == consenting.issuer
    assert [key.kid for key in found.keys] == kids(consenting)


def test_the_keys_are_public_only_and_stay_the_same(consenting: Consenting) -> None:
    [key] = consenting.http.get("/auth/jwks.json").json()["keys"]
    assert key.keys() == {"kty", "crv", "x", "y", "use", "alg", "kid"}
    assert (key["kty"], key["crv"], key["use"], key["alg"]) == ("EC", "P-256", "sig", "ES256")
    assert kids(consenting) == [key["kid"]]


def test_all_processes_share_the_keys(consenting: Consenting) -> None:
    with running_service(consenting.service.database_url) as other:
        found = other.client().get("/auth/jwks.json").json()["keys"]
    assert [key["kid"] for key in found] == kids(consenting)


def test_private_keys_are_stored_encrypted(consenting: Consenting) -> None:
    kids(consenting)
    with psycopg.connect(consenting.service.database_url) as database:
        rows = database.execute("select convert_from(private_key, 'utf8'), public_key from issuer_key").fetchall()
    assert rows
    for private, public in rows:
        assert private.startswith("gAAAA")
        assert '"d"' not in public


def test_a_rotation_counts_at_once_and_tokens_of_the_old_key_stay_valid(consenting: Consenting) -> None:
    before = consenting.given()
    [old] = kids(consenting)
    with running_service(consenting.service.database_url, now=consenting.service.clock.now()) as other:
        new = rotate(consenting)
        assert kids(consenting) == [new, old]
        consenting.access_token(before["access_token"])
        signed = other.client().post(
            "/auth/token", data=consenting.code().form(), auth=consenting.application.basic
        ).json()  # fmt: skip
    assert consenting.exchange(signed["access_token"]).status_code == 400, "the other process has another address"
    consenting.access_token(consenting.given()["access_token"])
    consenting.service.clock.advance(timedelta(minutes=10, seconds=59))
    assert clean_up(consenting) >= 0
    assert consenting.exchange(before["access_token"]).status_code == 200, "within the leeway of a minute"
    consenting.service.clock.advance(timedelta(minutes=5))
    assert kids(consenting) == [new]
    assert consenting.exchange(before["access_token"]).status_code == 400
    clean_up(consenting)
    with psycopg.connect(consenting.service.database_url) as database:
        assert database.execute("select kid from issuer_key").fetchall() == [(new,)]


def test_keys_follow_a_new_secret_key_and_lost_ones_are_replaced(consenting: Consenting) -> None:
    [kid] = kids(consenting)

    async def reseal(tx: Transaction, *secret_keys: str) -> None:
        await reseal_keys(tx, secret_keys)

    consenting.service.in_transaction(lambda tx: reseal(tx, "n" * 64, SECRET))
    url = consenting.service.database_url
    with running_service(url, secret_key="n" * 64, now=consenting.service.clock.now()) as other:
        response = other.client().post(
            "/auth/token", data=consenting.code().form(), auth=consenting.application.basic
        )  # fmt: skip
        assert response.status_code == 200
    consenting.service.in_transaction(lambda tx: reseal(tx, SECRET))
    [made] = kids(consenting)
    assert made != kid
    consenting.access_token(consenting.given()["access_token"])


def test_with_another_issuer_there_is_no_own_one(consenting: Consenting) -> None:
    with running_service(consenting.service.database_url, auth_url="https://login.example") as service:
        for method, path in (
            ("GET", "/auth/.well-known/openid-configuration"),
            ("GET", "/.well-known/oauth-authorization-server/auth"),
            ("GET", "/auth/jwks.json"),
            ("POST", "/auth/token"),
            ("POST", "/auth/revoke"),
        ):
            assert httpx2.request(method, service.url + path).status_code == 404
