"""A person at the pages of a site, who follows links, fills in forms and presses buttons, with or without scripts."""

from dataclasses import dataclass
from email.message import EmailMessage
from re import search

from playwright.sync_api import Locator, expect

from support.browsing import Tab
from support.mail import plain
from support.people import PASSWORD


@dataclass
class Worker:
    """A person with a tab at the site at an address; `scripts` tells whether the browser runs them."""

    tab: Tab
    url: str
    scripts: bool = True

    def open(self, path: str) -> None:
        assert self.tab.open(path if path.startswith("http") else self.url + path).status == 200, path

    def follow(self, text: str) -> None:
        """Follow the first link with a text."""
        self.tab.page.get_by_role("link", name=text, exact=True).first.click()

    def write(self, fields: dict[str, str]) -> None:
        """Fill in fields by their names: texts, options and boxes."""
        for name, value in fields.items():
            field = self.field(name)
            kind = field.evaluate("field => field.type")
            if kind == "select-one":
                field.select_option(value)
            elif kind in {"checkbox", "radio"}:
                self.tab.page.locator(f'[name="{name}"][value="{value}"]').first.check()
            else:
                field.fill(value)

    def field(self, name: str) -> Locator:
        return self.tab.page.locator(f'[name="{name}"]:not([type=hidden])').first

    def press(self, text: str) -> None:
        self.tab.page.get_by_role("button", name=text, exact=True).first.click()

    def form(self, link: str, fields: dict[str, str], button: str) -> None:
        """Follow a link to a form, fill it in and send it."""
        self.follow(link)
        self.write(fields)
        self.press(button)

    def sees(self, *texts: str) -> None:
        for text in texts:
            expect(self.tab.page.locator("body")).to_contain_text(text)

    def arrives(self, heading: str) -> None:
        expect(self.tab.page.locator("h1")).to_have_text(heading)

    def downloads(self, link: str) -> bytes:
        """The file behind the first link with a text."""
        with self.tab.page.expect_download() as download:
            self.follow(link)
        return download.value.path().read_bytes()

    def signs_in(self, path: str, email: str, password: str = PASSWORD) -> None:
        self.open(path)
        self.write({"email": email, "password": password})
        self.tab.page.keyboard.press("Enter")
        expect(self.tab.page.locator("form[action$=sign-out]")).to_be_attached()

    @property
    def path(self) -> str:
        return self.tab.page.url.removeprefix(self.url).partition("?")[0]


def link_in(mail: EmailMessage, part: str) -> str:
    """The first link in a mail whose address contains a text."""
    found = search(rf"https?://\S*{part}\S*", plain(mail))
    assert found is not None, plain(mail)
    return found[0].rstrip(".)>")
