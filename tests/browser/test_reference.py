"""The reference and the guide in a real Chromium: their scripts under their content security policy."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from support.browsing import Tab, tab_in, window
from support.service import Service

WIDTHS = (375, 768, 1440)


@pytest.fixture
def tab(browser: Browser, shop: Service, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """The reference page, newly opened."""
    with window(browser) as context, tab_in(context, [shop.url], request.node.name) as found:
        found.open(f"{shop.url}/docs")
        yield found


def part_of(tab: Tab, operation: str) -> Locator:
    return tab.page.locator("section", has=tab.page.locator(f"#{operation}")).last


def test_the_arrow_keys_move_through_the_tabs_of_samples(tab: Tab) -> None:
    shown = part_of(tab, "createOrder").locator("[role=tabpanel]:not([hidden])")
    keys = tab.page.keyboard
    tab.page.locator("[role=tablist]").first.locator("[role=tab]").first.focus()
    keys.press("Home")
    expect(shown).to_have_attribute("data-language", "curl")
    keys.press("ArrowRight")
    assert tab.run("document.activeElement.textContent") == "Python"
    expect(shown).to_have_attribute("data-language", "Python")
    keys.press("End")
    assert shown.inner_text().lstrip().startswith("<?php")
    keys.press("ArrowRight")
    lists = tab.page.locator("[role=tablist]").count()
    expect(tab.page.locator('[role=tab][aria-selected=true][tabindex="0"]')).to_have_count(lists)


def test_copying_a_sample_copies_all_of_it(tab: Tab) -> None:
    tab.run("document.execCommand = () => { window.copied = document.activeElement.value; return true; }")
    tab.run("Object.defineProperty(navigator, 'clipboard', { value: undefined }) && 1")
    panel = part_of(tab, "createOrder").locator("[role=tabpanel]:not([hidden])")
    panel.locator(".copy").click()
    expect(panel.locator(".copy")).to_have_text("Copied")
    assert tab.run("window.copied") == panel.locator("code").text_content()
    assert tab.run("window.copied").startswith("curl ")


def test_search_finds_operations_fields_and_errors(tab: Tab) -> None:
    box, results = tab.page.locator("#search"), tab.page.locator("#search-results")
    for words, first in (
        ("confirm", "confirmOrder"),
        ("billing_address id body", "createOrder-body-billing_address-id"),
        ("402", "error-402"),
    ):
        tab.run("document.activeElement.blur()")
        tab.page.keyboard.press("/")
        expect(box).to_be_focused()
        box.fill(words)
        expect(results.locator("[aria-selected=true]")).to_have_attribute("data-target", first)
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_url(f"**/docs#{first}")
        expect(results).to_be_hidden()
        expect(tab.page.locator(f"[id='{first}']")).to_be_in_viewport()
    box.fill("no such thing")
    expect(results).to_have_text("Nothing found")
    tab.page.keyboard.press("Escape")
    expect(box).to_have_attribute("aria-expanded", "false")


def test_a_link_to_a_nested_field_opens_its_parents(tab: Tab) -> None:
    tab.run("void (location.hash = 'createOrder-body-items-sku')")
    expect(tab.page.locator("#createOrder-body-items-sku")).to_be_visible()


def test_a_request_is_sent_with_the_users_key_and_no_address_contains_it(tab: Tab, shop: Service) -> None:
    customer = shop.customer()
    requested: list[str] = []
    tab.page.on("request", lambda request: requested.append(request.url))
    tab.run("for (const fold of document.querySelectorAll('details.try')) fold.open = true")
    tab.page.locator("#try-listProducts-key").fill(customer.key)
    expect(tab.page.locator("#try-createOrder-key")).to_have_value(customer.key)
    tab.page.locator("#try-listProducts-limit").fill("1")
    form = tab.page.locator("form[data-path='/product']")
    form.locator("[type=submit]").click()
    expect(form.locator(".status")).to_have_text("200")
    assert len(json.loads(form.locator("[data-result] pre").first.text_content() or "")) == 1
    assert f"{shop.url}/product?limit=1" in requested
    assert not [address for address in [*requested, tab.page.url] if customer.key in address]
    tab.open(f"{shop.url}/docs")
    assert tab.page.locator("#try-getCustomer-key").input_value() == customer.key
    assert customer.key not in tab.run("JSON.stringify(localStorage)")


def test_a_body_is_sent_and_an_error_is_shown_unchanged(tab: Tab, shop: Service) -> None:
    tab.run("sessionStorage.setItem('tradecounter.key', " + json.dumps(shop.customer().key) + ")")
    tab.open(f"{shop.url}/docs")
    form = tab.page.locator("form[data-path='/customer/address'][data-method=POST]")
    tab.run("for (const fold of document.querySelectorAll('details.try')) fold.open = true")
    body = form.locator("textarea")
    example = body.input_value()
    body.fill('{"zip": 1}')
    form.locator("[type=submit]").click()
    expect(form.locator(".status")).to_have_text("400")
    expect(form.locator("[data-result] pre").first).to_contain_text("contact_name")
    body.fill(example)
    form.locator("[type=submit]").click()
    expect(form.locator(".status")).to_have_text("201")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", ["/docs", "/guide", "/changelog"])
def test_a_page_is_not_wider_than_the_window(
    browser: Browser, shop: Service, path: str, width: int, *, dark: bool
) -> None:
    name = f"{path}-{width}"
    with window(browser, width=width, dark=dark) as context, tab_in(context, [shop.url], name) as tab:
        tab.open(f"{shop.url}{path}")
        tab.run("for (const fold of document.querySelectorAll('main details')) fold.open = true")
        assert tab.run("document.documentElement.scrollWidth") <= width
        narrow = tab.run(
            "[...document.querySelectorAll('th, td, .type, .field, dd, p')]"
            ".filter((e) => e.offsetHeight > 0 && e.textContent.trim() && e.offsetWidth < 24)"
            ".map((e) => e.outerHTML.slice(0, 80))"
        )
        assert narrow == []
