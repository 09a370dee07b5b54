"""The issuer's keys: where they come from, how long they are cached, and what happens when they cannot be fetched."""

import gzip
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from support.applications import Exchange, assert_rejected, running_exchange
from support.cluster import Cluster
from support.issuer import OAUTH, OPENID, Issuer, new_key

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


@pytest.fixture
def exchange(postgres: Cluster) -> Iterator[Exchange]:
    with postgres.database() as url, running_exchange(url) as running:
        yield running


@pytest.fixture(scope="module")
def shared(database_url: str) -> Iterator[Exchange]:
    """For tests that first clear all cached issuer data."""
    with running_exchange(database_url) as running:
        yield running


def forget(exchange: Exchange) -> None:
    """Advance a day, after which all cached issuer data is expired."""
    exchange.service.clock.advance(25 * HOUR)
    exchange.issuer.overrides.clear()
    exchange.issuer.paths.clear()
    exchange.issuer.metadata_at = OPENID


def assert_unavailable(exchange: Exchange, subject_token: str | None = None) -> None:
    response = exchange.request_token() if subject_token is None else exchange.exchange(subject_token)
    assert response.status_code == 503, response.text
    assert (list(response.json()), response.json()["code"]) == (["message", "code"], "unavailable")
    assert response.headers["retry-after"] == "5"
    assert (response.headers["cache-control"], response.headers["pragma"]) == ("no-store", "no-cache")


def test_keys_are_fetched_once_and_then_cached(exchange: Exchange) -> None:
    for _ in range(3):
        exchange.access_token()
    assert exchange.issuer.paths == [OPENID, "/keys"]


def test_keys_are_fetched_again_after_an_hour(exchange: Exchange) -> None:
    exchange.access_token()
    exchange.service.clock.advance(HOUR)
    exchange.access_token()
    assert exchange.issuer.fetches == 1
    exchange.service.clock.advance(SECOND)
    exchange.access_token()
    assert exchange.issuer.fetches == 2


def test_keys_are_fetched_again_when_the_clock_was_set_back(exchange: Exchange) -> None:
    exchange.access_token()
    exchange.service.clock.advance(-HOUR)
    exchange.issuer.keys = [new_key(kid="second")]
    assert exchange.exchange(exchange.subject_token(key=exchange.issuer.keys[0])).status_code == 200


def test_oauth_metadata_replaces_missing_openid_metadata(shared: Exchange) -> None:
    forget(shared)
    shared.issuer.metadata_at = OAUTH
    shared.access_token()
    assert shared.issuer.paths == [OPENID, OAUTH, "/keys"]


def test_an_issuer_may_have_a_path(postgres: Cluster) -> None:
    for metadata_at in (f"/realms/trade{OPENID}", f"{OAUTH}/realms/trade"):
        with postgres.database() as url, running_exchange(url, issuer_path="/realms/trade") as exchange:
            exchange.issuer.metadata_at = metadata_at
            keys = [key.as_dict(private=False) for key in exchange.issuer.keys]
            exchange.issuer.publish("/realms/trade/keys", {"keys": keys})
            exchange.access_token()


def test_an_issuer_name_with_a_trailing_slash_must_match_exactly(shared: Exchange) -> None:
    forget(shared)
    name = shared.issuer.url + "/"
    shared.issuer.publish(OPENID, shared.issuer.metadata(issuer=name))
    assert shared.exchange(shared.subject_token(iss=name)).status_code == 200
    assert_rejected(shared.exchange(shared.subject_token()), "invalid_grant")


def test_an_unknown_key_causes_at_most_one_fetch_in_thirty_seconds(exchange: Exchange) -> None:
    exchange.access_token()
    first, second = new_key(kid="second"), new_key(kid="third")
    exchange.service.clock.advance(timedelta(seconds=29))
    exchange.issuer.keys.append(first)
    for _ in range(3):
        assert_rejected(exchange.exchange(exchange.subject_token(key=first)), "invalid_grant")
    assert exchange.issuer.fetches == 1
    exchange.service.clock.advance(SECOND)
    assert exchange.exchange(exchange.subject_token(key=first)).status_code == 200
    exchange.issuer.keys = [second]
    for _ in range(3):
        assert_rejected(exchange.exchange(exchange.subject_token(key=second)), "invalid_grant")
    assert exchange.issuer.fetches == 2
    exchange.service.clock.advance(30 * SECOND)
    assert exchange.exchange(exchange.subject_token(key=second)).status_code == 200
    assert_rejected(exchange.exchange(exchange.subject_token(key=first)), "invalid_grant")
    assert exchange.issuer.fetches == 3


def test_an_obviously_invalid_token_causes_no_fetch(exchange: Exchange) -> None:
    for token in ("x", "a.b.c", exchange.subject_token(header={"crit": ["x"], "x": 1})):
        assert_rejected(exchange.exchange(token), "invalid_grant")
    assert exchange.http.post("/oauth/token", data=exchange.form(client_id="x", client_secret="y")).status_code == 401
    assert exchange.issuer.paths == []


def test_concurrent_requests_share_one_fetch_and_use_no_database_connection(postgres: Cluster) -> None:
    """With a single database connection, other requests are served while the issuer is slow."""
    with postgres.database() as url, running_exchange(url, database_connections=1) as exchange:
        exchange.issuer.open.clear()
        with ThreadPoolExecutor(8) as pool:
            waiting = [pool.submit(exchange.request_token) for _ in range(8)]
            while not exchange.issuer.paths:
                assert exchange.customer.get("/customer/address").status_code == 200
            assert exchange.customer.get("/customer/address").status_code == 200
            exchange.issuer.open.set()
            assert {response.result().status_code for response in waiting} == {200}
        assert exchange.issuer.paths == [OPENID, "/keys"]


def key_set(issuer: Issuer) -> bytes:
    return json.dumps({"keys": [key.as_dict(private=False) for key in issuer.keys]}).encode()


Spoil = Callable[[Issuer], None]

FAULTS: dict[str, Spoil] = {
    "500": lambda i: i.publish(OPENID, {}, 500),
    "500 for the keys": lambda i: i.publish("/keys", {}, 500),
    "no keys there": lambda i: i.publish("/keys", {}, 404),
    "no JSON": lambda i: i.publish(OPENID, b"<html>"),
    "no metadata": lambda i: i.publish(OPENID, []),
    "no jwks_uri": lambda i: i.publish(OPENID, {"issuer": i.url}),
    "another issuer": lambda i: i.publish(OPENID, i.metadata(issuer="https://other.example")),
    "longer issuer": lambda i: i.publish(OPENID, i.metadata(issuer=i.url + "/x")),
    "plain http to another host": lambda i: i.publish(OPENID, i.metadata(jwks_uri="http://other.example/keys")),
    "a file": lambda i: i.publish(OPENID, i.metadata(jwks_uri="file:///etc/passwd")),
    "no URL": lambda i: i.publish(OPENID, i.metadata(jwks_uri="http://[")),
    "strange port": lambda i: i.publish(OPENID, i.metadata(jwks_uri="http://127.0.0.1:99999/")),
    "redirected": lambda i: i.publish(OPENID, b"", 302, Location="http://other.example/"),
    "keys redirected": lambda i: i.publish("/keys", b"", 307, Location=f"{i.url}/other"),
    "keys are no set": lambda i: i.publish("/keys", []),
    "no keys": lambda i: i.publish("/keys", {"keys": []}),
    "only a secret": lambda i: i.publish("/keys", {"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "first"}]}),
    "too long": lambda i: i.publish("/keys", key_set(i) + b" " * 300_000),
    "metadata without end": lambda i: i.publish(OPENID, b"[" * 200_000),
    "keys without end": lambda i: i.publish("/keys", b'{"keys": ' + b"[" * 200_000),
    "a key of no kind": lambda i: i.publish("/keys", {"keys": [{"kty": []}, {"kty": {}}]}),
    "compressed": lambda i: i.publish("/keys", gzip.compress(key_set(i)), Content_Encoding="gzip"),
    "broken compression": lambda i: i.publish("/keys", b"not gzip", Content_Encoding="gzip"),
}


@pytest.mark.sweep(every=7)
@pytest.mark.spec("4 POST /oauth/token", "503 without the issuer, and without the database")
@pytest.mark.parametrize("spoil", FAULTS.values(), ids=FAULTS.keys())
def test_requests_get_503_while_the_issuer_is_unusable(shared: Exchange, spoil: Spoil) -> None:
    forget(shared)
    spoil(shared.issuer)
    assert_unavailable(shared)
    requests = len(shared.issuer.paths)
    assert_unavailable(shared)
    assert len(shared.issuer.paths) == requests, "no request for five seconds"
    shared.issuer.overrides.clear()
    shared.service.clock.advance(5 * SECOND)
    shared.access_token()


def test_cached_keys_are_used_for_a_day_while_the_issuer_is_down(exchange: Exchange) -> None:
    exchange.access_token()
    unknown: Any = new_key(kid="unknown")
    exchange.issuer.publish("/keys", {}, 500)
    exchange.service.clock.advance(24 * HOUR)
    exchange.access_token()
    assert_unavailable(exchange, exchange.subject_token(key=unknown))
    fetches = exchange.issuer.fetches
    exchange.access_token()
    assert exchange.issuer.fetches == fetches, "no request for thirty seconds"
    exchange.service.clock.advance(SECOND)
    assert_unavailable(exchange)
    exchange.service.clock.advance(5 * SECOND)
    exchange.issuer.overrides.clear()
    exchange.access_token()


def test_an_unreachable_issuer_causes_a_503(postgres: Cluster) -> None:
    with postgres.database() as url, running_exchange(url) as exchange:
        exchange.issuer.publish(OPENID, exchange.issuer.metadata(jwks_uri="http://127.0.0.1:1/keys"))
        assert_unavailable(exchange)
