"""Every page and form of both sites with every kind of person and credential."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import cycle
from urllib.parse import quote, urlsplit

import httpx2
import pytest

from support.backoffice import backoffice_of
from support.one_of_everything import ESCAPED, RAW, SELLER, Reseller, one_of_everything
from support.page_roles import ACCOUNT as ACCOUNT_ROLES
from support.page_roles import ANYBODY, OFFICE, is_for, roles_for
from support.page_routes import SITES, PageRoute, page_routes, path_of
from support.page_walk import Walk, walk
from support.pages import Person, browser, customer_user, staff_member, text_of
from support.people import disable
from support.service import Service
from tradecounter.access.staff import disable_staff_member
from tradecounter.customers.change_account import block_customer
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite
from tradecounter.edge.permissions import ROLES, USER_ROLES, Role, UserRole, allows

pytestmark = pytest.mark.long

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
FORMS = [route for site in SITES for route in page_routes(site) if route.method == "POST"]
_WITHOUT_IDS = {route.path for route in FORMS if not route.parameters}
# Pages for everybody about what not everybody has: a view of one's own, and a list that one may open.
_ONES_OWN = {"/view/{id}/delete", "/view/new"}
_FOR_ALL = "/account/product/{sku}"  # nobody's own
GUARDED = [route for site in SITES for route in page_routes(site) if not route.operation.signed_out]
# Pages that no link of someone who has signed in leads to: mailed links, steps of a sign-in.
_SIGNED_OUT = {
    "/sign-in", "/sign-in/code", "/sign-in/second-factor", "/sign-in/again", "/set-password", "/forgotten-password",
    "/sign-ins/second-factor/remove", "/sign-ins/recovery-codes",
}  # fmt: skip
# Pages of what only other tests have: a file, a failed job, consent, an agent, a feed, ticked orders, a sandbox.
_RARE = {
    "/import/check/{upload}", "/import/check/{upload}/apply", "/import/check/{upload}/bad-rows",
    "/payment/import/check/{file}", "/job/{id}/retry",
    "/auth/authorize", "/quote-link", "/quote-link/{secret}", "/developer/application/{client_id}/revoke",
    "/developer/feed/{id}", "/developer/feed/{id}/address", "/developer/feed/{id}/delete",
    "/developer/feed/{id}/edit", "/developer/feed/{id}/new-address", "/order/cancelled", "/order/unconfirmed",
    "/new-order/{code}/approval", "/order/many/dispatch", "/order/many/invoice", "/order/many/packing-slip",
    "/order/many/picking-list", "/basket/shared", "/developer/sandbox", "/developer/sandbox/key/new",
    "/developer/sandbox/key/{id}/disable", "/developer/agent/{agent_id}/revoke",
    "/customer/{id}/agent/{agent_id}/revoke", "/order/many/pick", "/money/remind", "/product-change",
}  # fmt: skip
# Lists of things that have no page of their own, or not all of them.
_LISTS_OF_NO_PAGES = {
    "/audit", "/customer/{id}/event", "/customer/{id}/timeline", "/import/{id}",
    "/account/developer/key/{id}/request",
}  # fmt: skip
NOT_LINKED = _SIGNED_OUT | _RARE
_EACH = 15  # so many of each kind of page are opened in search of the others
BLOCKED = "the session of a blocked customer's user"
_ENDS = ("/sign-out", "/sign-ins/end-others")  # forms that end sessions


@pytest.fixture(scope="module")
def reseller(shop: Service) -> Iterator[Reseller]:
    with backoffice_of(shop, **SELLER) as office:
        yield one_of_everything(office)


@pytest.fixture(scope="module")
def office_walk(reseller: Reseller) -> Walk:
    return walk(staff_member(reseller.service, reseller.office.url, "administrator"), each=_EACH)


@pytest.fixture(scope="module")
def account_walk(reseller: Reseller) -> Walk:
    return walk(customer_user(reseller.service, reseller.first.customer.id), each=_EACH)


@pytest.fixture(scope="module")
def walks(office_walk: Walk, account_walk: Walk) -> dict[PageSite, Walk]:
    return {BACK_OFFICE: office_walk, ACCOUNT: account_walk}


def url_of(reseller: Reseller, site: PageSite) -> str:
    return reseller.office.url if site is BACK_OFFICE else reseller.service.url


def sent(person: httpx2.Client, route: PageRoute, address: str | None = None, **headers: str) -> httpx2.Response:
    """The response to opening a page, or to its form without any fields."""
    path = address or route.with_values()
    return person.request(route.method, path, headers=SAME_ORIGIN | headers)


def test_the_tables_list_every_page_and_form() -> None:
    for site, table in ((BACK_OFFICE, OFFICE), (ACCOUNT, ACCOUNT_ROLES)):
        assert {route.path for route in page_routes(site)} <= {key.rpartition(" ")[2] for key in table}


def test_every_page_but_those_of_signing_in_and_of_links_needs_a_session() -> None:
    routes = [route for site in SITES for route in page_routes(site)]
    assert [route.operation.name for route in routes if route.operation.signed_out] == [
        route.operation.name for route in routes if roles_for(route) == ANYBODY
    ]


def check_role(person: Person, role: str, walked: Walk) -> None:
    for route in page_routes(person.site):
        if route.path.endswith(_ENDS):
            continue
        real = [seen.address for seen in walked.pages.get(route.path, [])[:1]] if route.method == "GET" else []
        for address in real or [route.with_values()]:
            response = sent(person.http, route, address)
            case = (role, route.method, address, response.status_code)
            assert (response.status_code == 403) == (not is_for(role, route)), case
            assert response.status_code < 500, case
            if real and is_for(role, route) and route.path not in _ONES_OWN:
                assert response.status_code in {200, 303}, case


@pytest.mark.parametrize("role", ROLES)
def test_a_staff_member_gets_exactly_the_pages_of_the_role(reseller: Reseller, office_walk: Walk, role: Role) -> None:
    check_role(staff_member(reseller.service, reseller.office.url, role), role, office_walk)


@pytest.mark.parametrize("role", USER_ROLES)
def test_a_user_gets_exactly_the_pages_of_the_role(reseller: Reseller, account_walk: Walk, role: UserRole) -> None:
    check_role(customer_user(reseller.service, reseller.first.customer.id, role), role, account_walk)


@pytest.mark.parametrize("role", ROLES)
def test_no_page_of_the_office_leads_to_one_that_the_person_may_not_open(reseller: Reseller, role: Role) -> None:
    walked = walk(staff_member(reseller.service, reseller.office.url, role))
    assert walked.broken == []
    if not allows([role], "prices:read"):
        assert [seen.address for seen in walked.pages_seen if "£" in seen.response.text] == []


@pytest.mark.parametrize("role", USER_ROLES)
def test_no_page_of_the_account_leads_to_one_that_the_user_may_not_open(reseller: Reseller, role: UserRole) -> None:
    assert walk(customer_user(reseller.service, reseller.first.customer.id, role)).broken == []


def credentials(reseller: Reseller, site: PageSite) -> dict[str, dict[str, str]]:
    """Headers that open no page of a site, by what they are."""
    service, office, now = reseller.service, reseller.office, reseller.service.clock.now()
    customer, gone = service.customer(), service.customer()
    member, user = staff_member(service, office.url, "administrator"), customer_user(service, customer.id)
    left, disabled = staff_member(service, office.url, "administrator"), customer_user(service, customer.id)
    blocked = customer_user(service, gone.id)
    service.in_transaction(lambda tx: disable_staff_member(tx, left.email, now))
    disable(service, disabled.email)
    service.in_transaction(lambda tx: block_customer(tx, gone.id, "Unpaid", now))
    other, ended = (user, left) if site is BACK_OFFICE else (member, disabled)
    return {
        "a service token": {"Authorization": f"Bearer {office.token()}"},
        "a customer's key": {"X-Api-Key": customer.key},
        "a customer's key as a bearer": {"Authorization": f"Bearer {customer.key}"},
        "the other site's cookie": {"Cookie": other.cookie},
        "the other site's session in this site's cookie": {"Cookie": f"{site.cookie}={other.cookie.partition('=')[2]}"},
        "a made-up session": {"Cookie": f"{site.cookie}={'x' * 43}"},
        "the session of a disabled person": {"Cookie": ended.cookie},
        BLOCKED: {"Cookie": blocked.cookie},
    }


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_no_other_credential_opens_a_page(reseller: Reseller, walks: dict[PageSite, Walk], site: PageSite) -> None:
    others = cycle(credentials(reseller, site).items())
    anybody = browser(url_of(reseller, site))
    for route in (route for route in GUARDED if route.site is site):
        for name, headers in (("nothing", {}), next(others), next(others)):
            known = walks[site].pages.get(route.path, []) if route.method == "GET" else []
            address = known[0].address if known else route.with_values()
            response = sent(anybody, route, address, **headers)
            if name == BLOCKED and site is ACCOUNT:
                assert response.status_code == 403, (route.method, address)
                assert "Your account is blocked: ask support." in text_of(response)
            else:
                assert response.status_code == 303, (name, route.method, address)
                back = address if route.method == "GET" else urlsplit(address).path
                assert response.headers["Location"] == f"{site.sign_in}?next={quote(back, safe='')}", (name, address)
            assert RAW not in response.text
            assert ESCAPED not in response.text


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                                     {"Origin": "https://evil.example"}, {"Origin": "null"}, {}])  # fmt: skip
def test_no_form_counts_that_another_site_sends(reseller: Reseller, headers: dict[str, str]) -> None:
    people = {
        BACK_OFFICE: staff_member(reseller.service, reseller.office.url, "administrator"),
        ACCOUNT: customer_user(reseller.service, reseller.first.customer.id),
    }
    for route in FORMS:
        response = people[route.site].http.post(route.with_values(), headers=headers)
        assert response.status_code == 403, (route.path, response.status_code)


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_dangerous_pages_ask_for_the_password_again_after_ten_minutes(shop: Service, site: PageSite) -> None:
    with backoffice_of(shop) as office:
        people = {
            BACK_OFFICE: staff_member(shop, office.url, "administrator"),
            ACCOUNT: customer_user(shop, shop.customer().id),
        }
        shop.clock.advance(timedelta(minutes=11))
        for route in page_routes(site):
            response = sent(people[site].http, route) if not route.path.endswith(_ENDS) else None
            if response is not None:
                asks = response.headers.get("Location", "").startswith(site.ask_again)
                assert asks == route.operation.dangerous, (route.method, route.path)


def test_another_customers_things_are_not_found(reseller: Reseller, account_walk: Walk) -> None:
    stranger = customer_user(reseller.service, reseller.other.customer.id)
    tried = set()
    for path, pages in account_walk.pages.items():
        if path == _FOR_ALL:
            continue
        for seen in pages if "{" in path and not path.endswith("{secret}") else ():
            assert stranger.get(seen.address).status_code == 404, seen.address
            tried.add(path)
        for form in (form for seen in pages for form in seen.markup.forms if form.method == "POST"):
            if form.action in _WITHOUT_IDS:
                continue
            fields = form.values | {"once": [""]}
            assert stranger.send(form.action, fields).status_code == 404, form.action
    named = {path for path in account_walk.pages if "{" in path and not path.endswith("{secret}")}
    assert tried == named - {_FOR_ALL}


def test_every_page_has_one_main_heading(office_walk: Walk, account_walk: Walk) -> None:
    pages = [seen for walked in (office_walk, account_walk) for seen in walked.pages_seen if seen.is_html]
    assert {
        seen.address: seen.response.text.count("<h1") for seen in pages if seen.response.text.count("<h1") != 1
    } == {}


def test_the_first_cell_of_each_row_of_a_list_leads_to_the_rows_page(office_walk: Walk, account_walk: Walk) -> None:
    without = set()
    rows = 0
    for walked in (office_walk, account_walk):
        for path, pages in walked.pages.items():
            cells = [links for seen in pages if seen.is_html for links in seen.markup.first_cells]
            rows += len(cells)
            if any(path_of(walked.person.site, link) is None for links in cells for link in links[:1] or [""]):
                without.add(path)
    assert rows > 50
    assert without == _LISTS_OF_NO_PAGES


def test_stored_markup_is_escaped_on_every_page(reseller: Reseller, office_walk: Walk, account_walk: Walk) -> None:
    other = walk(customer_user(reseller.service, reseller.other.customer.id), each=_EACH)
    for walked in (office_walk, account_walk, other):
        pages = [seen for seen in walked.pages_seen if seen.is_html]
        assert [seen.address for seen in pages if RAW in seen.response.text] == []
        assert [seen.address for seen in pages if "{49}" in seen.response.text] == [], "nothing is evaluated"
        assert any(ESCAPED in seen.response.text for seen in pages)


def test_every_page_is_reached_by_links(office_walk: Walk, account_walk: Walk) -> None:
    assert office_walk.broken == []
    assert account_walk.broken == []
    for site, walked in ((BACK_OFFICE, office_walk), (ACCOUNT, account_walk)):
        shown = {route.path for route in page_routes(site) if route.method == "GET"}
        assert {path.removeprefix(site.root) for path in shown - walked.pages.keys()} <= NOT_LINKED


def test_each_step_of_a_form_has_one_main_heading(office_walk: Walk, account_walk: Walk) -> None:
    """Sends each form empty, and as it is shown; it is the file's last test, because some of them are done."""
    counts: dict[tuple[str, int], int] = {}
    for walked in (office_walk, account_walk):
        for route in (route for route in FORMS if route.path in walked.pages and not route.path.endswith(_ENDS)):
            seen = walked.pages[route.path][0]
            here = [form.values for form in seen.markup.forms if form.method == "POST" and form.action == seen.address]
            tried: list[dict[str, list[str]]] = [{"once": [""]}, *here[:1]]
            for fields in tried:
                response = walked.person.send(seen.address, fields)
                if response.status_code != 303:
                    counts[seen.address, response.status_code] = response.text.count("<h1")
    assert {status for _, status in counts} >= {200, 400}
    assert {case: count for case, count in counts.items() if count != 1} == {}
