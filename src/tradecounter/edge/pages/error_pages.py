"""Shows errors as pages, and sends people who have not signed in to the sign-in page."""

from collections.abc import Callable

import jinja2
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tradecounter.edge.pages.menu import Navigation
from tradecounter.edge.pages.page_desk import render
from tradecounter.edge.pages.page_site import PageSite
from tradecounter.edge.pages.page_view import PageView, prefix_of, see_other
from tradecounter.edge.rest.responses import Failure, show_errors_with
from tradecounter.edge.session import ElsewhereError, KeptOutError
from tradecounter.kit.text import sentence

_HEADINGS = {
    400: "This does not work",
    403: "You may not open this",
    404: "There is nothing here",
    405: "This address cannot do that",
    409: "This is not possible now",
    410: "This link has ended",
    413: "This is too large",
    429: "Too many attempts",
    503: "Please try again in a moment",
}
_ANOTHER_HEADING = "Something went wrong"


class ErrorPages(Struct, frozen=True):
    """Shows errors within a site's frame. htmx puts them in place of the page."""

    site: PageSite
    templates: jinja2.Environment
    navigation: Navigation
    base_url: str | None

    def show(self, request: Request, failure: Failure) -> Response:
        """Return an error as a page, or send the browser to where the error leads."""
        prefix = prefix_of(self.base_url or "")
        if isinstance(failure.error, ElsewhereError):
            return see_other(request, prefix + failure.error.path)
        view = PageView(self.site, self.navigation, request, prefix)
        heading = _HEADINGS.get(failure.status, _ANOTHER_HEADING)
        message = f"{sentence(failure.message)}."
        is_kept_out = isinstance(failure.error, KeptOutError)
        values = {"heading": heading, "message": message, "is_kept_out": is_kept_out}
        response = render(view, self.templates, "error.html", failure.status, values)
        response.headers.update(failure.headers)
        response.headers.update({"HX-Retarget": "#main", "HX-Reselect": "#main", "HX-Reswap": "outerHTML"})
        return response


class ErrorPagesMiddleware:
    """Shows the errors of some paths as pages."""

    def __init__(self, app: ASGIApp, pages: ErrorPages, is_page: Callable[[str], bool]) -> None:
        self._app = app
        self._pages = pages
        self._is_page = is_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. Raises DomainError."""
        if scope["type"] == "http" and self._is_page(scope["path"]):
            show_errors_with(scope, self._pages.show)
        await self._app(scope, receive, send)
