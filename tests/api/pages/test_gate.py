"""Who gets in: sessions, forms of other sites, roles, and errors as pages."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import buy
from support.pages import Person, browser, customer_user, staff_member, text_of
from support.service import Service
from tradecounter.access.pages.both.sign_in import SIGN_IN_SUBJECTS
from tradecounter.edge.pages.operation import PageOperation
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, placed
from tradecounter.edge.pages.page_view import CONTENT_POLICY
from tradecounter.edge.rest.operation import operations_of
from tradecounter.sites.account_pages import SUBJECTS as ACCOUNT_SUBJECTS
from tradecounter.sites.back_office_pages import SUBJECTS

SIGN_IN = [placed(subject, site) for site in (BACK_OFFICE, ACCOUNT) for subject in SIGN_IN_SUBJECTS]
PAGES = [operation for subject in (*SUBJECTS, *ACCOUNT_SUBJECTS, *SIGN_IN) for operation in operations_of(subject)]


def site_url(office: BackOfficeSite, path: str) -> str:
    return office.service.url if path.startswith("/account") else office.url


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("operation", PAGES, ids=lambda operation: operation.name)
def test_a_page_leads_people_who_have_not_signed_in_to_the_sign_in(
    office: BackOfficeSite, operation: PageOperation
) -> None:
    if operation.signed_out:
        return
    path = re.sub(r"\{\w+\}", "1", operation.path)
    anybody = browser(site_url(office, path))
    found = anybody.request(operation.method, path, headers={"Sec-Fetch-Site": "same-origin"})
    assert found.status_code == 303
    leads = urlsplit(found.headers["Location"])
    assert leads.path == ("/account/sign-in" if path.startswith("/account") else "/sign-in")
    assert parse_qs(leads.query) == {"next": [path]}


def test_the_way_back_keeps_the_query(office: BackOfficeSite) -> None:
    found = browser(office.url).get("/order?status=Dispatched&sku=A+B")
    assert parse_qs(urlsplit(found.headers["Location"]).query) == {"next": ["/order?status=Dispatched&sku=A+B"]}


def test_htmx_is_sent_to_the_sign_in_as_a_whole_page(office: BackOfficeSite) -> None:
    found = browser(office.url).get("/order", headers={"HX-Request": "true"})
    assert (found.status_code, found.headers["HX-Redirect"]) == (200, "/sign-in?next=%2Forder")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 404),
        ({"Sec-Fetch-Site": "none"}, 404),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "SITE"}, 403),
        ({"Origin": "SITE"}, 404),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 403),
    ],
)
def test_a_form_counts_only_if_a_page_of_the_site_sent_it(
    office: BackOfficeSite, sam: Person, headers: dict[str, str], status: int
) -> None:
    sent = {name: value.replace("SITE", office.url) for name, value in headers.items()}
    assert sam.http.post("/order/NOTHING/note", data={"text": "Hello"}, headers=sent).status_code == status


def test_a_page_needs_a_role_and_says_which(office: BackOfficeSite) -> None:
    packer = staff_member(office.service, office.url, "warehouse")
    buyer = staff_member(office.service, office.url, "catalogue")
    assert packer.get("/order").status_code == 200
    rejected = buyer.get("/order")
    assert rejected.status_code == 403
    assert "This needs the role support or finance or warehouse or administrator." in text_of(rejected)
    assert packer.send("/order/ORD-1/cancel").status_code == 403
    assert "Orders" not in text_of(buyer.get("/"))


def test_a_session_of_one_site_does_not_count_at_the_other(office: BackOfficeSite) -> None:
    customer = office.service.customer()
    user = customer_user(office.service, customer.id)
    value = user.cookie.partition("=")[2]
    assert user.get("/account").status_code == 200
    intruder = browser(office.url, f"__Host-tradecounter-staff={value}")
    assert intruder.get("/").status_code == 303


def test_a_session_is_no_credential_for_the_api(office: BackOfficeSite, sam: Person) -> None:
    assert sam.get("/api/order").status_code == 401
    user = customer_user(office.service, office.service.customer().id)
    assert user.get("/order").status_code == 401


def test_a_service_token_opens_no_page(office: BackOfficeSite) -> None:
    anybody = browser(office.url)
    assert anybody.get("/order", headers={"Authorization": f"Bearer {office.token()}"}).status_code == 303


def test_what_does_not_exist_is_a_page_with_404(sam: Person) -> None:
    for path in ("/nothing", "/order/ORD-0", "/order/%00"):
        found = sam.get(path)
        assert found.status_code == 404
        assert found.headers["Content-Type"].startswith("text/html")
    assert sam.get("/api/nothing").headers["Content-Type"] == "application/json"


def test_a_wrong_method_is_a_page_with_405_that_names_the_right_ones(office: BackOfficeSite, sam: Person) -> None:
    user = customer_user(office.service, office.service.customer().id)
    for person, method, path, allowed in (
        (sam, "PUT", "/order", "GET, HEAD, OPTIONS"),
        (sam, "DELETE", "/order/ORD-1/note", "GET, HEAD, OPTIONS, POST"),
        (user, "PATCH", "/account", "GET, HEAD, OPTIONS"),
        (user, "PUT", "/account/sign-out", "OPTIONS, POST"),
    ):
        found = person.http.request(method, path)
        assert (found.status_code, found.headers["Allow"]) == (405, allowed)
        assert found.headers["Content-Type"].startswith("text/html")
        assert f"{method} is not allowed here; use {allowed}" in text_of(found)
    assert sam.http.put("/api/order").headers["Content-Type"] == "application/json"


def test_pages_are_not_stored_and_have_the_content_policy(office: BackOfficeSite, sam: Person) -> None:
    user = customer_user(office.service, office.service.customer().id)
    for page in (sam.get("/"), sam.get("/order"), user.get("/account"), sam.get("/nothing")):
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Content-Security-Policy"] == CONTENT_POLICY
        assert page.headers["Referrer-Policy"] == "same-origin"
        assert " style=" not in page.text
        assert "<style" not in page.text
        assert "onclick" not in page.text


def test_the_menu_names_the_person_and_the_current_subject(office: BackOfficeSite, sam: Person) -> None:
    placed = buy(office.service.customer())
    page = sam.get(f"/order/{placed['order_reference']}")
    assert "Sam Staff" in text_of(page)
    assert 'href="/order" aria-current="true"' in page.text
    assert 'href="/order" aria-current="page"' in sam.get("/order").text


def test_static_files_are_at_the_same_address_on_both_sites_for_a_year(office: BackOfficeSite, sam: Person) -> None:
    user = customer_user(office.service, office.service.customer().id)
    for person, path in ((sam, "/order"), (user, "/account")):
        links = [part.split('"')[0] for part in person.get(path).text.split('="/static/')[1:]]
        assert len(set(links)) >= 4
        for link in links:
            found = person.get(f"/static/{link}")
            assert found.status_code == 200
            assert "immutable" in found.headers["Cache-Control"]


def test_pages_follow_the_path_of_the_base_url(shop: Service) -> None:
    with backoffice_of(shop, backoffice_url="https://reseller.example/office") as office:
        sam = staff_member(shop, office.url, "administrator")
        page = sam.get("/order").text
        assert 'href="/office/order"' in page
        assert 'src="/office/static/htmx.' in page
        assert browser(office.url).get("/order").headers["Location"].startswith("/office/sign-in?next=")
