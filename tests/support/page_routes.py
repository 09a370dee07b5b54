"""All pages and forms of both sites, as their declarations say, and which of them an address belongs to."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from tradecounter.access.pages.both.sign_in import SIGN_IN_SUBJECTS
from tradecounter.consent.pages.account import ConsentPages
from tradecounter.edge.pages.operation import PageOperation
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite, placed
from tradecounter.edge.rest.operation import handlers_of
from tradecounter.sites.account_pages import SUBJECTS as ACCOUNT_SUBJECTS
from tradecounter.sites.back_office_pages import SUBJECTS as OFFICE_SUBJECTS

SITES = (BACK_OFFICE, ACCOUNT)
_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class PageRoute:
    """A page, or a form that is sent to one."""

    site: PageSite
    operation: PageOperation
    handler: Callable[..., Any] = field(compare=False)

    @property
    def method(self) -> str:
        return self.operation.method

    @property
    def path(self) -> str:
        return self.operation.path

    @property
    def parameters(self) -> list[str]:
        return _PARAMETER.findall(self.path)

    def with_values(self, value: str = "999999") -> str:
        """The path with the same value for each parameter."""
        return _PARAMETER.sub(value, self.path)


@cache
def page_routes(site: PageSite) -> tuple[PageRoute, ...]:
    """Every page and form of a site."""
    subjects = OFFICE_SUBJECTS if site is BACK_OFFICE else (*ACCOUNT_SUBJECTS, ConsentPages)
    both = (placed(subject, site) for subject in SIGN_IN_SUBJECTS)
    return tuple(
        PageRoute(site, operation, handler)
        for subject in (*subjects, *both)
        for operation, handler in handlers_of(subject)
        if isinstance(operation, PageOperation)
    )


def shown_paths(site: PageSite) -> list[str]:
    """The paths of a site's pages."""
    return [route.path for route in page_routes(site) if route.method == "GET"]


def path_of(site: PageSite, address: str) -> str | None:
    """The path, with the names of its parameters, of the page at an address; None if there is none."""
    wanted = urlsplit(address).path
    fitting = [path for path in shown_paths(site) if _pattern(path).fullmatch(wanted)]
    return min(fitting, key=lambda path: len(_PARAMETER.findall(path)), default=None)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    parts = _PARAMETER.split(path)
    fixed, names = parts[::2], parts[1::2]
    return re.compile("".join(re.escape(text) + ("[^/]+" if names[n : n + 1] else "") for n, text in enumerate(fixed)))
