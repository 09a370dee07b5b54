"""A real Chromium, driven by Playwright: tabs that note everything that goes wrong in them."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response, sync_playwright

from support.pages import Person

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PICTURES = Path(os.environ.get("PICTURES", ".browser-failures"))  # of pages at which a test failed
WIDTHS = (375, 768, 1280, 1920)
_PHONE = 700  # pixels; narrower pages are shown as phones show them
_HEIGHTS = {375: 812}
_PATIENCE = 10_000  # milliseconds, on a busy machine
# Chromium logs every response of 400 and above; `_note_response` knows which of them are expected.
_LOGGED_STATUS = "Failed to load resource: the server responded with a status of"


def chromium_program() -> str | None:
    """Where Chromium is, or None."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A Chromium without a window."""
    program = chromium_program()
    assert program is not None, "there is no Chromium (Debian's package chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Tab:
    """A tab. `troubles` has errors of its console and its scripts, rejected resources and requests to other hosts."""

    page: Page
    own: set[str]
    troubles: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Begin to note troubles."""
        self.page.on("console", self._note_console)
        self.page.on("pageerror", lambda error: self.troubles.append(f"script: {error}"))
        self.page.on("request", self._note_request)
        self.page.on("response", self._note_response)

    def open(self, address: str) -> Response:
        """Open an address and wait until its page and scripts are loaded."""
        response = self.page.goto(address, wait_until="load")
        assert response is not None
        return response

    def resize(self, width: int, *, dark: bool = False) -> None:
        """Make the window as wide, and show the page in a colour scheme."""
        self.page.set_viewport_size(size_of(width))
        self.page.emulate_media(color_scheme="dark" if dark else "light")

    def run(self, script: str) -> Any:
        """What a JavaScript expression yields, a promise's value included."""
        return self.page.evaluate(script)

    @property
    def is_too_wide(self) -> bool:
        """Whether the page can be scrolled sideways."""
        return bool(self.run("document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    def picture(self, file: Path, *, whole: bool = True) -> None:
        """Write a PNG of what is seen, or of the whole page."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=file, full_page=whole, animations="disabled")

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith(_LOGGED_STATUS):
            self.troubles.append(f"{message.type} at {self.page.url}: {message.text}")

    def _note_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in {"data", "about", "blob"} and f"{address.scheme}://{address.netloc}" not in self.own:
            self.troubles.append(f"a request to another host at {self.page.url}: {request.url}")

    def _note_response(self, response: Response) -> None:
        kind, status = response.request.resource_type, response.status
        if status >= 500 or (status >= 400 and kind not in {"document", "xhr", "fetch"}):
            self.troubles.append(f"{status} for {kind} {response.url}")


def size_of(width: int) -> Any:
    """The size of a window of some width."""
    return {"width": width, "height": _HEIGHTS.get(width, 900)}


@contextmanager
def window(
    browser: Browser, *, width: int = 1280, dark: bool = False, scripts: bool = True
) -> Iterator[BrowserContext]:
    """A window with cookies of its own."""
    context = browser.new_context(
        viewport=size_of(width),
        is_mobile=width < _PHONE,
        has_touch=width < _PHONE,
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        java_script_enabled=scripts,
        locale="en-GB",
        timezone_id="Europe/London",
        accept_downloads=True,
    )
    context.set_default_timeout(_PATIENCE)
    try:
        yield context
    finally:
        context.close()


@contextmanager
def tab_in(context: BrowserContext, own: Sequence[str], name: str) -> Iterator[Tab]:
    """A tab for the sites at the addresses in `own`; fails if anything goes wrong in it.

    A failure leaves a picture with the name.
    """
    tab = Tab(context.new_page(), {f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in own})
    tab.watch()
    try:
        yield tab
        assert tab.troubles == [], tab.troubles
    except BaseException:
        tab.picture(PICTURES / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name)}.png")
        raise
    finally:
        tab.page.close()


def signed_in(tab: Tab, person: Person, url: str) -> None:
    """Give a tab's window the session of someone at the site at an address."""
    name, _, value = person.cookie.partition("=")
    cookie = {"url": url, "name": name, "value": value, "path": "/", "secure": True, "httpOnly": True}
    # Playwright's own function names a domain, which `__Host-` cookies do not have.
    tab.page.context.new_cdp_session(tab.page).send("Network.setCookie", {**cookie, "sameSite": "Lax"})
