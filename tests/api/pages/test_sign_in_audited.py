"""Every form of signing in leaves one entry in the audit log, by the person and from its address.

A new one has to be added here, with the action of its entry and how it is sent.
"""

from collections.abc import Callable

import pytest

from support.backoffice import BackOfficeSite
from support.orders import rows
from support.own_browser import Browser
from support.people import PASSWORD, totp
from support.service import Service
from support.signing_in import Place, place_at
from tradecounter.access.pages.both.sign_in import SIGN_IN_SUBJECTS
from tradecounter.edge.pages.page_site import BACK_OFFICE
from tradecounter.edge.rest.operation import operations_of

NEW = "another good password"
Step = Callable[[Place, Browser], object]


def with_factor(place: Place, browser: Browser) -> bytes:
    return place.set_up_factor(browser)[0]


def enter_code(place: Place, browser: Browser) -> object:
    secret = with_factor(place, browser)
    place.sign_in(browser)
    return browser.send(place.path("/sign-in/code"), code=totp(secret, place.service))


def enter_recovery_code(place: Place, browser: Browser) -> object:
    _, codes = place.set_up_factor(browser)
    place.sign_in(browser)
    return browser.send(place.path("/sign-in/code"), code=codes[0])


def end_one(place: Place, browser: Browser) -> object:
    other = place.signed_in()
    assert other.address != browser.address
    [(last,)] = rows(place.service, "select max(id) from session")
    return browser.send(place.path(f"/sign-ins/{last}/end"), once="")


def end_others(place: Place, browser: Browser) -> object:
    place.signed_in()
    return browser.send(place.path("/sign-ins/end-others"), once="")


def renew(place: Place, browser: Browser) -> object:
    with_factor(place, browser)
    return browser.send(place.path("/sign-ins/recovery-codes"), once="")


def remove(place: Place, browser: Browser) -> object:
    with_factor(place, browser)
    return browser.send(place.path("/sign-ins/second-factor/remove"), once="")


STEPS: dict[str, tuple[str, Step]] = {
    "/sign-in": ("WHO.sign_in", lambda place, browser: place.sign_in(browser)),
    "/sign-in/code": ("WHO.sign_in", enter_code),
    "/sign-in/again": ("WHO.prove", lambda place, browser: browser.send(place.site.ask_again, given=PASSWORD)),
    "/sign-out": ("WHO.sign_out", lambda place, browser: browser.send(place.path("/sign-out"))),
    "/sign-ins/{id}/end": ("WHO.end_session", end_one),
    "/sign-ins/end-others": ("WHO.end_sessions", end_others),
    "/sign-ins/password": (
        "WHO.change_password",
        lambda p, browser: browser.send(p.path("/sign-ins/password"), current_password=PASSWORD, password=NEW),
    ),
    "/sign-ins/second-factor": ("totp.enable", with_factor),
    "/sign-ins/second-factor/remove": ("totp.disable", remove),
    "/sign-ins/recovery-codes": ("totp.renew_codes", renew),
}
ELSEWHERE = {
    "/sign-in/second-factor": "totp.enable and staff.sign_in, below",
    "/set-password": "staff.set_password, below",
    "/forgotten-password": "no entry: anybody may ask",
}


@pytest.fixture(params=["staff", "account"])
def place(request: pytest.FixtureRequest, office: BackOfficeSite) -> Place:
    return place_at(request.param, office)


def last_entry(service: Service) -> tuple[str, str, str, str, str]:
    [found] = rows(
        service,
        "select action, actor_kind, actor_name, address, subject from audit_entry order by id desc limit 1",
    )
    return found


def test_every_form_is_listed() -> None:
    forms = {op.path for subject in SIGN_IN_SUBJECTS for op in operations_of(subject) if op.method == "POST"}
    assert forms == STEPS.keys() | ELSEWHERE.keys()


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("path", STEPS)
def test_a_step_leaves_an_entry_by_the_person_from_its_address(place: Place, path: str) -> None:
    action, step = STEPS[path]
    browser = place.signed_in()
    step(place, browser)
    noun = "staff" if place.site is BACK_OFFICE else "user"
    email = place.who.email
    expected = (action.replace("WHO", noun), noun, email, browser.address, f"{noun}/{email}")
    assert last_entry(place.service) == expected


def test_a_recovery_code_is_recorded_too(place: Place) -> None:
    enter_recovery_code(place, place.signed_in())
    found = rows(place.service, "select action from audit_entry order by id desc limit 2")
    assert [action.partition(".")[2] for (action,) in found] == ["sign_in", "use_recovery_code"]


def test_a_password_that_is_set_is_recorded_with_the_address(place: Place) -> None:
    assert last_entry(place.service)[0].endswith(".set_password")


def test_no_secret_is_in_the_log(place: Place) -> None:
    secret, codes = place.set_up_factor(browser := place.signed_in())
    text = str(rows(place.service, "select before, after, subject from audit_entry"))
    for value in (*codes, PASSWORD, browser.cookies[place.site.cookie], secret.hex()):
        assert value not in text
