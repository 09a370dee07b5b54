"""Every page of both sites in a real Chromium: accessible, quiet and never wider than the window."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from support.accessibility import all_serious_errors, what_is_cut
from support.browsing import Tab, signed_in, tab_in, window
from support.demo_sites import DemoSites
from support.page_routes import SITES, PageRoute, page_routes
from support.page_walk import walk
from support.pages import customer_user, staff_member
from support.unlinked_pages import WAYS
from tradecounter.edge.pages.page_site import BACK_OFFICE, PageSite

PAGES = [route for site in SITES for route in page_routes(site) if route.method == "GET"]
_EACH = 25  # so many of each kind of page are opened in search of the others

_FILES = (
    "/pdf",
    "/export",
    "/picking-list",
    "/packing-slip",
    "/zip",
    "/file/{id}",
    "/bad-rows",
)  # which the browser saves


@pytest.fixture(scope="session")
def addresses(sites: DemoSites) -> dict[str, str]:
    """An address of each kind of page that links lead to."""
    office = walk(staff_member(sites.service, sites.office.url, "administrator"), each=_EACH)
    account = walk(customer_user(sites.service, sites.customer_id), each=_EACH)
    assert office.broken + account.broken == []
    return {path: pages[0].address for walked in (office, account) for path, pages in walked.pages.items()}


@pytest.fixture(scope="module")
def windows(browser: Browser) -> Iterator[dict[PageSite, BrowserContext]]:
    """A window for each site."""
    with window(browser) as office, window(browser) as account:
        yield dict(zip(SITES, (office, account), strict=True))


@pytest.fixture
def tab(windows: dict[PageSite, BrowserContext], sites: DemoSites, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """A tab in which someone has signed in who may do everything at the page's site."""
    site: PageSite = request.getfixturevalue("route").site
    url = url_of(sites, site)
    with tab_in(windows[site], [url], request.node.name) as found:
        if not windows[site].cookies():
            who = staff_member(sites.service, url, "administrator") if site is BACK_OFFICE else None
            signed_in(found, who or customer_user(sites.service, sites.customer_id), url)
        yield found


def url_of(sites: DemoSites, site: PageSite) -> str:
    return sites.office.url if site is BACK_OFFICE else sites.service.url


@pytest.mark.parametrize(
    "route",
    [
        route
        for route in PAGES
        if route.path.removeprefix(route.site.root) not in WAYS and not route.path.endswith(_FILES)
    ],
    ids=lambda r: r.path,
)
def test_a_page_is_accessible_and_fits(tab: Tab, route: PageRoute, sites: DemoSites, addresses: dict[str, str]) -> None:
    assert route.path in addresses, "no link leads to the page"
    response = tab.open(url_of(sites, route.site) + addresses[route.path])
    assert response.status == 200
    assert response.headers["content-type"].startswith("text/html")
    assert what_is_cut(tab) == []
    assert all_serious_errors(tab) == []
