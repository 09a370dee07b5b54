"""The title of a tab, and the buttons that copy references, numbers and codes."""

import re

from playwright.sync_api import Browser, expect

from support.accessibility import all_errors
from support.backoffice import BackOfficeSite
from support.browsing import signed_in, tab_in, window
from support.orders import buy, dispatch
from support.pages import customer_user, staff_member


def test_a_tab_keeps_its_title_while_parts_of_its_page_are_loaded(office: BackOfficeSite, browser: Browser) -> None:
    person = staff_member(office.service, office.url, "support")
    with window(browser) as context, tab_in(context, [office.url], "title") as tab:
        signed_in(tab, person, office.url)
        for path, title in (("/order", "Orders · Back office"), ("/customer", "Customers · Back office")):
            with tab.page.expect_response(re.compile("/view")):  # the saved views of the list
                tab.open(f"{office.url}{path}")
            tab.page.wait_for_load_state("networkidle")
            expect(tab.page).to_have_title(title)
        tab.page.keyboard.press("/")
        with tab.page.expect_response(re.compile("/search")):
            tab.page.keyboard.type("phone")
        expect(tab.page.locator("#found a").first).to_be_visible()
        expect(tab.page).to_have_title("Customers · Back office")


def test_references_tracking_numbers_and_codes_are_copied_with_one_click(
    office: BackOfficeSite, browser: Browser
) -> None:
    service = office.service
    customer = service.customer(company="Copies Ltd")
    placed = buy(customer, customer_reference="PO-COPIED")
    dispatch(service, placed, tracking_number="TRACK-COPIED")
    reference = placed["order_reference"]
    staff = [reference, "TRACK-COPIED", "PO-COPIED", placed["confirmation_code"]]
    sites = (
        (office.url, f"/order/{reference}", staff_member(service, office.url, "support"), staff),
        (service.url, f"/account/order/{reference}", customer_user(service, customer.id), [reference, "TRACK-COPIED"]),
    )
    for url, path, person, texts in sites:
        with window(browser) as context, tab_in(context, [url], "copy") as tab:
            context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url)
            signed_in(tab, person, url)
            for width in (1280, 390):
                tab.resize(width)
                tab.open(f"{url}{path}")
                buttons = tab.page.locator(".copy-text")
                expect(buttons).to_have_count(len(texts))
                for number, text in enumerate(texts):
                    buttons.nth(number).focus()
                    tab.page.keyboard.press("Enter")
                    expect(buttons.nth(number)).to_have_text("Copied")
                    assert tab.run("navigator.clipboard.readText()") == text
                assert all_errors(tab) == []
