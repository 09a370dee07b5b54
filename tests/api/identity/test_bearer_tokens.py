"""Access tokens are valid until they expire, are revoked, or their application is disabled."""

from collections.abc import Iterator
from datetime import timedelta

import httpx2
import psycopg
import pytest

from support.applications import Exchange, running_exchange, switch_off
from support.service import Service, running_service
from support.waiting import wait_for
from tradecounter.db.transaction import Transaction
from tradecounter.identity.oauth.queries.access_tokens import revoke_tokens

BAD = 'Bearer error="invalid_token"'
SECOND = timedelta(seconds=1)


@pytest.fixture
def exchange(database_url: str) -> Iterator[Exchange]:
    with running_exchange(database_url) as running:
        yield running


def assert_bad(response: httpx2.Response) -> None:
    assert (response.status_code, response.content, response.headers["www-authenticate"]) == (401, b"{}", BAD)


def revoke(exchange: Exchange, customer_id: int) -> int:
    async def work(tx: Transaction) -> int:
        return await revoke_tokens(tx, exchange.application.client_id, customer_id, exchange.service.clock.now())

    return exchange.service.in_transaction(work)


def use_on(service: Service, token: str) -> httpx2.Response:
    return service.client(Authorization=f"Bearer {token}").get("/customer")


@pytest.mark.spec("5 Authentication", "a token gives the customer's own access until it expires, then 401")
def test_a_token_gives_access_to_its_customer_only(exchange: Exchange) -> None:
    other = exchange.service.customer(first_name="Bob")
    token = exchange.access_token()
    assert exchange.use(token).json()["first_name"] == "Ada"
    assert exchange.use(token, **{"X-Api-Key": other.key}).json()["first_name"] == "Ada"
    assert exchange.use(token, f"/customer?api-key={other.key}").json()["first_name"] == "Ada"


@pytest.mark.spec("5 Authentication", "a token gives the customer's own access until it expires, then 401")
@pytest.mark.spec("7 401", "an expired token")
def test_a_token_expires_to_the_second_even_when_it_is_cached(exchange: Exchange) -> None:
    token = exchange.access_token()
    exchange.service.clock.advance(timedelta(hours=1) - SECOND)
    exchange.service.refresh()
    assert [exchange.use(token).status_code for _ in range(2)] == [200, 200]
    exchange.service.clock.advance(SECOND)
    assert_bad(exchange.use(token))
    assert_bad(exchange.use(token, **{"X-Api-Key": exchange.customer.key}))


def test_the_lifetime_of_tokens_is_a_setting(database_url: str) -> None:
    with running_exchange(database_url, access_token_lifetime=timedelta(minutes=10)) as exchange:
        response = exchange.request_token().json()
        assert response["expires_in"] == 600
        exchange.service.clock.advance(timedelta(minutes=10))
        assert_bad(exchange.use(response["access_token"]))


@pytest.mark.spec("5 Authentication", "the subject token is no credential")
def test_only_access_tokens_are_accepted(exchange: Exchange) -> None:
    token = exchange.access_token()
    for wrong in (token[:-1], token + "0", token.upper(), "0" * 64, exchange.subject_token(), exchange.customer.key,
                  exchange.application.client_secret, f"{token} {token}", f"{token},"):  # fmt: skip
        assert_bad(exchange.use(wrong))
    assert_bad(exchange.http.get("/customer", headers={"X-Api-Key": token}))
    assert_bad(exchange.http.get("/customer", params={"api-key": token}))


def test_a_valid_token_with_a_second_authorization_header_is_rejected(exchange: Exchange) -> None:
    good, other = f"Bearer {exchange.access_token()}", "Basic eDp5"
    for pair in ((good, good), (good, other), (other, good)):
        assert_bad(exchange.http.get("/customer", headers=[("Authorization", value) for value in pair]))


def test_revoked_tokens_stop_in_every_process_and_other_tokens_keep_working(exchange: Exchange) -> None:
    other = exchange.service.customer(first_name="Bob")
    mine = [exchange.access_token() for _ in range(2)]
    theirs = exchange.exchange(exchange.subject_token(sub=str(other.id))).json()["access_token"]
    with running_service(exchange.service.database_url) as second:
        second.refresh()
        assert [use_on(second, token).status_code for token in (*mine, theirs)] == [200, 200, 200]
        assert revoke(exchange, exchange.customer.id) == 2
        for service in (exchange.service, second):
            service.refresh()
            assert [use_on(service, token).status_code for token in (*mine, theirs)] == [401, 401, 200]
    assert revoke(exchange, exchange.customer.id) == 0


@pytest.mark.sweep
def test_a_disabled_applications_tokens_stop_working_within_five_seconds(exchange: Exchange) -> None:
    token = exchange.access_token()
    with running_service(exchange.service.database_url) as second:
        second.refresh()
        assert use_on(second, token).status_code == exchange.use(token).status_code == 200
        switch_off(exchange.service, exchange.application)
        exchange.service.refresh()
        assert_bad(exchange.use(token))
        # No notification arrives: the cached token expires.
        wait_for(lambda: use_on(second, token).status_code != 200, seconds=5)
    assert exchange.customer.get("/customer").status_code == 200


def test_a_cached_token_needs_no_database_query(exchange: Exchange) -> None:
    token = exchange.access_token()
    exchange.service.refresh()
    assert exchange.use(token, "/category").status_code == 200
    with psycopg.connect(exchange.service.database_url) as holder:
        holder.execute("lock table access_token, application, api_key, blocked_address, credential_failure")
        assert exchange.use(token, "/category").status_code == 200
        assert exchange.use(token, "/product").status_code == 200
