"""Signing in and setting up a second factor in a real browser, with its scripts."""

import base64

import pytest
from playwright.sync_api import Browser, Page, expect

from support.accessibility import errors_of
from support.backoffice import BackOfficeSite
from support.browsing import tab_in, window
from support.people import PASSWORD, later, totp
from support.signing_in import place_at


def fill(page: Page, **fields: str) -> None:
    """Fill in fields and send their form as a person does."""
    for name, value in fields.items():
        page.locator(f"input[name={name}]").fill(value)
    page.keyboard.press("Enter")


def arrive(page: Page, heading: str) -> None:
    expect(page.locator("h1")).to_have_text(heading)


def secret_on(page: Page) -> bytes:
    text = page.locator(".qr + p").inner_text()
    return base64.b32decode(text.removeprefix("Key:").replace(" ", ""))


@pytest.mark.parametrize("site", ["staff", "account"])
@pytest.mark.parametrize(("width", "dark", "scripts"), [(1280, False, True), (375, True, True), (1280, False, False)])
def test_a_person_signs_in_sets_up_a_factor_and_signs_in_with_it(
    browser: Browser, office: BackOfficeSite, site: str, width: int, *, dark: bool, scripts: bool
) -> None:
    place = place_at("staff" if site == "staff" else "account", office)
    own = [place.url]
    with (
        window(browser, width=width, dark=dark, scripts=scripts) as context,
        tab_in(context, own, f"sign-in-{site}-{width}") as tab,
    ):
        page = tab.page
        tab.open(f"{place.url}{place.path('/sign-ins')}")
        arrive(page, "Sign in")
        fill(page, email=place.who.email, password="a wrong password")
        expect(page.locator(".problems")).to_contain_text("is wrong")
        tab.open(f"{place.url}{place.path('/sign-ins')}")
        fill(page, email=place.who.email, password=PASSWORD)
        arrive(page, "Password and second factor")
        tab.open(f"{place.url}{place.path('/sign-ins/second-factor')}")
        secret = secret_on(page)
        assert not tab.is_too_wide
        fill(page, code=totp(secret, place.service))
        arrive(page, "Your recovery codes")
        assert not scripts or errors_of(tab) == []
        tab.open(f"{place.url}{place.path('/sign-ins')}")
        assert not tab.is_too_wide
        page.locator("details.person summary").click()
        page.locator("form[action$=sign-out] button").click()
        arrive(page, "Sign in")
        later(place.service, seconds=30)
        tab.open(f"{place.url}{place.path('/sign-ins')}")
        fill(page, email=place.who.email, password=PASSWORD)
        arrive(page, "Enter a code")
        fill(page, code=totp(secret, place.service))
        arrive(page, "Password and second factor")
