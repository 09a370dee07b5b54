"""Consent given before a revocation is rejected; consent given afterwards is accepted."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx2
import psycopg
import pytest
from structlog.testing import capture_logs

from support.applications import Exchange, assert_rejected, register, running_exchange
from support.service import Customer
from support.waiting import waiting_for_a_lock
from tradecounter.db.transaction import Transaction
from tradecounter.identity.oauth.queries.access_tokens import revoke_tokens

MINUTE = timedelta(minutes=1)


@pytest.fixture
def exchange(database_url: str) -> Iterator[Exchange]:
    with running_exchange(database_url) as running:
        running.service.clock.advance(timedelta(milliseconds=400))  # a token's `iat` is in whole seconds
        yield running


def revoke(exchange: Exchange, customer: Customer | None = None) -> int:
    async def work(tx: Transaction) -> int:
        customer_id = (customer or exchange.customer).id
        return await revoke_tokens(tx, exchange.application.client_id, customer_id, exchange.service.clock.now())

    return exchange.service.in_transaction(work)


def assert_token_rejected(exchange: Exchange, token: str) -> None:
    response = exchange.exchange(token)
    assert_rejected(response, "invalid_grant")
    assert response.json() == {"error": "invalid_grant"}, "no detail"


def test_only_later_consent_is_accepted_after_a_revocation(exchange: Exchange) -> None:
    before = exchange.subject_token()
    exchange.service.clock.advance(MINUTE)
    same_second = exchange.subject_token()
    assert exchange.exchange(before).status_code == 200
    assert revoke(exchange) == 1
    with capture_logs() as logged:
        assert_token_rejected(exchange, before)
        assert_token_rejected(exchange, same_second)
    assert {entry["reason"] for entry in logged} == {
        "iat: the application's access was revoked at 2026-06-16T08:01:00+00:00; only a token issued later is accepted"
    }
    exchange.service.clock.advance(timedelta(seconds=1))
    assert exchange.exchange(exchange.subject_token()).status_code == 200
    assert_token_rejected(exchange, before)


def test_after_a_revocation_a_token_without_iat_is_rejected(exchange: Exchange) -> None:
    undated = exchange.subject_token(iat=None, exp=2**40)
    assert exchange.exchange(undated).status_code == 200
    revoke(exchange)
    exchange.service.clock.advance(timedelta(days=400))
    with capture_logs() as logged:
        assert_token_rejected(exchange, undated)
    assert "iat: is required, since the application's access was revoked at" in logged[0]["reason"]
    assert exchange.exchange(exchange.subject_token()).status_code == 200


def test_the_latest_revocation_counts(exchange: Exchange) -> None:
    revoke(exchange)
    exchange.service.clock.advance(MINUTE)
    between = exchange.subject_token()
    assert exchange.exchange(between).status_code == 200
    exchange.service.clock.advance(MINUTE)
    assert revoke(exchange) == 1
    assert_token_rejected(exchange, between)


def test_other_customers_and_applications_are_not_affected(exchange: Exchange) -> None:
    other = exchange.service.customer(first_name="Bob")
    revoke(exchange)
    assert exchange.exchange(exchange.subject_token(sub=str(other.id))).status_code == 200
    exchange.application = register(exchange.service, "other")
    assert exchange.exchange(exchange.subject_token()).status_code == 200


def test_a_claim_named_like_our_grants_means_nothing_in_another_issuers_token(exchange: Exchange) -> None:
    for value in (1, "1", {"scope": "all"}):
        assert exchange.exchange(exchange.subject_token(grant=value)).status_code == 200


def exchange_in_parallel(exchange: Exchange, token: str) -> httpx2.Response:
    with exchange.service.client() as client:
        return client.post("/oauth/token", data=exchange.form(subject_token=token), auth=exchange.basic)


def test_a_token_whose_exchange_overlaps_with_the_revocation_is_revoked(exchange: Exchange) -> None:
    url, before = exchange.service.database_url, exchange.subject_token()
    with ThreadPoolExecutor(2) as pool:
        with psycopg.connect(url) as holder:
            holder.execute("lock table revoked_consent")
            exchanging = pool.submit(exchange_in_parallel, exchange, before)
            waiting_for_a_lock(url)
            revoking = pool.submit(revoke, exchange)
            waiting_for_a_lock(url, processes=2)
        response = exchanging.result()
        revoking.result()
    assert response.status_code == 200
    exchange.service.refresh()
    assert exchange.use(response.json()["access_token"]).status_code == 401


def test_an_exchange_that_starts_during_the_revocation_is_rejected(exchange: Exchange) -> None:
    url, before = exchange.service.database_url, exchange.subject_token()
    with ThreadPoolExecutor(2) as pool:
        with psycopg.connect(url) as holder:
            holder.execute("lock table change")  # the last table that a revocation writes to
            revoking = pool.submit(revoke, exchange)
            waiting_for_a_lock(url)
            exchanging = pool.submit(exchange_in_parallel, exchange, before)
            waiting_for_a_lock(url, processes=2)
        revoking.result()
        assert_rejected(exchanging.result(), "invalid_grant")
