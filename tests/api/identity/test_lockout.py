"""Ten wrong credentials within a minute block an address for five minutes (specification, section 5)."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx2
import psycopg
import pytest

from support.applications import Exchange, running_exchange
from support.cluster import Cluster
from support.outage import database_away
from support.service import Service, running_service

SECOND = timedelta(seconds=1)
WRONG = {"X-Api-Key": "0" * 64}
_numbers = itertools.count(1)
_clients: dict[str, httpx2.Client] = {}
PUBLIC = (
    "/",
    "/check-health",
    "/ready",
    "/openapi.json",
    "/openapi.yaml",
    "/docs",
    "/guide",
    "/changelog",
    "/changelog.json",
)


@pytest.fixture(scope="module")
def exchange(database_url: str) -> Iterator[Exchange]:
    with running_exchange(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def second(exchange: Exchange) -> Iterator[Service]:
    """Another server on the same database."""
    with running_service(exchange.service.database_url) as running:
        yield running


@pytest.fixture
def address() -> str:
    """An unused address."""
    return f"198.18.0.{next(_numbers)}"


def status_of(service: Service, address: str, path: str = "/customer/address", **headers: str) -> int:
    if service.url not in _clients:
        _clients[service.url] = service.client()
    return _clients[service.url].get(path, headers={"X-Forwarded-For": address, **headers}).status_code


def fail(service: Service, address: str, times: int = 10) -> list[int]:
    return [status_of(service, address, **WRONG) for _ in range(times)]


@pytest.mark.spec("4 POST /oauth/token", "a blocked address is 403")
@pytest.mark.spec("5 Authentication", "ten invalid credentials in a minute block the address for five")
@pytest.mark.spec("7 403", "the address is blocked")
@pytest.mark.spec(
    "8 Invalid-credential lockout", "ten within 60 seconds, for five minutes, on all authenticated endpoints"
)
def test_the_tenth_wrong_credential_is_401_and_then_everything_is_403(exchange: Exchange, address: str) -> None:
    service, token = exchange.service, exchange.access_token()
    good = {"X-Api-Key": exchange.customer.key}
    assert fail(service, address, 9) == [401] * 9
    assert status_of(service, address, **good) == 200, "a good credential is neither a failure nor forgiveness"
    assert fail(service, address, 1) == [401]
    assert fail(service, address, 2) == [403] * 2
    assert status_of(service, address, **good) == 403
    assert status_of(service, address, Authorization=f"Bearer {token}") == 403
    assert status_of(service, address) == 403, "before the credential is read"
    blocked = service.client(**{"X-Forwarded-For": address, **good})
    responses = [
        blocked.get("/product?page=x"),
        blocked.post("/order", content=b"{"),
        blocked.post("/oauth/token", data=exchange.form(), auth=exchange.basic),
        blocked.post("/oauth/token", content=b"%"),
    ]
    for response in responses:
        assert response.status_code == 403
        assert (list(response.json()), response.json()["code"]) == (["message", "code"], "ip_address_blocked")
        assert response.headers["retry-after"] == "300"
        assert "for another 300 seconds" in response.json()["message"]
    assert responses[-1].headers["cache-control"] == "no-store"
    assert [blocked.get(path).status_code for path in PUBLIC] == [200] * len(PUBLIC)
    assert blocked.get("/nowhere").status_code == 404
    assert blocked.delete("/order").status_code == 405
    assert blocked.options("/order").status_code == 204
    assert exchange.customer.get("/customer").status_code == 200, "other addresses are not blocked"


@pytest.mark.spec(
    "8 Invalid-credential lockout", "ten within 60 seconds, for five minutes, on all authenticated endpoints"
)
def test_a_block_ends_after_five_minutes_to_the_second_and_is_not_prolonged(exchange: Exchange, address: str) -> None:
    service = exchange.service
    fail(service, address)
    for _ in range(3):
        service.clock.advance(99 * SECOND)
        assert fail(service, address, 2) == [403, 403]
    service.clock.advance(2 * SECOND)
    service.refresh()
    assert fail(service, address, 1) == [403]
    service.clock.advance(SECOND)
    assert status_of(service, address, **{"X-Api-Key": exchange.customer.key}) == 200
    assert fail(service, address, 11) == [401] * 10 + [403], "the count starts again"


@pytest.mark.spec(
    "8 Invalid-credential lockout", "ten within 60 seconds, for five minutes, on all authenticated endpoints"
)
def test_failures_older_than_a_minute_no_longer_count(exchange: Exchange, address: str) -> None:
    service = exchange.service
    for _ in range(4):  # never more than nine within sixty seconds
        assert fail(service, address, 3) == [401] * 3
        service.clock.advance(20 * SECOND)
    assert fail(service, address, 4) == [401] * 4
    assert fail(service, address, 1) == [403]


@pytest.mark.spec(
    "8 Invalid-credential lockout", "ten within 60 seconds, for five minutes, on all authenticated endpoints"
)
@pytest.mark.parametrize(("after", "status"), [(timedelta(seconds=59.999), 403), (timedelta(seconds=60), 401)])
def test_a_failure_counts_for_a_minute_to_the_millisecond(
    exchange: Exchange, address: str, after: timedelta, status: int
) -> None:
    service = exchange.service
    assert fail(service, address, 9) == [401] * 9
    service.clock.advance(after)
    assert fail(service, address, 2) == [401, status]


Present = Callable[[Exchange, httpx2.Client], httpx2.Response]

COUNTED: dict[str, Present] = {
    "an unknown key": lambda _, c: c.get("/customer", headers=WRONG),
    "a key of the wrong length": lambda _, c: c.get("/customer", headers={"X-Api-Key": "x"}),
    "a key in the query": lambda _, c: c.get("/customer?api-key=x"),
    "two keys": lambda e, c: c.get(f"/customer?api-key={e.customer.key}&api-key={e.customer.key}"),
    "an unknown token": lambda _, c: c.get("/customer", headers={"Authorization": "Bearer " + "0" * 64}),
    "a subject token": lambda e, c: c.get("/customer", headers={"Authorization": f"Bearer {e.subject_token()}"}),
    "a wrong secret": lambda e, c: c.post("/oauth/token", data=e.form(), auth=(e.application.client_id, "x")),
    "an unknown client": lambda e, c: c.post("/oauth/token", data=e.form(client_id="x", client_secret="y")),
    "a broken Basic": lambda e, c: c.post("/oauth/token", data=e.form(), headers={"Authorization": "Basic x"}),
}
NOT_COUNTED: dict[str, Present] = {
    "none": lambda _, c: c.get("/customer"),
    "an empty key": lambda _, c: c.get("/customer?api-key=", headers={"X-Api-Key": ""}),
    "an empty token": lambda _, c: c.get("/customer", headers={"Authorization": "Bearer"}),
    "another scheme": lambda _, c: c.get("/customer", headers={"Authorization": "Basic eDp5"}),
    "a wrong key on a public path": lambda _, c: c.get("/", headers=WRONG),
    "a wrong key on an unknown path": lambda _, c: c.get("/nowhere", headers=WRONG),
    "a rejected subject token": lambda e, c: c.post("/oauth/token", data=e.form(subject_token="x"), auth=e.basic),
    "no client": lambda e, c: c.post("/oauth/token", data=e.form()),
    "an unreadable form": lambda _, c: c.post("/oauth/token", content=b"%", auth=("x", "y")),
    "both methods together": lambda e, c: c.post("/oauth/token", data=e.form(client_secret="x"), auth=("x", "y")),
}  # fmt: skip


@pytest.mark.spec(
    "8 Invalid-credential lockout", "ten within 60 seconds, for five minutes, on all authenticated endpoints"
)
@pytest.mark.parametrize("present", COUNTED.values(), ids=COUNTED.keys())
def test_a_wrong_credential_counts(exchange: Exchange, address: str, present: Present) -> None:
    fail(exchange.service, address, 9)
    assert present(exchange, exchange.service.client(**{"X-Forwarded-For": address})).status_code == 401
    assert fail(exchange.service, address, 1) == [403]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("present", NOT_COUNTED.values(), ids=NOT_COUNTED.keys())
def test_only_wrong_credentials_count(exchange: Exchange, address: str, present: Present) -> None:
    fail(exchange.service, address, 9)
    client = exchange.service.client(**{"X-Forwarded-For": address})
    assert {present(exchange, client).status_code for _ in range(3)} < {200, 400, 401, 404}
    assert fail(exchange.service, address, 2) == [401, 403]


def test_an_expired_token_does_not_count(exchange: Exchange, address: str) -> None:
    token = exchange.access_token()
    exchange.service.clock.advance(timedelta(hours=1))
    assert {status_of(exchange.service, address, Authorization=f"Bearer {token}") for _ in range(12)} == {401}
    assert status_of(exchange.service, address, **{"X-Api-Key": exchange.customer.key}) == 200


@pytest.mark.spec(
    "8 Invalid-credential lockout", "ten within 60 seconds, for five minutes, on all authenticated endpoints"
)
def test_processes_count_together_and_see_a_block_when_they_poll(
    exchange: Exchange, second: Service, address: str
) -> None:
    first = exchange.service
    second.clock.set(first.clock.now())
    second.refresh()
    good = {"X-Api-Key": exchange.customer.key}
    assert fail(first, address, 5) + fail(second, address, 4) == [401] * 9
    assert status_of(second, address, **good) == 200
    assert fail(first, address, 1) == [401]
    second.refresh()
    assert status_of(second, address, **good) == 403
    assert status_of(first, address, **good) == 403


def test_a_process_sees_a_block_when_it_counts_a_wrong_credential(
    exchange: Exchange, second: Service, address: str
) -> None:
    second.clock.set(exchange.service.clock.now())
    fail(exchange.service, address)
    assert fail(second, address, 1) == [403]
    assert status_of(second, address, **{"X-Api-Key": exchange.customer.key}) == 403


@pytest.mark.sweep
def test_a_restarted_process_loads_the_blocks(exchange: Exchange, address: str) -> None:
    fail(exchange.service, address)
    with running_service(exchange.service.database_url, now=exchange.service.clock.now()) as restarted:
        assert status_of(restarted, address, **{"X-Api-Key": exchange.customer.key}) == 403


@pytest.mark.sweep
def test_concurrent_failures_count_exactly(exchange: Exchange, second: Service, address: str) -> None:
    second.clock.set(exchange.service.clock.now())
    clients = [server.client(**{"X-Forwarded-For": address}) for server in (exchange.service, second) for _ in range(8)]
    with ThreadPoolExecutor(len(clients)) as pool:
        statuses = list(
            pool.map(lambda client: [client.get("/order", headers=WRONG).status_code for _ in range(3)], clients)
        )
    flat = sorted(status for three in statuses for status in three)
    assert flat == [401] * 10 + [403] * 38


def test_addresses_of_one_ipv6_network_count_together(exchange: Exchange) -> None:
    for number in range(10):
        assert fail(exchange.service, f"2001:db8:0:7::{number:x}", 1) == [401]
    assert fail(exchange.service, "2001:db8:0:7:ffff::1", 1) == [403]
    assert fail(exchange.service, "2001:db8:0:8::1", 1) == [401]


@pytest.mark.sweep
def test_without_trusted_proxies_forwarded_addresses_are_ignored(postgres: Cluster) -> None:
    with postgres.database() as url, running_service(url, trusted_proxies=None) as service:
        for number in range(10):
            assert fail(service, f"192.0.2.{number}", 1) == [401]
        assert fail(service, "192.0.2.99", 1) == [403]


def test_a_blocked_address_causes_no_database_query(exchange: Exchange, address: str) -> None:
    fail(exchange.service, address)
    with psycopg.connect(exchange.service.database_url) as holder:
        holder.execute("lock table api_key, access_token, application, credential_failure, blocked_address")
        assert fail(exchange.service, address, 3) == [403] * 3


@pytest.mark.sweep
@pytest.mark.spec("4 POST /oauth/token", "503 without the issuer, and without the database")
@pytest.mark.spec("5 Authentication", "503 while the database is down")
def test_a_wrong_credential_gets_503_when_it_cannot_be_counted(postgres: Cluster, address: str) -> None:
    with postgres.database() as url, running_exchange(url, database_connections=1) as exchange:
        with database_away(postgres, url):
            assert status_of(exchange.service, address, **{"X-Api-Key": "short"}) == 503
            assert status_of(exchange.service, address) == 401, "a missing credential is not counted"
            token = exchange.request_token()
        assert (token.status_code, list(token.json()), token.json()["code"]) == (
            503,
            ["message", "code"],
            "unavailable",
        )
        assert token.headers["retry-after"]
        assert token.headers["cache-control"] == "no-store"
