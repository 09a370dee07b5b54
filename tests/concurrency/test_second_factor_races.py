"""Steps of a second factor at the same time: each sees what the one before has left."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from concurrency.test_codes_used_twice import with_factor
from support.people import customer_user
from support.service import Service
from support.waiting import waiting_for_a_lock
from tradecounter.access.second_factor import begin_factor, disable_factor, renew_recovery_codes
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind


def test_a_page_that_is_opened_twice_at_once_shows_one_secret(service: Service) -> None:
    who = customer_user(service)
    session, now = who.signed_in(), service.clock.now()

    def secret_shown() -> str:
        return service.in_transaction(lambda tx: begin_factor(tx, who.policy, session, now)).secret

    with ThreadPoolExecutor(1) as threads:

        async def work(tx: Transaction) -> tuple[str, Future[str]]:
            first = await begin_factor(tx, who.policy, session, now)
            second = threads.submit(secret_shown)
            await asyncio.to_thread(waiting_for_a_lock, service.database_url)
            return first.secret, second

        first, second = service.in_transaction(work)
        assert second.result(timeout=30) == first


def test_new_recovery_codes_of_a_factor_that_is_removed_meanwhile_are_an_error(service: Service) -> None:
    who = customer_user(service)
    with_factor(who)
    person, now = who.person, service.clock.now()
    with ThreadPoolExecutor(1) as threads:

        async def work(tx: Transaction) -> Future[list[str]]:
            await disable_factor(tx, who.policy, person, now)
            renewed = threads.submit(service.in_transaction, lambda other: renew_recovery_codes(other, person, now))
            await asyncio.to_thread(waiting_for_a_lock, service.database_url)
            return renewed

        renewed = service.in_transaction(work)
        with pytest.raises(DomainError) as error:
            renewed.result(timeout=30)
    assert error.value.kind == Kind.NOT_FOUND
