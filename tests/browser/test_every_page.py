"""Every page of both sites in a real Chromium: accessible, quiet and never wider than the window, for each role."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from support.accessibility import all_errors, what_is_cut
from support.browsing import Tab, signed_in, tab_in, window
from support.demo_sites import DemoSites
from support.page_roles import is_for
from support.page_routes import SITES, PageRoute, page_routes
from support.page_walk import walk
from support.pages import Person, customer_user, staff_member
from support.unlinked_pages import WAYS
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite
from tradecounter.edge.permissions import ROLES, USER_ROLES

PAGES = [route for site in SITES for route in page_routes(site) if route.method == "GET"]
_ONCE = re.compile(r'name="once" value="[^"]*"')  # different in each response
_EACH = 25  # so many of each kind of page are opened in search of the others

_FILES = (
    "/pdf",
    "/export",
    "/picking-list",
    "/packing-slip",
    "/zip",
    "/file/{id}",
    "/file/{kind}",
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


@pytest.fixture(scope="module")
def people(sites: DemoSites) -> dict[PageSite, dict[str, Person]]:
    """A person of each role, by the site and the role."""
    return {
        BACK_OFFICE: {role: staff_member(sites.service, sites.office.url, role) for role in ROLES},
        ACCOUNT: {role: customer_user(sites.service, sites.customer_id, role) for role in USER_ROLES},
    }


@pytest.fixture
def tab(windows: dict[PageSite, BrowserContext], sites: DemoSites, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """A tab of the window of the page's site."""
    site: PageSite = request.getfixturevalue("route").site
    with tab_in(windows[site], [url_of(sites, site)], request.node.name) as found:
        yield found


def url_of(sites: DemoSites, site: PageSite) -> str:
    return sites.office.url if site is BACK_OFFICE else sites.service.url


def contents_for(people: dict[str, Person], route: PageRoute, address: str) -> dict[str, str]:
    """What a page shows below its bar and its menu, each with the role of somebody to whom it shows that.

    Pages that show everybody the same take turns with the roles.
    """
    roles = [role for role in people if is_for(role, route)]
    turn = PAGES.index(route) % len(roles)
    found: dict[str, str] = {}
    for role in roles[turn:] + roles[:turn]:
        response = people[role].get(address)
        if response.status_code == 200:  # a saved view, or a form of a list, may be somebody else's
            _, _, content = response.text.partition("<main")
            found.setdefault(_ONCE.sub("", content), role)
    return found


@pytest.mark.parametrize(
    "route",
    [
        route
        for route in PAGES
        if route.path.removeprefix(route.site.root) not in WAYS and not route.path.endswith(_FILES)
    ],
    ids=lambda r: r.path,
)
def test_a_page_is_accessible_and_fits_for_each_role_to_which_it_shows_something_else(
    tab: Tab,
    route: PageRoute,
    sites: DemoSites,
    addresses: dict[str, str],
    people: dict[PageSite, dict[str, Person]],
) -> None:
    assert route.path in addresses, "no link leads to the page"
    contents = contents_for(people[route.site], route, addresses[route.path])
    assert contents, "no role may open the page"
    url = url_of(sites, route.site)
    for role in contents.values():
        signed_in(tab, people[route.site][role], url)
        response = tab.open(url + addresses[route.path])
        assert response.status == 200
        assert response.headers["content-type"].startswith("text/html")
        assert (role, what_is_cut(tab)) == (role, [])
        assert (role, all_errors(tab)) == (role, [])
