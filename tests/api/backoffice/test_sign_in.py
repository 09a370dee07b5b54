"""Links to set passwords, and signing in: the use cases of the coming pages."""

from datetime import timedelta
from functools import partial

import pytest

from support.service import Service, unused_client_address
from tradecounter.access.links import link_token, set_password
from tradecounter.access.sign_in import sign_in_staff, sign_in_user
from tradecounter.access.staff import add_staff_member, disable_staff_member, reset_staff_member
from tradecounter.access.users import invite_user, mail_password_link
from tradecounter.customers.block_customer import block_customer, unblock_customer
from tradecounter.customers.queries.accounts import the_account
from tradecounter.db.job_queue import jobs_after
from tradecounter.kit.errors import DomainError, Kind

SECRET = "s" * 64
PASSWORD = "correct horse battery"


def link_of_member(service: Service, email: str) -> str:
    now = service.clock.now()
    _, link_id = service.in_transaction(lambda tx: add_staff_member(tx, email, "Sam", ["support"], SECRET, now))
    return link_token(SECRET, link_id)


def choose(service: Service, token: str, password: str = PASSWORD) -> None:
    service.call(lambda: set_password(service.commands, token, password, service.clock.now()))


def kind_of(service: Service, email: str, password: str, address: str) -> Kind | None:
    """The kind of error that a sign-in gets; None for success."""
    try:
        service.call(lambda: sign_in_staff(service.commands, email, password, address, service.clock.now()))
    except DomainError as error:
        return error.kind
    return None


def test_a_link_sets_the_password_once(service: Service) -> None:
    token = link_of_member(service, "once@reseller.example")
    with pytest.raises(DomainError, match="is too common"):
        choose(service, token, "password1234")
    choose(service, token)
    with pytest.raises(DomainError, match="has been used or has expired"):
        choose(service, token)
    address = unused_client_address()
    assert kind_of(service, "ONCE@reseller.example", PASSWORD, address) is None
    assert kind_of(service, "once@reseller.example", PASSWORD + "!", address) is Kind.UNAUTHENTICATED
    assert kind_of(service, "nobody@reseller.example", PASSWORD, address) is Kind.UNAUTHENTICATED


def test_a_link_ends_after_seven_days_and_with_the_next_one(service: Service) -> None:
    email = "late@reseller.example"
    first = link_of_member(service, email)
    now = service.clock.now()
    _, link_id = service.in_transaction(lambda tx: reset_staff_member(tx, email, SECRET, now))
    with pytest.raises(DomainError) as raised:
        choose(service, first)
    assert raised.value.kind is Kind.GONE
    service.clock.advance(timedelta(days=7, seconds=1))
    with pytest.raises(DomainError, match="has been used or has expired"):
        choose(service, link_token(SECRET, link_id))


def test_a_disabled_member_cannot_sign_in_and_a_reset_one_needs_a_new_password(service: Service) -> None:
    email, address = "gone@reseller.example", unused_client_address()
    choose(service, link_of_member(service, email))
    service.in_transaction(lambda tx: disable_staff_member(tx, email, service.clock.now()))
    assert kind_of(service, email, PASSWORD, address) is Kind.UNAUTHENTICATED
    service.in_transaction(lambda tx: reset_staff_member(tx, email, SECRET, service.clock.now()))
    assert kind_of(service, email, PASSWORD, address) is Kind.UNAUTHENTICATED


def test_guesses_slow_down_one_pair_of_account_and_address_only(service: Service) -> None:
    email, guesser = "target@reseller.example", unused_client_address()
    choose(service, link_of_member(service, email))
    kinds = [kind_of(service, email, f"wrong password {n}", guesser) for n in range(11)]
    assert kinds == [Kind.UNAUTHENTICATED] * 10 + [Kind.TOO_MANY_REQUESTS]
    assert kind_of(service, email, PASSWORD, guesser) is Kind.TOO_MANY_REQUESTS, "a right one waits too"
    assert kind_of(service, "other@reseller.example", "wrong", guesser) is Kind.UNAUTHENTICATED, "another account"
    assert kind_of(service, "other@reseller.example", "wrong", guesser) is Kind.TOO_MANY_REQUESTS, "one in 30 seconds"
    assert kind_of(service, email, PASSWORD, unused_client_address()) is None, "the member itself is not locked out"
    service.clock.advance(timedelta(seconds=30))
    assert kind_of(service, email, PASSWORD, guesser) is None


def test_an_invited_user_signs_in_and_can_ask_for_a_new_password(service: Service) -> None:
    customer, now = service.customer(), service.clock.now()
    email = f"user{customer.id}@shop.example"
    _, link_id = service.in_transaction(lambda tx: invite_user(tx, customer.id, email, "buyer", SECRET, now))
    choose(service, link_token(SECRET, link_id))
    address = unused_client_address()
    user = service.call(lambda: sign_in_user(service.commands, email, PASSWORD, address, now))
    assert (user.customer_id, user.role) == (customer.id, "buyer")
    assert kind_of(service, email, PASSWORD, address) is Kind.UNAUTHENTICATED, "users are no staff"
    service.in_transaction(lambda tx: block_customer(tx, customer.id, "unpaid", now))
    with pytest.raises(DomainError) as blocked:
        service.call(lambda: sign_in_user(service.commands, email, PASSWORD, unused_client_address(), now))
    assert blocked.value.kind is Kind.UNAUTHENTICATED
    service.in_transaction(lambda tx: unblock_customer(tx, customer.id, now))
    assert service.call(lambda: sign_in_user(service.commands, email, PASSWORD, address, now)) == user
    for known in (email, "unknown@shop.example"):
        service.in_transaction(partial(mail_password_link, email=known, secret=SECRET, now=now))
    jobs = service.in_transaction(lambda tx: jobs_after(tx, None, 0, 1000))
    [mailed] = [job.arguments["link_id"] for job in jobs if job.name == "mail_user_password"]
    assert mailed != link_id
    service.clock.advance(timedelta(hours=1, seconds=1))
    with pytest.raises(DomainError, match="has been used or has expired"):
        choose(service, link_token(SECRET, mailed))
    assert service.in_transaction(lambda tx: the_account(tx, customer.id)).email_address != email
