"""Jobs of people in a real browser, with the number of clicks: by keyboard alone, or by touch on a phone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page

from support.accessibility import all_errors
from support.browsing import Tab, signed_in, tab_in, window
from support.pages import Person

Way = Literal["keyboard", "touch"]
Record = Callable[[str, object], None]

WAYS = pytest.mark.parametrize("way", ["keyboard", "touch"])
_WIDTHS = {"keyboard": 1280, "touch": 390}
_MOST_TABS = 400  # a page where something is further away is not one for keys
_IS_FOCUSED = "element => element === document.activeElement"
_IS_CHOICE = "element => element.matches('input[type=checkbox], input[type=radio]')"


@dataclass
class Job:
    """A job in a tab; counts the clicks. Typing is no click, and fields are reached by keys."""

    tab: Tab
    way: Way
    clicks: int = 0

    @property
    def page(self) -> Page:
        """The page."""
        return self.tab.page

    def click(self, target: Locator) -> None:
        """Touch a link, a button or a box; by keyboard, go there with the tab key and press it."""
        self.clicks += 1
        if self.way == "touch":
            target.tap()
            return
        self.reach(target)
        self.page.keyboard.press("Space" if target.evaluate(_IS_CHOICE) else "Enter")

    def fill(self, field: Locator, text: str) -> None:
        """Go to a field, and have it contain a text."""
        self.reach(field)
        field.fill(text)

    def choose(self, field: Locator, value: str) -> None:
        """Go to a list of choices, and choose one by its value."""
        self.reach(field)
        field.select_option(value)

    def reach(self, target: Locator) -> None:
        """Put the focus on a part of the page: by touch there, by keyboard with the tab key, until it has it."""
        target.wait_for()
        if self.way == "touch":
            target.focus()
            return
        for _ in range(_MOST_TABS):
            if target.evaluate(_IS_FOCUSED):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the tab key does not lead to {target}")

    def button(self, name: str) -> Locator:
        """The button with a name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def link(self, name: str) -> Locator:
        """The link with a name."""
        return self.page.get_by_role("link", name=name, exact=True)

    def field(self, name: str) -> Locator:
        """The field with a label."""
        return self.page.get_by_label(name, exact=True)


@contextmanager
def job(browser: Browser, person: Person, url: str, path: str, way: Way, record: Record, most: int) -> Iterator[Job]:
    """A job that begins at a page and may take so many clicks; the report of the tests names them."""
    with window(browser, width=_WIDTHS[way]) as context, tab_in(context, [url], f"job-{way}") as tab:
        signed_in(tab, person, url)
        tab.open(f"{url}{path}")
        working = Job(tab, way)
        yield working
        errors = all_errors(tab)
        assert errors == [], errors  # named, because pytest rewrites only the assertions of test files
        assert not tab.is_too_wide, working.page.url
        record("clicks", f"{working.clicks} of at most {most}")
        assert working.clicks <= most, f"{working.clicks} clicks instead of {most}"
