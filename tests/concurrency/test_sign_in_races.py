"""A new password, a reset or a disabling ends a sign-in that is under way, too."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

import psycopg
import pytest

from concurrency.test_codes_used_twice import with_factor
from support.orders import rows
from support.people import PASSWORD, SECRET, Someone, choose_password, customer_user, staff_member, totp
from support.service import Service
from support.waiting import waiting_for_a_lock
from tradecounter.access.change_password import change_password, mail_password_link, prove
from tradecounter.access.links import link_token, make_link
from tradecounter.access.queries.passwords import insert_request
from tradecounter.access.queries.people import fetch_user, lock_password
from tradecounter.access.queries.sign_ins import end_sessions_of
from tradecounter.access.rules import RESET_LIFETIME
from tradecounter.access.second_factor import begin_factor
from tradecounter.access.sign_in import enter_first_code, half_session
from tradecounter.access.staff import reset_staff_member
from tradecounter.access.users import disable_user, reset_user
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Site
from tradecounter.identity.credentials import secret_hash
from tradecounter.kit.errors import DomainError, Kind

NEW_PASSWORD = "battery horse correct"
Change = Callable[[Transaction], Awaitable[object]]


def someone(service: Service, site: Site) -> Someone:
    return staff_member(service) if site == "staff" else customer_user(service)


def reset(who: Someone) -> Change:
    reset_person = reset_staff_member if who.site == "staff" else reset_user
    return lambda tx: reset_person(tx, who.email, SECRET, who.service.clock.now())


def disabled(who: Someone) -> Change:
    async def work(tx: Transaction) -> None:
        await disable_user(tx, await fetch_user(tx, who.email), who.service.clock.now())

    return work


def during(service: Service, change: Change, attempt: Callable[[], object]) -> DomainError | None:
    """Attempt something that meets a change before it is committed; return the attempt's error."""
    with ThreadPoolExecutor(1) as threads:

        async def work(tx: Transaction) -> Future[object]:
            await change(tx)
            attempted = threads.submit(attempt)
            await asyncio.to_thread(waiting_for_a_lock, service.database_url)
            return attempted

        error = service.in_transaction(work).exception(timeout=30)
    assert error is None or isinstance(error, DomainError), error
    return error


@pytest.mark.parametrize("site", ["staff", "account"])
def test_a_password_that_is_reset_while_it_is_checked_signs_nobody_in(service: Service, site: Site) -> None:
    who = someone(service, site)
    error = during(service, reset(who), who.sign_in)
    assert error is not None
    assert (error.kind, error.message) == (Kind.UNAUTHENTICATED, "the e-mail address or the password is wrong")


def test_a_user_who_is_disabled_while_the_password_is_checked_is_not_signed_in(service: Service) -> None:
    who = customer_user(service)
    error = during(service, disabled(who), who.sign_in)
    assert error is not None
    assert error.kind == Kind.UNAUTHENTICATED


@pytest.mark.parametrize("site", ["staff", "account"])
def test_two_requests_at_once_get_one_link(service: Service, site: Site) -> None:
    who, now = someone(service, site), service.clock.now()

    async def mail_link(tx: Transaction) -> None:
        await mail_password_link(tx, await insert_request(tx, site, who.email, now), SECRET, now)

    assert during(service, mail_link, lambda: service.in_transaction(mail_link)) is None
    unused = (
        "select count(*) from one_time_link where (staff_id, user_id) is not distinct from (%s, %s) and used_at is null"
    )
    owner = (who.person.id, None) if site == "staff" else (None, who.person.id)
    assert rows(service, unused, *owner) == [(1,)]


def test_a_half_session_that_has_ended_is_not_completed(service: Service) -> None:
    who = customer_user(service)
    secret, _ = with_factor(who)
    half = who.sign_in()
    error = during(service, disabled(who), lambda: who.enter_code(half, totp(secret, service)))
    assert error is not None
    assert (error.kind, error.message) == (Kind.UNAUTHENTICATED, "this took too long; sign in again")


def test_a_first_code_does_not_complete_a_half_session_that_has_ended(service: Service) -> None:
    who, now = staff_member(service, totp_required=True), service.clock.now()
    half, person = who.sign_in(), who.person
    assert half.next == "set_up"
    session = service.in_transaction(lambda tx: half_session(tx, "staff", half.cookie, now))
    begun = service.in_transaction(lambda tx: begin_factor(tx, who.policy, session, now))
    code, visitor = totp(base64.b32decode(begun.secret), service), who.visitor(cookie=half.cookie)
    error = during(
        service,
        lambda tx: end_sessions_of(tx, "staff", person.id, now, but=None),
        lambda: service.call(lambda: enter_first_code(service.commands, who.policy, "staff", code, visitor, now)),
    )
    assert error is not None
    assert (error.kind, error.message) == (Kind.UNAUTHENTICATED, "this took too long; sign in again")


@pytest.mark.parametrize("site", ["staff", "account"])
def test_the_session_of_a_code_ends_with_a_password_that_is_set_meanwhile(service: Service, site: Site) -> None:
    who = someone(service, site)
    secret, _ = with_factor(who)
    person, now = who.person, service.clock.now()
    link_id = service.in_transaction(lambda tx: make_link(tx, site, person.id, SECRET, now, RESET_LIFETIME))
    assert who.kind_of_error("wrong password") == Kind.UNAUTHENTICATED
    half = who.sign_in()
    with ThreadPoolExecutor(2) as threads, psycopg.connect(service.database_url) as holder:
        holder.execute("select from password_failure for update")
        entered = threads.submit(who.enter_code, half, totp(secret, service))
        waiting_for_a_lock(service.database_url)
        chosen = threads.submit(choose_password, service, site, link_token(SECRET, link_id), NEW_PASSWORD)
        waiting_for_a_lock(service.database_url, processes=2)
        holder.commit()
        cookie = entered.result(timeout=30).cookie
        chosen.result(timeout=30)
    assert who.session(cookie) is None


@pytest.mark.parametrize("site", ["staff", "account"])
def test_a_change_of_the_own_password_does_not_undo_a_reset(service: Service, site: Site) -> None:
    who = someone(service, site)
    session, now = who.signed_in(), service.clock.now()
    current = "correct horse battery"
    error = during(
        service,
        reset(who),
        lambda: service.call(
            lambda: change_password(service.commands, session, current, NEW_PASSWORD, who.address, now)
        ),
    )
    assert error is not None
    assert [(each.field, each.message) for each in error.field_errors] == [("current_password", "is wrong")]
    assert not who.person.has_password


@pytest.mark.parametrize("site", ["staff", "account"])
def test_a_reset_and_a_password_that_is_set_by_a_link_wait_for_each_other(service: Service, site: Site) -> None:
    who = someone(service, site)
    person, now = who.person, service.clock.now()
    link_id = service.in_transaction(lambda tx: make_link(tx, site, person.id, SECRET, now, RESET_LIFETIME))
    with ThreadPoolExecutor(1) as threads:

        async def work(tx: Transaction) -> Future[None]:
            await lock_password(tx, site, who.email)
            chosen = threads.submit(choose_password, service, site, link_token(SECRET, link_id), NEW_PASSWORD)
            await asyncio.to_thread(waiting_for_a_lock, service.database_url)
            await reset(who)(tx)
            return chosen

        error = service.in_transaction(work).exception(timeout=30)
    assert isinstance(error, DomainError), error
    assert error.kind == Kind.GONE
    assert not who.person.has_password


@pytest.mark.parametrize("site", ["staff", "account"])
def test_a_sign_in_and_a_proof_of_the_same_person_wait_for_each_other(service: Service, site: Site) -> None:
    who = someone(service, site)
    session, other, now = who.signed_in(), who.sign_in().cookie, service.clock.now()
    assert who.kind_of_error("wrong password") == Kind.UNAUTHENTICATED
    with ThreadPoolExecutor(2) as threads, psycopg.connect(service.database_url) as holder:
        holder.execute("select from session where hash = %s for update", [secret_hash(other)])
        signed_in = threads.submit(who.sign_in, cookie=other)
        waiting_for_a_lock(service.database_url)
        proof = threads.submit(
            service.call, lambda: prove(service.commands, who.policy, session, PASSWORD, who.address, now)
        )
        wait([proof], timeout=1)  # it waits for the sign-in if that has locked wrong passwords
        holder.commit()
        signed_in.result(timeout=30)
        proof.result(timeout=30)
