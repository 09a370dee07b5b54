"""The reference page in a real Chromium: its scripts under its content security policy."""

import json
from collections.abc import Iterator

import pytest

from support.chromium import Page, chromium, chromium_program
from support.service import Service

WIDTHS = (375, 768, 1440)


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with chromium(chromium_program() or "") as page:
        yield page


@pytest.fixture
def page(browser: Page, shop: Service) -> Iterator[Page]:
    """The reference page, newly opened; any log message, such as a policy violation, fails the test."""
    browser.open("about:blank")
    browser.open(f"{shop.url}/docs")
    browser.logged.clear()
    yield browser
    assert [text for text in browser.logged if not text.startswith("Failed to load resource")] == []


def fill(page: Page, selector: str, text: str) -> None:
    page.run(f"document.querySelector({json.dumps(selector)}).focus(); document.activeElement.select()")
    page.type(text)


def test_the_arrow_keys_move_through_the_tabs_of_samples(page: Page) -> None:
    shown = "document.querySelector('#createOrder').closest('section').querySelector('[role=tabpanel]:not([hidden])')"
    page.run("document.querySelectorAll('[role=tablist]')[0].querySelector('[role=tab]').focus()")
    page.press("Home")
    assert page.run(f"{shown}.dataset.language") == "curl"
    page.press("ArrowRight")
    assert page.run("document.activeElement.textContent") == "Python"
    assert page.run(f"{shown}.dataset.language") == "Python"
    page.press("End")
    assert page.run(f"{shown}.textContent").startswith("<?php")
    page.press("ArrowRight")
    assert page.run("document.querySelectorAll('[role=tab][aria-selected=true][tabindex=\"0\"]').length") == page.run(
        "document.querySelectorAll('[role=tablist]').length"
    )


def test_copying_a_sample_copies_all_of_it(page: Page) -> None:
    page.run("document.execCommand = () => { window.copied = document.activeElement.value; return true; }")
    page.run("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    button = "document.querySelector('#createOrder').closest('section').querySelector('[role=tabpanel] .copy')"
    code = page.run(f"{button}.parentElement.querySelector('code').textContent")
    page.run(f"{button}.click()")
    assert page.until(f"{button}.textContent === 'Copied'")
    assert page.run("window.copied") == code
    assert code.startswith("curl ")


def test_search_finds_operations_fields_and_errors(page: Page) -> None:
    for words, first in (
        ("confirm", "confirmOrder"),
        ("billing_address id body", "createOrder-body-billing_address-2-id"),
        ("402", "error-402"),
    ):
        page.run("document.activeElement.blur()")
        page.press("/")
        fill(page, "#search", words)
        assert page.until("document.querySelector('#search-results [aria-selected=true]')?.dataset.target") == first
        page.press("Enter")
        assert page.until("location.hash.slice(1)") == first
        assert page.run("document.querySelector('#search-results').hidden")
        place = page.until(f"document.getElementById('{first}').getBoundingClientRect().top")
        assert 0 <= place < 900
    fill(page, "#search", "no such thing")
    assert page.until("document.querySelector('#search-results').textContent") == "Nothing found"
    page.press("Escape")
    assert page.run("document.querySelector('#search').getAttribute('aria-expanded')") == "false"


def test_a_link_to_a_nested_field_opens_its_parents(page: Page) -> None:
    page.run("location.hash = 'createOrder-body-items-sku'")
    assert page.until("document.getElementById('createOrder-body-items-sku').offsetHeight > 0")


def test_a_request_is_sent_with_the_users_key_and_no_address_contains_it(page: Page, shop: Service) -> None:
    customer = shop.customer()
    page.run("for (const fold of document.querySelectorAll('details.try')) fold.open = true")
    fill(page, "#try-listProducts-key", customer.key)
    assert page.run("document.querySelector('#try-createOrder-key').value") == customer.key
    fill(page, "#try-listProducts-limit", "1")
    form = "document.querySelector('form[data-path=\"/product\"]')"
    page.run(f"{form}.requestSubmit()")
    assert (
        page.until(f"!{form}.querySelector('[data-result]').hidden && {form}.querySelector('.status').textContent")
        == "200"
    )
    assert len(json.loads(page.run(f"{form}.querySelector('[data-result] pre').textContent"))) == 1
    requested = page.run("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert f"{shop.url}/product?limit=1" in requested
    assert not [address for address in [*requested, page.run("location.href")] if customer.key in address]
    page.open(f"{shop.url}/docs")
    assert page.run("document.querySelector('#try-getCustomer-key').value") == customer.key
    assert page.run("JSON.stringify(localStorage)").find(customer.key) == -1


def test_a_body_is_sent_and_an_error_is_shown_unchanged(page: Page, shop: Service) -> None:
    page.run("sessionStorage.setItem('tradecounter.key', " + json.dumps(shop.customer().key) + ")")
    page.open(f"{shop.url}/docs")
    form = "document.querySelector('form[data-path=\"/customer/address\"][data-method=POST]')"
    page.run(f"{form}.querySelector('textarea').value = '{{\"zip\": 1}}'; {form}.requestSubmit()")
    assert page.until(f"{form}.querySelector('.status')?.textContent") == "400"
    assert "contact_name" in page.run(f"{form}.querySelector('[data-result] pre').textContent")
    page.run(f"for (const area of {form}.querySelectorAll('textarea')) area.value = area.defaultValue")
    page.run(f"{form}.requestSubmit()")
    assert page.until(f"{form}.querySelector('.status')?.textContent === '201'")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", ["/docs", "/guide"])
def test_a_page_is_not_wider_than_the_window(
    browser: Page, shop: Service, path: str, width: int, *, dark: bool
) -> None:
    browser.open(f"{shop.url}{path}", width=width, dark=dark)
    browser.run("for (const fold of document.querySelectorAll('main details')) fold.open = true")
    assert browser.run("document.documentElement.scrollWidth") <= width
    narrow = browser.run(
        "[...document.querySelectorAll('th, td, .type, .field, dd, p')]"
        ".filter((e) => e.offsetHeight > 0 && e.textContent.trim() && e.offsetWidth < 24)"
        ".map((e) => e.outerHTML.slice(0, 80))"
    )
    assert narrow == []
