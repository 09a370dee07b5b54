"""The search box of the back office in a real browser: hits while somebody types, by keyboard alone."""

import re

from playwright.sync_api import Browser, expect

from support.accessibility import all_errors
from support.backoffice import BackOfficeSite
from support.browsing import signed_in, tab_in, window
from support.orders import buy
from support.pages import staff_member


def test_an_order_is_found_by_a_part_of_its_purchase_order_without_a_click(
    office: BackOfficeSite, browser: Browser
) -> None:
    customer = office.service.customer(company="Typed Ahead Ltd")
    one, other = (buy(customer, customer_reference=f"PO-7731{number}") for number in range(2))
    person = staff_member(office.service, office.url, "support")
    with window(browser, scripts=True) as context, tab_in(context, [office.url], "find") as tab:
        signed_in(tab, person, office.url)
        for width in (1280, 390):
            tab.resize(width)
            tab.open(f"{office.url}/")
            hits = tab.page.locator("#found a")
            tab.page.keyboard.press("/")
            tab.page.keyboard.type("p")
            expect(hits).to_have_count(0)
            tab.page.keyboard.type("o 7731")
            expect(hits).to_have_text([other["order_reference"], one["order_reference"]])
            assert all_errors(tab) == []
            tab.page.keyboard.press("ArrowDown")
            expect(hits.first).to_be_focused()
            tab.page.keyboard.press("Escape")
            expect(hits).to_have_count(0)
            expect(tab.page.locator("#find")).to_be_focused()
            tab.page.keyboard.type("1")
            expect(hits).to_have_text([other["order_reference"]])
            tab.page.keyboard.press("Enter")
            expect(tab.page).to_have_url(re.compile(f"/order/{other['order_reference']}$"))


def test_the_search_box_names_its_key_where_there_is_a_keyboard(office: BackOfficeSite, browser: Browser) -> None:
    person = staff_member(office.service, office.url, "support")
    for width, has_keyboard in ((1280, True), (390, False)):
        with window(browser, width=width) as context, tab_in(context, [office.url], "key") as tab:
            signed_in(tab, person, office.url)
            tab.open(f"{office.url}/order")
            key = tab.page.locator(".find kbd")
            expect(key).to_be_visible(visible=has_keyboard)
            tab.page.get_by_label("Find anything").focus()
            expect(key).to_be_hidden()
