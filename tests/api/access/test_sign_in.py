"""Links to set passwords, and signing in with one."""

from datetime import timedelta
from functools import partial

import pytest
from argon2 import PasswordHasher

from support.people import (
    PASSWORD,
    SECRET,
    Someone,
    choose_password,
    customer_user,
    disable,
    invitation_of_member,
    later,
    policy_of,
    staff_member,
)
from support.service import Service, unused_client_address
from tradecounter.access.change_password import ask_for_password_link, mail_password_link
from tradecounter.access.links import link_token
from tradecounter.access.sessions import list_sessions
from tradecounter.access.staff import disable_staff_member, reset_staff_member
from tradecounter.access.users import reset_user
from tradecounter.customers.change_account import block_customer, unblock_customer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import jobs_after
from tradecounter.edge.people import Site
from tradecounter.kit.errors import DomainError, Kind


def jobs(service: Service, name: str) -> list[dict[str, int]]:
    """The arguments of the jobs of a name."""
    found = service.in_transaction(lambda tx: jobs_after(tx, None, 0, 1000))
    return [job.arguments for job in found if job.name == name]


def test_a_link_sets_the_password_once(service: Service) -> None:
    email = "once@reseller.example"
    token = invitation_of_member(service, email)
    with pytest.raises(DomainError, match="is too common"):
        choose_password(service, "staff", token, "password1234")
    with pytest.raises(DomainError, match="has been used or has expired"):
        choose_password(service, "account", token)  # the other site's
    choose_password(service, "staff", token)
    with pytest.raises(DomainError, match="has been used or has expired"):
        choose_password(service, "staff", token)
    member = Someone(service, "staff", email.upper(), policy_of(service))
    assert member.kind_of_error() is None
    assert member.kind_of_error(PASSWORD + "!") is Kind.UNAUTHENTICATED
    nobody = Someone(service, "staff", "nobody@reseller.example", member.policy)
    assert nobody.kind_of_error() is Kind.UNAUTHENTICATED


def test_a_link_ends_after_seven_days_and_with_the_next_one(service: Service) -> None:
    email = "late@reseller.example"
    first = invitation_of_member(service, email)
    now = service.clock.now()
    _, link_id = service.in_transaction(lambda tx: reset_staff_member(tx, email, SECRET, now))
    with pytest.raises(DomainError) as raised:
        choose_password(service, "staff", first)
    assert raised.value.kind is Kind.GONE
    service.clock.advance(timedelta(days=7, seconds=1))
    with pytest.raises(DomainError, match="has been used or has expired"):
        choose_password(service, "staff", link_token(SECRET, link_id))


def test_a_disabled_member_cannot_sign_in_and_a_reset_one_needs_a_new_password(service: Service) -> None:
    member, now = staff_member(service), service.clock.now()
    cookie = member.sign_in().cookie
    service.in_transaction(lambda tx: disable_staff_member(tx, member.email, now))
    assert member.session(cookie) is None
    assert member.kind_of_error() is Kind.UNAUTHENTICATED
    service.in_transaction(lambda tx: reset_staff_member(tx, member.email, SECRET, now))
    assert member.kind_of_error() is Kind.UNAUTHENTICATED
    assert member.session(cookie) is None, "a session does not come back"


def test_guesses_slow_down_every_sign_in_from_their_address_and_none_from_others(service: Service) -> None:
    member, guesser = staff_member(service), unused_client_address()
    kinds = [member.kind_of_error(f"wrong password {n}", guesser) for n in range(11)]
    assert kinds == [Kind.UNAUTHENTICATED] * 10 + [Kind.TOO_MANY_REQUESTS]
    assert member.kind_of_error(PASSWORD, guesser) is Kind.TOO_MANY_REQUESTS, "a right one waits too"
    other = Someone(service, "staff", "other@reseller.example", member.policy)
    assert other.kind_of_error("wrong", guesser) is Kind.TOO_MANY_REQUESTS, "another account"
    assert member.kind_of_error() is None, "the member itself is not locked out"
    later(service, seconds=30)
    assert member.kind_of_error(PASSWORD, guesser) is None


def test_a_user_of_a_blocked_customer_is_out_until_it_is_unblocked(service: Service) -> None:
    user, now = customer_user(service), service.clock.now()
    customer_id = user.signed_in().person.customer_id  # type: ignore[union-attr]
    cookie = user.sign_in().cookie
    staff = Someone(service, "staff", user.email, user.policy)
    assert staff.kind_of_error() is Kind.UNAUTHENTICATED, "users are no staff"
    service.in_transaction(lambda tx: block_customer(tx, customer_id, "unpaid", now))
    assert user.session(cookie) is None
    assert [user.kind_of_error() for _ in range(11)] == [Kind.FORBIDDEN] * 11, "a right password is no guess"
    assert user.kind_of_error("a wrong password") is Kind.UNAUTHENTICATED
    service.in_transaction(lambda tx: unblock_customer(tx, customer_id, now))
    assert user.kind_of_error() is None
    assert service.in_transaction(lambda tx: fetch_account(tx, customer_id)).email_address != user.email


def test_a_disabled_or_reset_user_is_signed_out(service: Service) -> None:
    user, now = customer_user(service), service.clock.now()
    cookie = user.sign_in().cookie
    disable(service, user.email)
    assert user.session(cookie) is None
    _, link_id = service.in_transaction(lambda tx: reset_user(tx, user.email, SECRET, now))
    assert user.kind_of_error() is Kind.UNAUTHENTICATED
    choose_password(service, "account", link_token(SECRET, link_id), "another good password")
    assert user.kind_of_error("another good password") is None


@pytest.mark.parametrize("site", ["staff", "account"])
def test_forgetting_a_password_does_the_same_for_every_address(service: Service, site: Site) -> None:
    someone = staff_member(service) if site == "staff" else customer_user(service)
    unknown, now = f"unknown-{site}@shop.example", service.clock.now()
    before = len(jobs(service, "mail_user_password"))
    for email in (someone.email.upper(), unknown):
        address = unused_client_address()
        service.in_transaction(partial(ask_for_password_link, site=site, email=email, address=address, now=now))
    known_request, unknown_request = (job["request_id"] for job in jobs(service, "find_forgotten_password")[-2:])
    assert len(jobs(service, "mail_user_password")) == before, "the request itself looks nobody up"
    for request in (unknown_request, known_request, known_request):
        service.in_transaction(partial(mail_password_link, request_id=request, secret=SECRET, now=now))
    [mailed] = [job["link_id"] for job in jobs(service, "mail_user_password")[before:]]
    cookie = someone.sign_in().cookie
    choose_password(service, site, link_token(SECRET, mailed), "another good password")
    assert someone.session(cookie) is None, "a new password ends all sessions"
    assert someone.kind_of_error("another good password") is None


def test_a_link_for_a_forgotten_password_ends_after_an_hour(service: Service) -> None:
    user, now = customer_user(service), service.clock.now()
    address = unused_client_address()
    service.in_transaction(lambda tx: ask_for_password_link(tx, "account", user.email, address, now))
    request = jobs(service, "find_forgotten_password")[-1]["request_id"]
    service.in_transaction(lambda tx: mail_password_link(tx, request, SECRET, now))
    mailed = jobs(service, "mail_user_password")[-1]["link_id"]
    later(service, hours=1, seconds=1)
    with pytest.raises(DomainError, match="has been used or has expired"):
        choose_password(service, "account", link_token(SECRET, mailed))


def test_an_unknown_address_costs_as_many_argon2_runs_as_a_wrong_password(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    verify = PasswordHasher.verify

    def counting(hasher: PasswordHasher, stored: str, password: str) -> bool:
        runs.append(password)
        return verify(hasher, stored, password)

    member = staff_member(service)
    monkeypatch.setattr(PasswordHasher, "verify", counting)
    assert member.kind_of_error("wrong one") is Kind.UNAUTHENTICATED
    unknown = Someone(service, "staff", "unknown@reseller.example", member.policy)
    assert unknown.kind_of_error("unknown one") is Kind.UNAUTHENTICATED
    assert runs == ["wrong one", "unknown one"]


def test_sessions_are_listed_with_the_last_used_first(service: Service) -> None:
    member = staff_member(service)
    first = member.sign_in(address="192.0.2.1").cookie
    later(service, minutes=5)
    member.sign_in(address="192.0.2.2")
    later(service, minutes=5)
    assert member.session(first) is not None
    person, now = member.person, service.clock.now()
    listed = service.in_transaction(lambda tx: list_sessions(tx, "staff", person.id, now))
    assert [session.address for session in listed] == ["192.0.2.1", "192.0.2.2"]
