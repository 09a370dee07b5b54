"""A code of a second factor, a recovery code and a link are good once, also for requests at the same time."""

import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.people import SECRET, Someone, later, staff_member, totp
from support.service import Service, unused_client_address
from tradecounter.access.links import link_token, set_password
from tradecounter.access.second_factor import begin_factor, enable_factor
from tradecounter.access.staff import reset_staff_member
from tradecounter.kit.errors import DomainError

pytestmark = pytest.mark.sweep

AT_ONCE = 8


def with_factor(who: Someone) -> tuple[bytes, list[str]]:
    service, session, now = who.service, who.signed_in(), who.service.clock.now()
    begun = service.in_transaction(lambda tx: begin_factor(tx, who.policy, session, now))
    secret = base64.b32decode(begun.secret)
    code = totp(secret, service)
    codes = service.in_transaction(lambda tx: enable_factor(tx, who.policy, session, code, now))
    later(service, seconds=30)
    return secret, codes


def successes(attempts: list[Callable[[], object]]) -> int:
    """How many of some calls succeed that begin at the same time."""

    def succeeds(attempt: Callable[[], object]) -> bool:
        try:
            attempt()
        except DomainError:
            return False
        return True

    with ThreadPoolExecutor(len(attempts)) as pool:
        return sum(pool.map(succeeds, attempts))


@pytest.mark.parametrize("kind", ["totp", "recovery"])
def test_of_simultaneous_sign_ins_with_one_code_one_succeeds(service: Service, kind: str) -> None:
    who = staff_member(service)
    secret, codes = with_factor(who)
    code = totp(secret, service) if kind == "totp" else codes[0]
    addresses = [unused_client_address() for _ in range(AT_ONCE)]
    halves = [(who.sign_in(address=address), address) for address in addresses]
    attempts: list[Callable[[], object]] = [
        lambda half=half, address=address: who.enter_code(half, code, address)  # type: ignore[misc]
        for half, address in halves
    ]
    assert successes(attempts) == 1


def test_of_simultaneous_passwords_at_one_link_one_is_set(service: Service) -> None:
    who, now = staff_member(service), service.clock.now()
    _, link_id = service.in_transaction(lambda tx: reset_staff_member(tx, who.email, SECRET, now))
    token, words = link_token(SECRET, link_id), [f"another good password {n}" for n in range(AT_ONCE)]

    def choose(word: str) -> None:
        service.call(lambda: set_password(service.commands, "staff", token, word, now))

    assert successes([lambda word=word: choose(word) for word in words]) == 1  # type: ignore[misc]
    assert [who.kind_of_error(word) for word in words].count(None) == 1


def test_guesses_at_the_same_time_all_count(service: Service) -> None:
    who, guesser = staff_member(service), unused_client_address()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        kinds = list(pool.map(lambda n: who.kind_of_error(f"wrong password {n}", guesser), range(2 * AT_ONCE)))
    assert sum(kind is not None and kind.name == "UNAUTHENTICATED" for kind in kinds) == 10
