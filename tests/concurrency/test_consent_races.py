"""Codes, refresh tokens, exchanges, revocations and keys that are used at the same moment."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import psycopg
import pytest

from support.applications import assert_rejected
from support.consent import Consenting, running_consent
from support.orders import rows
from support.waiting import waiting_for_a_lock
from tradecounter.consent.authorize import revoke_consent
from tradecounter.consent.keys import issuer_vault, signing_key
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.kit.clock import SystemClock

AT_ONCE = 8


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        running.given()  # the key is made
        yield running


def at_once(call: Callable[[], httpx2.Response]) -> list[httpx2.Response]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [found.result() for found in [pool.submit(call) for _ in range(AT_ONCE)]]


def held(consenting: Consenting, *calls: Callable[[], Any]) -> list[Any]:
    """Run calls in this order, each waiting for a grant that somebody has locked; then let them go."""
    url = consenting.service.database_url
    with ThreadPoolExecutor(len(calls)) as pool:
        with psycopg.connect(url) as holder:
            holder.execute("select from consent_grant for update")
            running = []
            for call in calls:
                running.append(pool.submit(call))
                waiting_for_a_lock(url, processes=len(running))
        return [found.result() for found in running]


def test_of_concurrent_uses_of_one_code_one_wins_and_its_tokens_end(consenting: Consenting) -> None:
    code = consenting.code()
    found = at_once(lambda: consenting.redeem(code))
    assert sorted(response.status_code for response in found) == [200] + [400] * (AT_ONCE - 1)
    [won] = [response.json() for response in found if response.status_code == 200]
    assert_rejected(consenting.refresh(won["refresh_token"]), "invalid_grant")
    assert_rejected(consenting.exchange(won["access_token"]), "invalid_grant")


def test_of_two_uses_that_overlap_the_first_wins(consenting: Consenting) -> None:
    code = consenting.code()
    first, second = held(consenting, lambda: consenting.redeem(code), lambda: consenting.redeem(code))
    assert (first.status_code, second.status_code) == (200, 400)


def test_of_concurrent_uses_of_one_refresh_token_one_wins_and_the_family_ends(consenting: Consenting) -> None:
    token = consenting.given()["refresh_token"]
    found = at_once(lambda: consenting.refresh(token))
    assert sorted(response.status_code for response in found) == [200] + [400] * (AT_ONCE - 1)
    [won] = [response.json() for response in found if response.status_code == 200]
    assert_rejected(consenting.refresh(won["refresh_token"]), "invalid_grant")


def test_an_exchange_that_overlaps_with_the_end_of_its_grant_gives_nothing_that_lasts(consenting: Consenting) -> None:
    given = consenting.given()
    revoked, exchanged = held(
        consenting,
        lambda: consenting.revoke(given["refresh_token"]),
        lambda: consenting.exchange(given["access_token"]),
    )
    assert (revoked.status_code, exchanged.status_code) == (200, 400)
    given = consenting.given()
    exchanged, revoked = held(
        consenting,
        lambda: consenting.exchange(given["access_token"]),
        lambda: consenting.revoke(given["refresh_token"]),
    )
    assert revoked.status_code == 200
    if exchanged.status_code == 200:
        consenting.service.refresh()
        assert consenting.use(exchanged.json()["access_token"]).status_code == 401


def test_a_code_that_is_redeemed_while_the_consent_is_revoked_gives_nothing_that_lasts(consenting: Consenting) -> None:
    def revoke() -> None:
        async def work(tx: Transaction) -> None:
            now = consenting.service.clock.now()
            await revoke_consent(tx, consenting.application.client_id, consenting.customer.id, now)

        consenting.service.in_transaction(work)

    code = consenting.code()
    redeemed, _ = held(consenting, lambda: consenting.redeem(code), revoke)
    if redeemed.status_code == 200:
        assert_rejected(consenting.exchange(redeemed.json()["access_token"]), "invalid_grant")
        assert_rejected(consenting.refresh(redeemed.json()["refresh_token"]), "invalid_grant")
    else:
        assert_rejected(redeemed, "invalid_grant")


def test_two_users_who_consent_at_once_give_one_consent(consenting: Consenting) -> None:
    application, other = consenting.register(), consenting.user("developer")
    with ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(lambda user: consenting.code(application, user), [consenting.owner, other]))
    stand = "select count(*) from consent where client_id = %s and revoked_at is null"
    assert rows(consenting.service, stand, application.client_id) == [(1,)]
    assert [consenting.redeem(code, application).status_code for code in codes] == [200, 200]


def test_processes_that_need_the_first_key_at_once_make_one(consenting: Consenting) -> None:
    vault = issuer_vault(lambda: ["s" * 64])
    rows(consenting.service, "delete from issuer_key returning kid")

    async def make() -> str:
        async with Database(consenting.service.database_url, connections=1) as database, transaction(database) as tx:
            return str((await signing_key(tx, vault, SystemClock().now())).kid)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = set(pool.map(lambda _: consenting.service.call(make), range(AT_ONCE)))
    assert [(kid,) for kid in made] == rows(consenting.service, "select kid from issuer_key")
