"""The variable `page` of every template: the person, the menu, addresses."""

import secrets
from decimal import Decimal
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from tradecounter.edge.page_kit.page import static_address
from tradecounter.edge.pages.menu import Entry, Navigation
from tradecounter.edge.pages.operation import TITLE
from tradecounter.edge.pages.page_site import PageSite
from tradecounter.edge.people import Person
from tradecounter.edge.session import has_right, session_of

# The content security policy (CSP) of pages with forms; it stops XSS that escaping should miss.
# Pictures of products may be at other hosts.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Quoted, a character takes at most 12 bytes. Browsers drop a cookie of more than 4,096 bytes.
_LONGEST_FLASH = 300
_FLASH_SECONDS = 60
_WARNS = "!"  # before the message; `quote` leaves none in it


BASKET = "tradecounter.basket"  # the key in the ASGI scope


class HeaderBasket(Struct, frozen=True):
    """A person's basket in the header: its lines, and their net price in pounds."""

    lines: int
    net: Decimal


class PageView(Struct, frozen=True):
    """The frame of a page. `prefix` is the path of the base URL, below which the site is."""

    site: PageSite
    navigation: Navigation
    request: Request
    prefix: str

    @property
    def title(self) -> str:
        """The title that the page is declared with."""
        title: str = self.request.scope.get(TITLE, "")
        return title

    @property
    def person(self) -> Person | None:
        """The person who has signed in, or None."""
        session = session_of(self.request.scope)
        return None if session is None else session.person

    @property
    def person_name(self) -> str:
        """The person's name."""
        return "" if self.person is None else self.person.name or self.person.email

    @property
    def person_roles(self) -> str:
        """The person's roles, for display."""
        return "" if self.person is None else ", ".join(self.person.roles)

    @property
    def subjects(self) -> list[Entry]:
        """The menu."""
        path = self.request.scope["path"]
        return [] if self.person is None else self.navigation.subjects(self.person, path)

    @property
    def search(self) -> str | None:
        """The path of the search, if the person may use it."""
        path = self.navigation.menu.search
        return path if self.may(path) else None

    @property
    def basket(self) -> HeaderBasket | None:
        """The person's basket, if it has one."""
        basket: HeaderBasket | None = self.request.scope.get(BASKET)
        return basket

    @property
    def flash(self) -> str:
        """The message of the form before this page."""
        return unquote(self._flash_cookie.removeprefix(_WARNS))

    @property
    def flash_warns(self) -> bool:
        """Whether the message is a warning that nothing was done."""
        return self._flash_cookie.startswith(_WARNS)

    @property
    def _flash_cookie(self) -> str:
        return self.request.cookies.get(self.site.flash_cookie, "")

    @property
    def here(self) -> str:
        """The address of the page, without its query."""
        return self.at(quote(self.request.scope["path"]))

    def at(self, path: str) -> str:
        """Return the address of a path."""
        return self.prefix + path

    def static(self, name: str) -> str:
        """Return the address of a static file."""
        return f"{self.prefix}/{static_address(name)}"

    def may(self, path: str) -> bool:
        """Return whether the person may open a page, named by the path of its operation."""
        return self.person is not None and self.navigation.may(self.person, path)

    def opens(self, path: str) -> bool:
        """Return whether the person may open the page at a path, which may have a query."""
        return self.may(self.navigation.operation_at(path.partition("?")[0]))

    def path_of(self, record: str) -> str:
        """Return the path of a record's page; empty if it has none that the person may open."""
        noun, _, name = record.partition("/")
        operation = self.navigation.menu.records.get(noun)
        return f"/{noun}/{quote(name, safe='')}" if operation and name and self.may(operation) else ""

    def has(self, scope: str) -> bool:
        """Return whether the person's roles include a right, named by its scope."""
        return has_right(self.request, scope)

    def once(self) -> str:
        """Return a new key, with which a form changes something at most once."""
        return secrets.token_hex(16)

    def forget_flash(self, response: Response) -> None:
        """Have the browser forget the message that this page shows."""
        if self.site.flash_cookie in self.request.cookies:
            forget_cookie(response, self.site.flash_cookie)


def set_flash(response: Response, site: PageSite, message: str, *, warns: bool) -> None:
    """Let the next page show a message, cut to the size of a cookie."""
    if len(message) > _LONGEST_FLASH:
        message = f"{message[:_LONGEST_FLASH]}…"
    set_cookie(response, site.flash_cookie, (_WARNS if warns else "") + quote(message), _FLASH_SECONDS)


def set_cookie(response: Response, name: str, value: str, seconds: int | None = None) -> None:
    """Have the browser keep a cookie, by default until it is closed."""
    response.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="lax")


def forget_cookie(response: Response, name: str) -> None:
    """Have the browser forget a cookie."""
    response.delete_cookie(name, path="/", secure=True, httponly=True, samesite="lax")


def prefix_of(base_url: str) -> str:
    """Return the path of a base URL, without a slash at its end."""
    return urlsplit(base_url).path.rstrip("/")


def see_other(request: Request, address: str) -> Response:
    """Send the browser to an address; htmx does the same for a whole page."""
    if "hx-request" in request.headers:
        return Response(headers={"HX-Redirect": address})
    return Response(status_code=303, headers={"Location": address})
