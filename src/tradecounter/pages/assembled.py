"""Puts the pages of a site together: their endpoints, the gate in front of them, and their errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tradecounter.access.turns import Turns
from tradecounter.db.pool import Database
from tradecounter.kit.clock import Clock
from tradecounter.page_kit.templates import subject_templates
from tradecounter.pages.error_pages import ErrorPages
from tradecounter.pages.navigation import Navigation
from tradecounter.pages.page_desk import PageDesk
from tradecounter.pages.page_site import PageSite
from tradecounter.pages.session_gate import SessionGate
from tradecounter.pages.sign_in.placed import placed
from tradecounter.pages.sign_in.subjects import SIGN_IN_SUBJECTS
from tradecounter.rest.operation import Endpoint, endpoints_of, operations_of

Parts = TypeVar("Parts")

_SHARED = "tradecounter.pages"


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a site."""

    endpoints: Sequence[Endpoint]
    gate: SessionGate
    errors: ErrorPages


def assembled(
    site: PageSite,
    package: str,
    subjects: Sequence[type],
    parts: Parts,
    database: Database,
    clock: Clock,
    base_url: str | None,
) -> Pages:
    """Return the pages of the classes in `subjects`, which take the desk and the parts; `package` has the templates.

    The pages of signing in are the same at both sites.
    """
    subjects = [*(placed(subject, site) for subject in SIGN_IN_SUBJECTS), *subjects]
    templates = subject_templates(package, _SHARED)
    navigation = Navigation(site, [operation for subject in subjects for operation in operations_of(subject)])
    desk = PageDesk(site, database, clock, templates, navigation, Turns(clock.now))
    endpoints = [endpoint for subject in subjects for endpoint in endpoints_of(subject(desk, parts))]
    return Pages(
        endpoints, SessionGate(site, database, clock, base_url), ErrorPages(site, templates, navigation, base_url)
    )
