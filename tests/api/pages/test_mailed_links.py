"""The links in e-mails lead to pages that set a password, and sign-ins in new browsers are told by e-mail."""

import re
from urllib.parse import urlsplit

import pytest

from support.backoffice import BackOfficeSite
from support.mail import deliver_mail, forget_jobs
from support.pages import text_of
from support.people import PASSWORD, SECRET, later
from support.service import Service
from support.signing_in import Place, place_at
from tradecounter.access.links import link_token, staff_address
from tradecounter.access.staff import NewStaffMember, add_staff_member
from tradecounter.access.users import invite_user
from tradecounter.edge.pages.page_site import BACK_OFFICE

NEW = "another good password"


@pytest.fixture(params=["staff", "account"])
def place(request: pytest.FixtureRequest, office: BackOfficeSite) -> Place:
    forget_jobs(office.service)
    found = place_at(request.param, office)
    mails(found)  # a new owner is told
    return found


def mails(place: Place) -> list[tuple[str, str, str]]:
    """Recipient, subject and plain text of the mails that are due."""
    base = {"backoffice_url" if place.site is BACK_OFFICE else "base_url": "https://trade.example/shop"}
    # The first time, the addresses are looked up.
    found = [mail for _ in range(2) for mail in deliver_mail(place.service, **base)]
    texts = [(mail["To"], mail["Subject"], mail.get_body(("plain",))) for mail in found]
    return [(to, subject, "" if body is None else body.get_content()) for to, subject, body in texts]


def link_in(text: str) -> str:
    """The path and query of the mailed link, below the site's address."""
    [link] = re.findall(r"https://trade\.example/shop(/\S+)", text)
    return str(link)


def test_a_forgotten_password_is_set_at_the_mailed_link(place: Place) -> None:
    signed_in, browser = place.signed_in(), place.browser()
    mails(place)
    shown = set()
    for email in (place.who.email.upper(), "nobody@shop.example"):
        response = browser.fill(place.path("/forgotten-password"), email=email)
        assert (response.status_code, response.headers["Location"]) == (303, place.site.sign_in)
        shown.add(text_of(browser.get(place.site.sign_in)))
    [text] = shown
    assert "an e-mail with a link is on its way" in text
    [(to, subject, text)] = mails(place)
    assert (to, subject) == (place.who.email, "Set a new password")
    link = link_in(text)
    assert urlsplit(link).path == place.path("/set-password")
    page = browser.get(link)
    assert place.who.email in text_of(page)
    weak = browser.fill(link, password="password1234")
    assert weak.status_code == 400
    assert "is too common" in text_of(weak)
    done = browser.fill(link, password=NEW)
    assert (done.status_code, done.headers["Location"]) == (303, place.site.sign_in)
    assert signed_in.get(place.site.home).status_code == 303, "all sessions end"
    assert place.sign_in(browser, PASSWORD).status_code == 401
    assert place.sign_in(browser, NEW).status_code == 303
    gone = browser.get(link)
    assert gone.status_code == 410
    assert "has been used or has expired" in text_of(gone)


@pytest.mark.sweep
def test_a_link_of_one_site_does_nothing_at_the_other(place: Place, office: BackOfficeSite) -> None:
    browser = place.browser()
    browser.fill(place.path("/forgotten-password"), email=place.who.email)
    token = link_in(mails(place)[-1][2]).partition("=")[2]
    other = place_at("account" if place.site is BACK_OFFICE else "staff", office)
    assert other.browser().get(other.path(f"/set-password?token={token}")).status_code == 410
    assert other.browser().send(other.path("/set-password"), token=token, password=NEW).status_code == 410
    assert browser.get(place.path(f"/set-password?token={token}")).status_code == 200


@pytest.mark.sweep
def test_links_are_asked_for_again_after_two_minutes_only(place: Place) -> None:
    browser, path = place.browser(), place.path("/forgotten-password")
    counts = []
    for seconds in (0, 60, 61):
        later(place.service, seconds=seconds)
        browser.fill(path, email=place.who.email)
        counts.append(len(mails(place)))
    assert counts == [1, 0, 1]


@pytest.mark.sweep
def test_asking_for_links_is_slowed_down(place: Place) -> None:
    later(place.service, minutes=10)
    browser = place.browser()
    asked = [browser.fill(place.path("/forgotten-password"), email=f"x{n}@y.example") for n in range(11)]
    assert [response.status_code for response in asked] == [303] * 10 + [429]
    assert "too many requests: try again in 30 seconds" in text_of(asked[-1]).lower()
    assert place.sign_in(browser).status_code == 303, "these are no wrong passwords"


@pytest.mark.sweep
def test_a_link_helps_at_an_address_of_wrong_passwords(place: Place) -> None:
    browser = place.browser()
    guesses = [browser.fill(place.path("/sign-in"), email=place.who.email, password="wrong") for _ in range(12)]
    assert [response.status_code for response in guesses] == [401] * 10 + [429] * 2
    assert browser.fill(place.path("/forgotten-password"), email=place.who.email).status_code == 303
    [(_, _, text)] = mails(place)
    assert browser.fill(link_in(text), password=NEW).status_code == 303


@pytest.mark.sweep
def test_a_sign_in_in_a_new_browser_is_told_by_email(place: Place) -> None:
    browser = place.signed_in()
    [(to, subject, text)] = mails(place)
    assert (to, subject) == (place.who.email, "You signed in with a new browser")
    assert browser.address in text
    assert "Test Browser" in text
    assert link_in(text) == place.path("/sign-ins")
    browser.send(place.path("/sign-out"))
    place.sign_in(browser)
    assert mails(place) == []


@pytest.mark.sweep
def test_invitations_lead_to_the_page_that_sets_the_password(shop: Service, office: BackOfficeSite) -> None:
    now, customer = shop.clock.now(), shop.customer()
    member, user = place_at("staff", office), place_at("account", office)
    add = lambda tx: add_staff_member(tx, NewStaffMember("new@reseller.example", "New", ["support"]), SECRET, now)  # noqa: E731
    _, link_id = shop.in_transaction(add)
    address = staff_address(shop.settings, link_token(SECRET, link_id))
    assert address.startswith("http://127.0.0.1:8001/set-password?token=")
    assert member.browser().fill(address.removeprefix("http://127.0.0.1:8001"), password=NEW).status_code == 303
    forget_jobs(shop)
    shop.in_transaction(lambda tx: invite_user(tx, customer.id, "new@shop.example", "buyer", SECRET, now))
    [(_, subject, text)] = mails(user)
    assert subject == "You are invited to an account"
    assert user.browser().fill(link_in(text), password=NEW).status_code == 303
