"""Puts the pages of a site together: their endpoints, their gate and the pages of their errors."""

from collections.abc import Sequence

from msgspec import Struct

from tradecounter.access.guessing import Turns
from tradecounter.access.pages.both.sign_in import SIGN_IN_SUBJECTS
from tradecounter.access.pages.both.visit import SignInParts
from tradecounter.customers.address_rules import address_lines
from tradecounter.db.pool import Database
from tradecounter.edge.page_kit.templates import site_templates
from tradecounter.edge.pages.error_pages import ErrorPages
from tradecounter.edge.pages.menu import Menu, Navigation
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import PageSite, SharedParts, placed
from tradecounter.edge.rest.operation import Endpoint, endpoints_of, operations_of
from tradecounter.kit.clock import Clock
from tradecounter.sites.session_gate import BasketOf, SessionGate


class Pages(Struct, frozen=True):
    """The pages of a site."""

    endpoints: Sequence[Endpoint]
    gate: SessionGate
    errors: ErrorPages


def assembled(
    site: PageSite,
    menu: Menu,
    subjects: Sequence[type],
    parts: SharedParts,
    database: Database,
    clock: Clock,
    base_url: str | None,
    basket: BasketOf | None = None,
) -> Pages:
    """Return the pages of a site: those of the classes in `subjects`, which take the desk and the parts.

    The pages of signing in are the same at both sites.
    """
    settings = parts.settings
    shared = [placed(subject, site) for subject in SIGN_IN_SUBJECTS]
    operations = [operation for subject in (*shared, *subjects) for operation in operations_of(subject)]
    templates = site_templates(site.name)
    templates.globals["address_lines"] = address_lines
    navigation = Navigation(site, menu, operations, sandbox=settings.sandbox, offers_sandbox=bool(settings.sandbox_url))
    desk = PageDesk(site, database, clock, templates, navigation)
    signing_in = SignInParts(settings, Turns(clock.now))
    endpoints = [
        *(endpoint for subject in shared for endpoint in endpoints_of(subject(desk, signing_in))),
        *(endpoint for subject in subjects for endpoint in endpoints_of(subject(desk, parts))),
    ]
    return Pages(
        endpoints,
        SessionGate(site, database, clock, base_url, basket),
        ErrorPages(site, templates, navigation, base_url),
    )
