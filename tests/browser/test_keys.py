"""The keys of both sites, by keyboard alone."""

import re

from playwright.sync_api import Browser, expect

from support.accessibility import all_serious_errors
from support.backoffice import BackOfficeSite
from support.browsing import signed_in, tab_in, window
from support.orders import buy
from support.pages import customer_user, staff_member


def test_staff_work_with_keys_and_switch_them_off(office: BackOfficeSite, browser: Browser) -> None:
    customer = office.service.customer(company="Keyboard Ltd")
    names = [buy(customer, customer_reference=f"KEY-{number}")["order_reference"] for number in range(2)][::-1]
    person = staff_member(office.service, office.url, "support")
    with window(browser, scripts=True) as context, tab_in(context, [office.url], "keys") as tab:
        signed_in(tab, person, office.url)
        page, keys = tab.page, tab.page.keyboard
        tab.open(f"{office.url}/")
        keys.type("go")
        expect(page).to_have_url(f"{office.url}/order")
        for key, name in (("j", names[0]), ("j", names[1]), ("k", names[0])):
            keys.press(key)
            expect(page.get_by_role("link", name=name, exact=True)).to_be_focused()
        keys.press("Enter")
        expect(page).to_have_url(re.compile(f"/order/{names[0]}$"))
        keys.press("e")
        expect(page).to_have_url(re.compile("/amend$"))
        tab.open(f"{office.url}/order")
        keys.press("n")
        expect(page).to_have_url(f"{office.url}/order/new")
        keys.type("go ?")
        expect(page.get_by_label("Customer")).to_have_value("go ?")
        tab.open(f"{office.url}/")
        keys.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        assert all_serious_errors(tab) == []
        page.get_by_label("Use these keys").uncheck()
        keys.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        keys.press("?")
        assert page.get_by_role("dialog").count() == 0
        keys.press("/")
        expect(page.locator("#find")).not_to_be_focused()
        page.locator(".person summary").click()
        page.get_by_role("button", name="Keys").click()
        page.get_by_label("Use these keys").check()
        keys.press("Escape")
        expect(page.get_by_role("button", name="Keys")).to_be_focused()
        keys.press("/")
        expect(page.locator("#find")).to_be_focused()


def test_customers_open_subjects_with_keys(office: BackOfficeSite, browser: Browser) -> None:
    service = office.service
    customer = service.customer(company="Their Keys Ltd")
    with window(browser, scripts=True) as context, tab_in(context, [service.url], "keys-account") as tab:
        signed_in(tab, customer_user(service, customer.id), service.url)
        tab.open(f"{service.url}/account")
        tab.page.keyboard.type("gp")
        expect(tab.page).to_have_url(re.compile("/account/product"))
        tab.page.keyboard.type("gx")
        expect(tab.page).to_have_url(re.compile("/account/product"))
