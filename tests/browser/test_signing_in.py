"""Signing in and setting up a second factor in a real browser, with its scripts."""

import base64
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.chromium import BrowserError, Page, chromium, chromium_program
from support.people import PASSWORD, later, totp
from support.service import Service
from support.signing_in import place_at

PICTURES = os.environ.get("PICTURES")  # a folder for pictures of the pages


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    program = chromium_program()
    assert program is not None, "apt-get install chromium"
    with chromium(program) as found:
        yield found


@pytest.fixture(scope="module")
def office(service: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(service) as running:
        yield running


def picture(page: Page, name: str) -> None:
    """Take pictures for people who look at the pages."""
    if PICTURES:
        page.picture(Path(PICTURES) / f"{name}.png", whole=True)


def fill(page: Page, **fields: str) -> None:
    """Fill in fields and send their form as a person does."""
    for name, value in fields.items():
        page.run(f"document.querySelector('input[name={name}]').focus()")
        page.type(value)
    page.press("Enter")


def arrive(page: Page, heading: str) -> None:
    """Wait for a page with a heading; a script that waits would end with the page before it."""
    for _ in range(100):
        with suppress(BrowserError):
            if page.run("document.readyState === 'complete' && document.querySelector('h1')?.innerText") == heading:
                return
        time.sleep(0.05)
    raise AssertionError(f"{heading}: not within five seconds, but {page.run('document.body.innerText')}")


@pytest.mark.parametrize("site", ["staff", "account"])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (375, True)])
def test_a_person_signs_in_sets_up_a_factor_and_signs_in_with_it(
    page: Page, office: BackOfficeSite, site: str, width: int, *, dark: bool
) -> None:
    place = place_at("staff" if site == "staff" else "account", office)
    page.send("Network.clearBrowserCookies")
    page.logged.clear()
    seen = f"{site}-{width}"

    def open_page(path: str) -> None:
        page.open(f"{place.url}{place.path(path)}", width=width, dark=dark)

    open_page("/sign-ins")
    arrive(page, "Sign in")
    fill(page, email=place.who.email, password="a wrong password")
    page.until("document.querySelector('.problems')?.innerText.includes('is wrong')")
    picture(page, f"{seen}-wrong")
    open_page("/sign-ins")
    fill(page, email=place.who.email, password=PASSWORD)
    arrive(page, "Your sign-ins and password")
    open_page("/sign-ins/second-factor")
    secret = secret_on(page)
    picture(page, f"{seen}-set-up")
    fill(page, code=totp(secret, place.service))
    arrive(page, "Your recovery codes")
    picture(page, f"{seen}-codes")
    open_page("/sign-ins")
    picture(page, f"{seen}-own")
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"
    page.run("document.querySelector('form[action$=sign-out]').requestSubmit()")
    arrive(page, "Sign in")
    later(place.service, seconds=30)
    open_page("/sign-ins")
    fill(page, email=place.who.email, password=PASSWORD)
    arrive(page, "Enter a code")
    picture(page, f"{seen}-code")
    fill(page, code=totp(secret, place.service))
    arrive(page, "Your sign-ins and password")
    assert [text for text in page.logged if not text.startswith(("Failed to load", "Autofocus"))] == []


def secret_on(page: Page) -> bytes:
    text = page.run("document.querySelector('.qr').nextElementSibling.innerText")
    return base64.b32decode(text.removeprefix("Key:").replace(" ", ""))
