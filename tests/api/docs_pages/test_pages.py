"""`/docs`, `/guide` and `/changelog`: their structure, their files and their caching."""

import re
from itertools import pairwise
from typing import Any
from urllib.parse import urljoin

import pytest

from support.interface import interface_document
from support.service import Service
from support.web_page import Page, plain

PAGES = ("/docs", "/guide", "/changelog")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


def operations() -> dict[str, dict[str, Any]]:
    paths = interface_document()["paths"]
    return {operation["operationId"]: operation for methods in paths.values() for operation in methods.values()}


@pytest.fixture(scope="module")
def pages(service: Service) -> dict[str, Page]:
    return {path: Page(service.client().get(path).text) for path in PAGES}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_loads_files_from_the_service_only(service: Service, path: str) -> None:
    response = service.client().get(path)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"] == POLICY
    page = Page(response.text)
    assert not {element.tag for element in page.elements} & {"style", "iframe", "object", "embed", "base"}
    assert all(script.attributes.get("src", "").startswith("static/") for script in page.all("script"))
    for element in page.elements:
        assert not [name for name in element.attributes if name.startswith("on") or name == "style"]
    assert not re.search(r"<script[^>]*>[^<]", response.text)


@pytest.mark.parametrize("path", PAGES)
def test_a_pages_files_are_cached_for_a_year(service: Service, pages: dict[str, Page], path: str) -> None:
    kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "webp": "image/webp"}
    loaded = [
        element.attributes.get("src") or element.attributes["href"]
        for element in pages[path].all("script", "link", "img")
        if element.attributes.get("rel") != "alternate"
    ]
    assert len(loaded) >= 4
    for address in loaded:
        response = service.client().get(urljoin(path, address))
        assert response.status_code == 200, address
        assert response.headers["content-type"].startswith(kinds[address.rpartition(".")[2]])
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert "@import" not in response.text
        assert "url(" not in response.text


def test_a_file_with_the_digest_of_another_release_is_not_cached(service: Service) -> None:
    client = service.client()
    response = client.get("/static/style.0123456789ab.css")
    assert response.status_code == 200
    assert response.headers["cache-control"] == "private, no-cache"
    assert (
        client.get("/static/style.0123456789ab.css", headers={"If-None-Match": response.headers["etag"]}).status_code
        == 304
    )
    for unknown in ("style.css", "other.0123456789ab.css", "..%2Fpage.0123456789ab.py", "x"):
        assert client.get(f"/static/{unknown}").status_code == 404


@pytest.mark.parametrize("path", PAGES)
def test_an_unchanged_page_is_304(service: Service, path: str) -> None:
    client = service.client()
    first = client.get(path)
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    on_other_host = client.get(path, headers={"If-None-Match": first.headers["etag"], "Host": "other.example"})
    assert on_other_host.status_code == 200


@pytest.mark.parametrize("path", PAGES)
def test_headings_are_in_order_and_tables_have_row_and_column_headers(pages: dict[str, Page], path: str) -> None:
    levels = [int(element.tag[1]) for element in pages[path].all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(element.attributes.get("scope") in {"row", "col"} for element in pages[path].all("th"))
    assert len(pages[path].all("th")) >= len(pages[path].all("table"))


@pytest.mark.parametrize("path", PAGES)
def test_a_keyboard_user_can_skip_to_the_content_and_every_input_has_a_label(pages: dict[str, Page], path: str) -> None:
    page = pages[path]
    assert page.all("html")[0].attributes["lang"] == "en"
    assert page.all("a")[0].attributes == {"class": "skip", "href": "#main"}
    labelled = {element.attributes["for"] for element in page.all("label")}
    for element in page.all("input", "select", "textarea"):
        assert element.attributes["id"] in labelled or "aria-label" in element.attributes
    assert labelled <= set(page.values("id"))


@pytest.mark.parametrize("path", PAGES)
def test_anchors_are_unique_and_all_links_work(service: Service, pages: dict[str, Page], path: str) -> None:
    page = pages[path]
    names = page.values("id")
    assert len(set(names)) == len(names)
    headings = [element for element in page.all("h2", "h3") if "id" in element.attributes]
    signs = [element.attributes["href"] for element in page.all("a") if element.attributes.get("class") == "anchor"]
    assert {f"#{heading.attributes['id']}" for heading in headings} <= set(signs)
    anchors = {other: set(found.values("id")) for other, found in pages.items()}
    for address in {element.attributes["href"] for element in page.all("a")}:
        place, _, anchor = address.partition("#")
        assert not place.startswith(("http://", "https://")) or place.startswith(service.url), address
        if place:
            assert service.client().get(urljoin(f"{service.url}{path}", place)).status_code == 200, address
        target = anchors.get(f"/{place}" if place else path)
        assert target is None or not anchor or anchor in target, address


@pytest.mark.parametrize("path", ["/docs", "/guide"])
def test_examples_use_the_readers_base_address(service: Service, path: str) -> None:
    text = service.client(Host="shop.example").get(path).text
    assert "http://shop.example/product" in text
    assert not re.search(r"\$BASE|\.invalid|api\.example", text)


def test_every_operation_has_samples_fields_and_a_form(pages: dict[str, Page]) -> None:
    page = pages["/docs"]
    names = set(page.values("id"))
    assert operations().keys() <= names
    assert page.samples.keys() == {
        (language, name) for language in ("curl", "Python", "JavaScript", "PHP") for name in operations()
    }
    forms = {(element.attributes["data-method"], element.attributes["data-path"]) for element in page.all("form")}
    paths = interface_document()["paths"]
    expected = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert forms == expected - {("POST", path) for path in ("/oauth/token", "/auth/token", "/auth/revoke")}


def test_a_form_starts_with_valid_values(pages: dict[str, Page]) -> None:
    inputs = {element.attributes["id"]: element.attributes for element in pages["/docs"].all("input")}
    assert inputs["try-getProduct-sku"]["value"] == "CV-320P"
    assert "required" in inputs["try-getProduct-sku"]
    assert "value" not in inputs["try-listProducts-query"]
    [parameter] = [p for p in operations()["listProducts"]["parameters"] if p["name"] == "query"]
    assert inputs["try-listProducts-query"]["placeholder"] == parameter["example"]
    assert inputs["try-listProducts-key"].items() >= {("type", "password"), ("autocomplete", "off")}
    assert "name" not in inputs["try-listProducts-key"]


def test_nested_fields_are_shown_where_they_are_used(pages: dict[str, Page]) -> None:
    names = set(pages["/docs"].values("id"))
    assert {
        "createOrder-body-items-sku",
        "createOrder-body-billing_address-contact_name",
        "createOrder-body-billing_address-id",
        "createOrder-201-shipping_options-cost_net",
        "listOrders-200-items-product-availability-incoming-expected_on",
        "listProducts-query-attribute",
    } <= names
    field = pages["/docs"].text.partition('id="createOrder-body-customer_reference"')[2].partition("</li>")[0]
    for part in ("required", "string, 1 to 100 characters", "Your own reference.", "PO-1001"):
        assert part in field


def test_a_common_error_is_described_once(pages: dict[str, Page]) -> None:
    text = plain(pages["/docs"].text)
    for response in interface_document()["components"]["responses"].values():
        description = response["description"].replace("`", "")
        assert text.count(description) == 1, description


def test_only_elements_that_need_a_script_are_hidden_without_it(pages: dict[str, Page]) -> None:
    hidden = [element for page in pages.values() for element in page.elements if "hidden" in element.attributes]
    needing = {"data-try", "data-search", "data-result"}
    assert hidden
    assert all(needing & set(found.attributes) or found.attributes.get("role") == "listbox" for found in hidden)


def test_the_guide_has_every_chapter_in_its_contents(pages: dict[str, Page]) -> None:
    page = pages["/guide"]
    headings = {f"#{element.attributes['id']}" for element in page.all("h2")}
    assert {"#retry-safely", "#spreadsheets", "#e-mail", "#errors"} <= headings
    assert headings <= {element.attributes["href"] for element in page.all("a") if "class" not in element.attributes}


def test_the_index_leads_people_to_both_pages(service: Service) -> None:
    response = service.client().get("/")
    named = response.json()["documentation"]
    assert (named["reference"], named["guide"]) == (f"{service.url}/docs", f"{service.url}/guide")
    assert f'<{service.url}/guide>; rel="help"; type="text/html"' in response.headers["Link"]
    assert service.client().get("/openapi.json").json()["externalDocs"]["url"] == f"{service.url}/guide"
