"""What all pages of signing in share: their parts, the browser's cookies, and the steps of a form."""

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Any, Unpack, get_type_hints
from urllib.parse import quote, urlsplit

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from tradecounter.access.guessing import Turns
from tradecounter.access.second_factor import SignInPolicy
from tradecounter.access.sign_in import SignIn, Visitor
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import parse_form
from tradecounter.edge.page_kit.submitted_forms import read_submitted
from tradecounter.edge.pages.operation import Access, form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import BothSites, PageSite
from tradecounter.edge.pages.page_view import set_cookie
from tradecounter.edge.pages.step import Handler, ShowForm
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import with_page
from tradecounter.edge.rest.responses import STATUS
from tradecounter.edge.session import Session, session_of
from tradecounter.identity.admission import sender_of
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.setting_rules import is_safe_url
from tradecounter.settings import Settings

_LONGEST = 10_000  # a request of an application with the longest state, percent-encoded
# One slash, then printable ASCII without a backslash, which browsers read as a slash. Two slashes begin a host.
_PATH = re.compile(r"/(?:[!-.0-\[\]-~][!-\[\]-~]*)?")


def safe_path(wanted: str, default: str) -> str:
    """Return a path of this site, or the default for anything else."""
    return wanted if len(wanted) <= _LONGEST and _PATH.fullmatch(wanted) else default


_BROWSER_SECONDS = 400 * 86_400  # the longest that a browser keeps a cookie


class SignInParts(Struct, frozen=True):
    """What these pages are made with, besides their desk."""

    settings: Settings
    turns: Turns


class NextParameters(Struct, frozen=True):
    """Where to go after this page."""

    next: str = ""


class SignInSubject(Struct, BothSites, frozen=True):
    """The pages of a part of signing in."""

    desk: PageDesk
    parts: SignInParts

    @property
    def policy(self) -> SignInPolicy:
        """What the settings say of signing in."""
        return SignInPolicy.from_settings(self.parts.settings)

    def next_of(self, wanted: str) -> str:
        """Return where to go after a sign-in."""
        return safe_path(wanted, self.site.home)

    def wanted(self, call: Call, filled: Filled) -> str:
        """Return where a form leads after a sign-in: a field of it says that, or else the query of the page."""
        return self.next_of(filled.value("next", call.query(NextParameters).next))

    def path(self, page: str, wanted: str = "") -> str:
        """Return the path of a page of this site, which leads to another one afterwards."""
        path = f"{self.root}{page}"
        return f"{path}?next={quote(wanted, safe='')}" if wanted and wanted != self.site.home else path

    def show_form(self, call: Call, template: str, filled: Filled, **values: Any) -> Response:
        """Show a form that leads to a session, with a warning if the browser will not keep one."""
        values |= {"form": filled, "plain": keeps_no_session(call), "safe": safe_address(call)}
        return self.desk.show(call, template, **values)

    def show_codes(self, call: Call, codes: Sequence[str], following: str) -> Response:
        """Show recovery codes, which htmx puts in place of the whole page."""
        response = self.desk.show(call, "access/codes.html", codes=codes, following=following)
        response.headers.update({"HX-Retarget": "#main", "HX-Reselect": "#main", "HX-Reswap": "outerHTML"})
        return response


def sign_in_step(
    path: str,
    title: str,
    *,
    shown: ShowForm,
    query: type[Struct] | None = None,
    guesses: bool = True,
    **access: Unpack[Access],
) -> Callable[[Callable[[Any, Call, Any], Awaitable[Response]]], Handler]:
    """Declare a form by the method that takes it in transactions of its own; `shown` shows it, also after an error.

    The method's parameter `body` is the form's fields as a struct. The steps of an address run one after the other:
    each may have to wait for the hash of a password. Those without `guesses` at passwords and codes have a line of
    their own, which wrong passwords do not slow down. `query` is that of the page.
    """

    def declare(method: Callable[[Any, Call, Any], Awaitable[Response]]) -> Handler:
        shape = get_type_hints(method)["body"]

        @wraps(method)
        async def open_page(pages: SignInSubject, call: Call) -> Response:
            return await shown(pages, call, Filled())

        @wraps(method)
        async def take(pages: SignInSubject, call: Call) -> Response:
            submitted = await read_submitted(call)
            try:
                address = address_of(call.request)
                async with pages.parts.turns.turn(address if guesses else f"no guesses {address}"):
                    return await method(pages, call, parse_form(submitted, shape))
            except DomainError as error:
                if error.kind is Kind.UNAVAILABLE:
                    raise
                response = await shown(pages, call, Filled.of(submitted, error, STATUS[error.kind]))
                if error.retry_after is not None:
                    response.headers["Retry-After"] = str(error.retry_after)
                return response

        return with_page(page(path, title, query=query, **access)(open_page))(form(path, title, **access)(take))

    return declare


def the_session(call: Call) -> Session:
    """Return the session of a request to a page that needs one."""
    session = session_of(call.request.scope)
    if session is None:
        raise RuntimeError("the gate admits nobody without a session here")
    return session


def visitor_of(request: Request, site: PageSite) -> Visitor:
    """Return who sends a request."""
    return Visitor(
        address_of(request),
        request.headers.get("user-agent", ""),
        request.cookies.get(site.cookie, ""),
        request.cookies.get(_browser_cookie(site), ""),
    )


def address_of(request: Request) -> str:
    """Return the network address of the client."""
    return sender_of(request.scope).address


def safe_address(call: Call) -> str:
    """Return the site's address if browsers keep a session from it; else an empty text."""
    return call.base_url if is_safe_url(call.base_url) else ""


def keeps_no_session(call: Call) -> bool:
    """Return whether the page was reached over plain HTTP on another machine: browsers keep no Secure cookie then.

    A proxy may have ended TLS. Its requests have the host of the site's address, or a header that browsers send over
    protected connections alone.
    """
    if "sec-fetch-site" in call.request.headers:
        return False
    seen = str(call.request.base_url)
    return not is_safe_url(call.base_url if urlsplit(seen).netloc == urlsplit(call.base_url).netloc else seen)


def set_session(response: Response, site: PageSite, sign_in: SignIn) -> None:
    """Have the browser keep the session, and after a sign-in its own mark."""
    set_cookie(response, site.cookie, sign_in.cookie)
    if sign_in.mark is not None:
        set_cookie(response, _browser_cookie(site), sign_in.mark, _BROWSER_SECONDS)


def _browser_cookie(site: PageSite) -> str:
    return f"{site.cookie}-browser"
