"""Lets a request have its errors as pages; without a page, errors are JSON."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

_KEY = "tradecounter.error_page"


class Failure(Struct, frozen=True):
    """An error as a response: its status, its text, its headers, and what was raised."""

    status: int
    message: str
    error: Exception
    headers: Mapping[str, str] = field(default_factory=dict)


ErrorPage = Callable[[Request, Failure], Response]


def show_errors_with(scope: Scope, page: ErrorPage) -> None:
    """Have a request's errors shown by a page."""
    scope[_KEY] = page


def error_page_of(scope: Scope) -> ErrorPage | None:
    """Return what shows a request's errors, or None."""
    page: ErrorPage | None = scope.get(_KEY)
    return page
