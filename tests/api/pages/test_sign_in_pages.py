"""Signing in and out at both sites, over HTTP as a browser does."""

import re
import secrets
from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.markup import markup_of
from support.orders import rows
from support.own_browser import Browser
from support.pages import text_of
from support.people import PASSWORD, customer_user, disable, staff_member, totp
from support.service import Service
from support.signing_in import Place, codes_in, place_at, secret_in
from tradecounter.access.pages.both.visit import safe_path
from tradecounter.access.staff import disable_staff_member
from tradecounter.customers.change_account import block_customer
from tradecounter.edge.pages.page_site import BACK_OFFICE


@pytest.fixture(scope="module", params=["staff", "account"])
def place(request: pytest.FixtureRequest, office: BackOfficeSite) -> Place:
    return place_at(request.param, office)


@pytest.fixture
def fresh(place: Place) -> Place:
    """The same site with another person."""
    service = place.service
    who = staff_member(service) if place.site is BACK_OFFICE else customer_user(service)
    return replace(place, who=who)


def test_a_sign_in_leads_to_where_it_came_from(place: Place) -> None:
    browser, wanted = place.browser(), place.path("/sign-ins")
    sent = browser.get(wanted)
    assert sent.status_code == 303
    response = browser.fill(sent.headers["Location"], email=place.who.email.upper(), password=PASSWORD)
    assert (response.status_code, response.headers["Location"]) == (303, wanted)
    page = browser.get(wanted)
    assert place.who.email in text_of(page)
    again = browser.get(place.path("/sign-in"))
    assert (again.status_code, again.headers["Location"]) == (303, place.site.home), "already signed in"


def test_the_cookies_are_for_this_host_alone_and_no_script(place: Place) -> None:
    browser = place.signed_in()
    for name in (place.site.cookie, f"{place.site.cookie}-browser"):
        cookie = browser.set[name]
        assert name.startswith("__Host-")
        assert cookie["secure"] is True
        assert cookie["httponly"] is True
        assert cookie["samesite"].lower() == "lax"
        assert (cookie["path"], cookie["domain"]) == ("/", "")
    assert browser.set[place.site.cookie]["max-age"] == "", "the session's ends with the browser"
    assert len(browser.cookies[place.site.cookie]) == 43, "32 bytes"


def test_a_value_known_before_the_sign_in_is_worthless(place: Place) -> None:
    planted = "A" * 43
    browser = place.browser()
    browser.cookies[place.site.cookie] = planted
    place.sign_in(browser)
    first = browser.cookies[place.site.cookie]
    assert first != planted
    place.sign_in(browser)
    assert browser.cookies[place.site.cookie] not in {planted, first}
    for former in (planted, first):
        victim = replace(place.browser(), cookies={place.site.cookie: former})
        assert victim.get(place.site.home).status_code == 303


@pytest.mark.sweep(every=7)
@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/%0d%0aLocation:x\r\nX: y",
        "javascript:alert(1)",
        "evil",
        "",
        "/" + "x" * 10_000,
        "/ä",
    ],
)
def test_a_sign_in_leads_to_no_other_site(place: Place, wanted: str) -> None:
    response = place.sign_in(place.browser(), next=wanted)
    assert (response.status_code, response.headers["Location"]) == (303, place.site.home)
    page = place.browser().get(place.path("/sign-in") + f"?next={httpx2.QueryParams({'n': wanted})}"[:3000])
    assert "evil" not in page.text


def test_safe_paths_stay_as_they_are() -> None:
    for path in ("/", "/order?sku=A%20B&x=//y", "/auth/authorize?redirect_uri=https%3A%2F%2Fshop.example"):
        assert safe_path(path, "/home") == path


def test_a_wrong_password_and_an_unknown_address_look_the_same(place: Place) -> None:
    wrong = place.sign_in(place.browser(), "wrong password here")
    unknown = place.browser().send(place.path("/sign-in"), email="nobody@shop.example", password=PASSWORD)
    assert wrong.status_code == unknown.status_code == 401
    assert "The e-mail address or the password is wrong" in text_of(wrong)
    assert text_of(wrong) == text_of(unknown)
    assert "wrong password here" not in wrong.text
    assert place.site.cookie not in wrong.headers.get("set-cookie", "")


def test_an_address_longer_than_any_is_a_wrong_one(place: Place) -> None:
    address = f"{secrets.token_urlsafe(15_000)}@shop.example"  # too random for the database to compress
    found = place.browser().send(place.path("/sign-in"), email=address, password=PASSWORD)
    assert found.status_code == 401
    assert "The e-mail address or the password is wrong" in text_of(found)


def test_guessing_is_slowed_down_with_a_hint_when_to_try_again(fresh: Place) -> None:
    guesser = fresh.browser()
    statuses = [fresh.sign_in(guesser, "wrong password here").status_code for _ in range(11)]
    assert statuses == [401] * 10 + [429]
    slowed = fresh.sign_in(guesser)
    assert (slowed.status_code, slowed.headers["Retry-After"]) == (429, "30")
    assert fresh.sign_in(fresh.browser()).status_code == 303, "the person itself"


def test_a_form_of_another_site_signs_nobody_in_or_out(place: Place) -> None:
    browser = place.signed_in()
    for page in ("/sign-in", "/sign-out", "/sign-ins/end-others", "/forgotten-password"):
        sent = browser._request("POST", place.path(page), headers={"Sec-Fetch-Site": "cross-site"}, data={})  # noqa: SLF001
        assert sent.status_code == 403
    assert browser.get(place.path("/sign-out")).status_code == 405
    assert browser.get(place.site.home).status_code == 200


def test_signing_out_ends_the_session_on_the_server(place: Place) -> None:
    browser = place.signed_in()
    stolen = Browser(place.url, cookies=dict(browser.cookies))
    response = browser.send(place.path("/sign-out"))
    assert (response.status_code, response.headers["Location"]) == (303, place.site.sign_in)
    assert place.site.cookie not in browser.cookies
    assert "You are signed out" in text_of(browser.get(place.site.sign_in))
    assert stolen.get(place.site.home).status_code == 303


def test_a_second_factor_is_set_up_asked_for_and_removed(fresh: Place) -> None:
    first = fresh.signed_in()
    secret, recovery = fresh.set_up_factor(first)
    assert "10 recovery codes" in text_of(first.get(fresh.path("/sign-ins")))
    browser = fresh.browser()
    half = fresh.sign_in(browser, next=fresh.path("/sign-ins"))
    assert half.headers["Location"].startswith(fresh.path("/sign-in/code?next="))
    assert browser.get(fresh.site.home).status_code == 303, "half signed in is not signed in"
    before = browser.cookies[fresh.site.cookie]
    wrong = browser.fill(half.headers["Location"], code="12345")
    assert wrong.status_code == 400
    assert "is wrong, too old or used already" in text_of(wrong)
    done = browser.fill(half.headers["Location"], code=totp(secret, fresh.service))
    assert (done.status_code, done.headers["Location"]) == (303, fresh.path("/sign-ins"))
    assert browser.cookies[fresh.site.cookie] != before
    other = fresh.browser()
    fresh.sign_in(other)
    assert other.fill(fresh.path("/sign-in/code"), code=totp(secret, fresh.service)).status_code == 400, "used"
    assert other.fill(fresh.path("/sign-in/code"), code=recovery[0]).status_code == 303
    fresh.sign_in(third := fresh.browser())
    assert third.fill(fresh.path("/sign-in/code"), code=recovery[0]).status_code == 400, "used"
    renewed = codes_in(other.fill(fresh.path("/sign-ins/recovery-codes")))
    assert third.fill(fresh.path("/sign-in/code"), code=recovery[1]).status_code == 400, "replaced"
    assert third.fill(fresh.path("/sign-in/code"), code=renewed[1]).status_code == 303
    assert third.fill(fresh.path("/sign-ins/second-factor/remove")).status_code == 303
    assert fresh.sign_in(fresh.browser()).headers["Location"] == fresh.site.home


def test_the_second_step_begins_again_after_ten_minutes(fresh: Place) -> None:
    secret, _ = fresh.set_up_factor(fresh.signed_in())
    browser = fresh.browser()
    fresh.sign_in(browser)
    fresh.service.clock.advance(timedelta(minutes=10))
    late = browser.send(fresh.path("/sign-in/code"), code=totp(secret, fresh.service))
    assert (late.status_code, late.headers["Location"]) == (303, fresh.site.sign_in)
    assert "sign in again" in text_of(browser.get(fresh.site.sign_in))
    assert browser.get(fresh.path("/sign-in/code")).status_code == 303


def test_the_qr_code_is_an_image_in_the_page_that_the_content_policy_allows(fresh: Place) -> None:
    page = fresh.signed_in().get(fresh.path("/sign-ins/second-factor"))
    assert "<svg" in page.text
    assert " style=" not in page.text
    assert page.headers["Cache-Control"] == "no-store"


def test_dangerous_steps_ask_again_after_ten_minutes_and_lead_back(fresh: Place) -> None:
    browser, wanted = fresh.signed_in(), fresh.path("/sign-ins/second-factor")
    assert browser.get(wanted).status_code == 200
    fresh.service.clock.advance(timedelta(minutes=10))
    asked = browser.get(wanted)
    assert asked.status_code == 303
    assert asked.headers["Location"].startswith(fresh.site.ask_again)
    assert browser.fill(asked.headers["Location"], given="wrong").status_code == 400
    proven = browser.fill(asked.headers["Location"], given=PASSWORD)
    assert (proven.status_code, proven.headers["Location"]) == (303, wanted)
    assert browser.get(wanted).status_code == 200
    evil = browser.fill(f"{fresh.site.ask_again}?next=//evil.example", given=PASSWORD)
    assert evil.headers["Location"] == fresh.site.home


def test_a_person_sees_and_ends_its_sessions_and_no_others(fresh: Place, place: Place) -> None:
    browser, other, third = fresh.signed_in(), fresh.signed_in(), fresh.signed_in()
    page = browser.get(fresh.path("/sign-ins"))
    for address in (browser.address, other.address, third.address):
        assert address in text_of(page)
    ends = re.findall(rf'action="({fresh.path("/sign-ins")}/\d+/end)"', page.text)
    assert len(ends) == 2, "not the present one"
    stranger = place.signed_in()
    assert stranger.send(ends[0], once="").status_code == 404
    assert browser.send(ends[0], once="").status_code == 303
    assert [b.get(fresh.site.home).status_code for b in (browser, other, third)].count(200) == 2
    assert browser.send(fresh.path("/sign-ins/end-others"), once="").status_code == 303
    assert [b.get(fresh.site.home).status_code for b in (browser, other, third)] == [200, 303, 303]


def test_a_changed_password_signs_out_everywhere_else(fresh: Place) -> None:
    browser, other, path = fresh.signed_in(), fresh.signed_in(), fresh.path("/sign-ins/password")
    wrong = browser.fill(path, current_password="not the password", password="another good password")
    assert wrong.status_code == 400
    assert "another good password" not in wrong.text
    done = browser.fill(path, current_password=PASSWORD, password="another good password")
    assert (done.status_code, done.headers["Location"]) == (303, fresh.site.sign_ins)
    assert browser.get(fresh.site.home).status_code == 200
    assert other.get(fresh.site.home).status_code == 303
    counted = "select count(*) from password_failure where address = %s"
    assert rows(fresh.service, counted, browser.address) == [(0,)], "neither the wrong nor the right password"


def test_a_disabled_person_is_out_at_once(fresh: Place) -> None:
    browser, now, service = fresh.signed_in(), fresh.service.clock.now(), fresh.service
    if fresh.site is BACK_OFFICE:
        service.in_transaction(lambda tx: disable_staff_member(tx, fresh.who.email, now))
    else:
        disable(service, fresh.who.email)
    assert browser.get(fresh.site.home).status_code == 303
    assert fresh.sign_in(browser).status_code == 401


def test_a_user_of_a_blocked_customer_may_open_no_page_and_is_told_so_with_the_right_password(
    office: BackOfficeSite,
) -> None:
    place, now = place_at("account", office), office.service.clock.now()
    browser = place.signed_in()
    customer_id = place.who.person.customer_id  # type: ignore[union-attr]
    office.service.in_transaction(lambda tx: block_customer(tx, customer_id, "unpaid", now))
    page = browser.get(place.site.home)
    assert (page.status_code, "Your account is blocked: ask support." in text_of(page)) == (403, True)
    assert "Sign in as someone else" in text_of(page)
    [elsewhere] = [link for link in markup_of(page.text, place.site.home).links if link == place.site.sign_in]
    assert browser.get(elsewhere).status_code == 200
    assert browser.get("/auth/authorize?client_id=x").status_code == 400
    assert place.sign_in(place.browser(), password="a wrong password").status_code == 401
    refused = [place.sign_in(place.browser()) for _ in range(3)]
    assert [response.status_code for response in refused] == [403] * 3
    assert "account is blocked: ask support" in text_of(refused[0])


def test_staff_set_up_a_compulsory_factor_before_they_are_in(shop: Service) -> None:
    with backoffice_of(shop, staff_totp_required=True) as office:
        place = place_at("staff", office)
        browser = place.browser()
        response = place.sign_in(browser, next="/sign-ins")
        assert response.headers["Location"].startswith("/sign-in/second-factor?next=")
        assert browser.get("/sign-ins").status_code == 303
        path = response.headers["Location"]
        secret = secret_in(browser.get(path))
        wrong = browser.fill(path, code="000")
        assert (wrong.status_code, secret_in(wrong)) == (400, secret)
        shown = browser.fill(path, code=totp(secret, shop))
        codes_in(shown)
        assert 'href="/sign-ins"' in shown.text
        own = browser.get("/sign-ins")
        assert own.status_code == 200
        assert "second-factor/remove" not in own.text
        assert browser.fill("/sign-ins/second-factor/remove").status_code == 409
        assert browser.get(path).status_code == 303, "the half session is over"
