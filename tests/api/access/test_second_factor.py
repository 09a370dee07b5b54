"""Second factors: their set-up, their codes, recovery codes."""

import base64
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from support.people import SECRET, Someone, customer_user, later, staff_member, totp
from support.service import Service, unused_client_address
from tradecounter.access.change_password import change_password, prove
from tradecounter.access.second_factor import (
    begin_factor,
    codes_left,
    disable_factor,
    enable_factor,
    has_factor,
    renew_recovery_codes,
    reseal_factors,
)
from tradecounter.access.sessions import list_sessions, recently_proven
from tradecounter.access.sign_in import enter_first_code, half_session
from tradecounter.access.staff import reset_staff_member
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.people import Site
from tradecounter.edge.session import Session
from tradecounter.identity.vault import Vault
from tradecounter.kit.errors import DomainError, Kind


@dataclass
class Authenticator:
    """A person with a second factor."""

    who: Someone
    session: Session
    secret: bytes
    recovery: list[str]


def begin(who: Someone, session: Session) -> bytes:
    """Begin a second factor and return its secret."""
    now = who.service.clock.now()
    begun = who.service.in_transaction(lambda tx: begin_factor(tx, who.policy, session, now))
    assert f"secret={begun.secret}&" in begun.uri
    return base64.b32decode(begun.secret)


def enable(who: Someone, session: Session, code: str) -> list[str]:
    now = who.service.clock.now()
    return who.service.in_transaction(lambda tx: enable_factor(tx, who.policy, session, code, now))


def with_factor(who: Someone) -> Authenticator:
    """Set up a second factor; the code that did so is used up, so the next step begins."""
    session = who.signed_in()
    secret = begin(who, session)
    recovery = enable(who, session, totp(secret, who.service))
    later(who.service, seconds=30)
    return Authenticator(who, session, secret, recovery)


@pytest.mark.parametrize("site", ["staff", "account"])
def test_a_sign_in_needs_the_password_and_then_a_code(service: Service, site: Site) -> None:
    who = staff_member(service) if site == "staff" else customer_user(service)
    authenticator = with_factor(who)
    half = who.sign_in()
    assert half.next == "code"
    assert who.session(half.cookie) is None, "the password alone opens nothing"
    with pytest.raises(DomainError, match="code: is wrong"):
        who.enter_code(half, "000000" if totp(authenticator.secret, service) != "000000" else "000001")
    done = who.enter_code(half, f" {totp(authenticator.secret, service)[:3]} {totp(authenticator.secret, service)[3:]}")
    assert (done.next, done.cookie != half.cookie) == ("done", True)
    assert who.session(done.cookie) is not None
    assert who.session(half.cookie) is None
    with pytest.raises(DomainError, match="sign in again"):
        who.enter_code(half, totp(authenticator.secret, service, 1))


def test_a_code_is_good_once_also_for_its_neighbours(service: Service) -> None:
    authenticator = with_factor(staff_member(service))
    who, code = authenticator.who, totp(authenticator.secret, service)
    who.enter_code(who.sign_in(), code)
    for used in (code, totp(authenticator.secret, service, -1)):
        with pytest.raises(DomainError, match="used already"):
            who.enter_code(who.sign_in(), used)
    who.enter_code(who.sign_in(), totp(authenticator.secret, service, 1))


def test_a_recovery_code_is_good_once(service: Service) -> None:
    authenticator = with_factor(staff_member(service))
    who, person = authenticator.who, authenticator.who.person
    assert who.enter_code(who.sign_in(), authenticator.recovery[3].upper()).next == "done"
    with pytest.raises(DomainError, match="used already"):
        who.enter_code(who.sign_in(), authenticator.recovery[3])
    assert service.in_transaction(lambda tx: codes_left(tx, person)) == 9
    now = service.clock.now()
    renewed = service.in_transaction(lambda tx: renew_recovery_codes(tx, person, now))
    with pytest.raises(DomainError, match="is wrong"):
        who.enter_code(who.sign_in(), authenticator.recovery[4])
    assert who.enter_code(who.sign_in(), renewed[0]).next == "done"


def test_guesses_of_codes_count_like_wrong_passwords(service: Service) -> None:
    authenticator = with_factor(staff_member(service))
    who, guesser = authenticator.who, unused_client_address()
    half = who.sign_in(address=guesser)
    kinds = []
    for _ in range(11):
        with pytest.raises(DomainError) as raised:
            who.enter_code(half, "wrong-code", guesser)
        kinds.append(raised.value.kind)
    assert kinds == [Kind.INVALID] * 10 + [Kind.TOO_MANY_REQUESTS]
    with pytest.raises(DomainError, match="too many"):
        who.enter_code(half, totp(authenticator.secret, service), guesser)
    with pytest.raises(DomainError, match="too many"):
        who.sign_in(address=guesser)
    assert who.enter_code(who.sign_in(), totp(authenticator.secret, service)).next == "done", "another address may"


def test_the_second_step_ends_after_ten_minutes(service: Service) -> None:
    authenticator = with_factor(staff_member(service))
    half = authenticator.who.sign_in()
    later(service, minutes=10)
    with pytest.raises(DomainError) as raised:
        authenticator.who.enter_code(half, totp(authenticator.secret, service))
    assert raised.value.kind is Kind.UNAUTHENTICATED


def test_a_compulsory_factor_is_set_up_at_the_next_sign_in(service: Service) -> None:
    who = staff_member(service, totp_required=True)
    first = who.sign_in()
    assert (first.next, who.session(first.cookie)) == ("set_up", None)
    now = service.clock.now()
    half = service.in_transaction(lambda tx: half_session(tx, "staff", first.cookie, now))
    secret = begin(who, half)
    assert begin(who, half) == secret, "loading the page again changes nothing"
    database, visitor, code = service.commands, who.visitor(cookie=first.cookie), totp(secret, service)
    done = service.call(lambda: enter_first_code(database, who.policy, "staff", code, visitor, now))
    assert (done.next, len(done.recovery_codes)) == ("done", 10)
    session = who.session(done.cookie)
    assert session is not None
    with pytest.raises(DomainError, match="is compulsory"):
        service.in_transaction(lambda tx: disable_factor(tx, who.policy, session.person, now))
    assert customer_user(service).sign_in().next == "done", "customers' users choose"


def test_the_password_alone_replaces_no_factor_that_was_set_up_meanwhile(service: Service) -> None:
    who = staff_member(service, totp_required=True)
    guessed, own = who.sign_in(), who.sign_in()

    def set_up(cookie: str) -> str:
        now, visitor = service.clock.now(), who.visitor(cookie=cookie)
        half = service.in_transaction(lambda tx: half_session(tx, "staff", cookie, now))
        code = totp(begin(who, half), service)
        return service.call(lambda: enter_first_code(service.commands, who.policy, "staff", code, visitor, now)).next

    assert set_up(own.cookie) == "done"
    with pytest.raises(DomainError, match="sign in again"):
        set_up(guessed.cookie)
    assert who.sign_in().next == "code"


def test_nobody_confirms_the_secret_that_another_session_has_seen(service: Service) -> None:
    who = staff_member(service)
    stranger, own = who.signed_in(), who.signed_in()
    seen = begin(who, stranger)
    secret = begin(who, own)
    assert secret != seen
    for code in (totp(seen, service), totp(secret, service)):
        with pytest.raises(DomainError, match="begin again"):
            enable(who, stranger, code)
    assert enable(who, own, totp(secret, service))


def test_the_former_factor_counts_until_the_new_one_is_confirmed(service: Service) -> None:
    authenticator = with_factor(staff_member(service))
    who = authenticator.who
    secret = begin(who, authenticator.session)
    assert who.enter_code(who.sign_in(), totp(authenticator.secret, service)).next == "done"
    enable(who, authenticator.session, totp(secret, service))
    later(service, seconds=30)
    for wrong in (totp(authenticator.secret, service), authenticator.recovery[0]):
        with pytest.raises(DomainError, match="is wrong"):
            who.enter_code(who.sign_in(), wrong)
    assert who.enter_code(who.sign_in(), totp(secret, service)).next == "done"


def test_a_removed_or_reset_factor_is_no_longer_asked_for(service: Service) -> None:
    authenticator = with_factor(customer_user(service))
    who, person, now = authenticator.who, authenticator.who.person, service.clock.now()
    service.in_transaction(lambda tx: disable_factor(tx, who.policy, person, now))
    assert who.sign_in().next == "done"
    member = with_factor(staff_member(service)).who
    service.in_transaction(lambda tx: reset_staff_member(tx, member.email, SECRET, now))
    person = member.person
    assert not service.in_transaction(lambda tx: has_factor(tx, person))


def test_proving_asks_for_the_password_or_with_a_factor_for_a_code(service: Service) -> None:
    plain, authenticator = customer_user(service), with_factor(staff_member(service))
    later(service, minutes=10)
    prove_again(plain, plain.signed_in(), "correct horse battery")
    prove_again(authenticator.who, authenticator.session, totp(authenticator.secret, service))


def prove_again(who: Someone, session: Session, right: str) -> None:
    """Prove a session, first with a wrong text."""
    service = who.service
    now = service.clock.now()

    def given(text: str) -> None:
        service.call(lambda: prove(service.commands, who.policy, session, text, who.address, now))

    with pytest.raises(DomainError, match="given: is wrong"):
        given("wrong")
    given(right)
    person = who.person
    listed = service.in_transaction(lambda tx: list_sessions(tx, who.site, person.id, now))
    assert [recently_proven(found, now) for found in listed if found.id == session.id] == [True]


def test_a_changed_password_ends_all_sessions_and_starts_one(service: Service) -> None:
    who = staff_member(service)
    other, session = who.sign_in().cookie, who.signed_in()
    now = service.clock.now()

    def change(current: str, new: str) -> str:
        return service.call(lambda: change_password(service.commands, session, current, new, who.address, now))

    with pytest.raises(DomainError, match="current_password: is wrong"):
        change("not the password", "another good password")
    with pytest.raises(DomainError, match="must have 12"):
        change("correct horse battery", "short")
    cookie = change("correct horse battery", "another good password")
    assert who.session(other) is None
    assert who.session(cookie) is not None
    assert who.kind_of_error("another good password") is None
    assert who.kind_of_error() is Kind.UNAUTHENTICATED


def test_secrets_are_encrypted_and_a_rotation_of_the_key_encrypts_them_again(service: Service) -> None:
    authenticator = with_factor(staff_member(service))
    who, new = authenticator.who, ["n" * 64, SECRET]

    async def rotate(database: Database) -> None:
        async with transaction(database) as tx:
            await reseal_factors(tx, new)
            await reseal_factors(tx, new)

    service.call(lambda: rotate(service.commands))
    with pytest.raises(DomainError, match="is wrong"):
        who.enter_code(who.sign_in(), totp(authenticator.secret, service))
    who.policy = replace(who.policy, vault=Vault("second factors", lambda: new[:1]))
    assert who.enter_code(who.sign_in(), totp(authenticator.secret, service)).next == "done"
