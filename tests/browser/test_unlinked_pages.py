"""The pages to which no link leads, in a real Chromium: accessible, quiet and never wider than the window."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from support.accessibility import all_errors
from support.backoffice import BackOfficeSite, backoffice_of
from support.browsing import tab_in, window
from support.cluster import Cluster
from support.page_routes import SITES, PageRoute, page_routes
from support.sandbox_pair import SandboxPair, sandbox_pair
from support.service import Service
from support.unlinked_pages import WAYS, Visit

PAGES = [
    route
    for site in SITES
    for route in page_routes(site)
    if route.method == "GET" and route.path.removeprefix(site.root) in WAYS
]


@pytest.fixture(scope="module")
def strict(shop: Service) -> Iterator[BackOfficeSite]:
    """A back office whose staff need a second factor."""
    with backoffice_of(shop, staff_totp_required=True) as running:
        yield running


@pytest.fixture(scope="module")
def pair(postgres: Cluster) -> Iterator[SandboxPair]:
    with sandbox_pair(postgres) as found:
        yield found


@pytest.mark.parametrize("route", PAGES, ids=lambda route: route.path)
def test_a_page_without_links_is_accessible_and_fits(
    browser: Browser, office: BackOfficeSite, strict: BackOfficeSite, pair: SandboxPair, route: PageRoute
) -> None:
    own = [office.service.url, office.url, strict.url, pair.live.url]
    with window(browser) as context, tab_in(context, own, route.path) as tab:
        WAYS[route.path.removeprefix(route.site.root)](Visit(tab, office, strict, pair, route.site))
        assert all_errors(tab) == []


def test_each_way_leads_to_a_page() -> None:
    assert {route.path.removeprefix(route.site.root) for route in PAGES} == set(WAYS)
