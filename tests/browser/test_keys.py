"""The keys of both sites, by keyboard alone."""

import re
import time
from datetime import timedelta

from playwright.sync_api import Browser, expect

from support.accessibility import all_errors
from support.backoffice import BackOfficeSite
from support.billing import invoiced
from support.browsing import signed_in, tab_in, window
from support.orders import at, buy, rows, sell
from support.pages import customer_user, staff_member
from support.shop import ADDRESS


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
        assert all_errors(tab) == []
        page.get_by_label("Use these keys").uncheck()
        keys.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        keys.press("?")
        assert page.get_by_role("dialog").count() == 0
        keys.press("/")
        expect(page.locator("#find")).not_to_be_focused()
        page.locator(".person summary").click()
        page.get_by_role("button", name="Keyboard shortcuts").click()
        page.get_by_label("Use these keys").check()
        keys.press("Escape")
        expect(page.get_by_role("button", name="Keyboard shortcuts")).to_be_focused()
        keys.press("/")
        expect(page.locator("#find")).to_be_focused()


def test_a_scan_outside_of_a_field_is_looked_for_and_presses_nothing(office: BackOfficeSite, browser: Browser) -> None:
    placed = buy(office.service.customer(company="Scanned Ltd"), customer_reference="SCANNED")
    person = staff_member(office.service, office.url, "warehouse")
    with window(browser, scripts=True) as context, tab_in(context, [office.url], "scan") as tab:
        signed_in(tab, person, office.url)
        page, keys = tab.page, tab.page.keyboard
        page.clock.install()
        tab.open(f"{office.url}/product/PHONE")
        page.clock.pause_at(time.time() + 3600)  # a slow machine types with pauses, a scanner does not
        keys.type("abn55e1")  # n would adjust the stock
        keys.press("Enter")
        expect(page).to_have_url(re.compile(r"/search\?q=abn55e1$"))
        tab.open(f"{office.url}/")
        keys.type(placed["order_reference"])
        keys.press("Enter")
        expect(page).to_have_url(re.compile(f"/order/{placed['order_reference']}$"))


def test_a_payment_begins_with_its_first_field_and_a_debtor_is_reminded_with_a_key(
    office: BackOfficeSite, browser: Browser
) -> None:
    customer = office.service.customer(company="Owes By Keys Ltd")
    with at(office.service, office.service.clock.now() - timedelta(days=90)):
        invoiced(office.service, customer)
    person = staff_member(office.service, office.url, "finance")
    with window(browser, scripts=True) as context, tab_in(context, [office.url], "money") as tab:
        signed_in(tab, person, office.url)
        page, keys = tab.page, tab.page.keyboard
        tab.open(f"{office.url}/money")
        keys.press("n")
        expect(page.get_by_label("Invoice", exact=True)).to_be_focused()
        keys.press("Escape")
        page.get_by_role("link", name="Owes By Keys Ltd", exact=True).focus()
        keys.press("e")
        expect(page.get_by_role("dialog")).to_contain_text("Remind Owes By Keys Ltd")
        page.get_by_role("button", name="Send the reminder").press("Control+Enter")
        expect(page.get_by_text("The reminder is sent to")).to_be_visible()
        expect(page).to_have_url(f"{office.url}/money")


def test_rows_are_ticked_and_changed_together_with_keys(office: BackOfficeSite, browser: Browser) -> None:
    skus = [sell(office.service, f"TICKED-{number}") for number in range(3)]
    person = staff_member(office.service, office.url, "catalogue")
    with window(browser, scripts=True) as context, tab_in(context, [office.url], "ticked") as tab:
        signed_in(tab, person, office.url)
        page, keys = tab.page, tab.page.keyboard
        tab.open(f"{office.url}/product")
        expect(page.get_by_label("SKU, name or EAN")).to_be_focused()
        keys.type("ticked-")
        keys.press("ArrowDown")
        expect(page.get_by_role("link", name=skus[0], exact=True)).to_be_focused()
        keys.press("x")
        expect(page.get_by_label(f"Choose {skus[0]}")).to_be_checked()
        keys.press("j")
        expect(page.get_by_role("link", name=skus[1], exact=True)).to_be_focused()
        keys.press("x")
        expect(page.get_by_text("2 chosen")).to_be_visible()
        keys.press("e")
        expect(page.get_by_role("heading", name="Change 2 products")).to_be_visible()
        keys.press("e")
        expect(page.get_by_label("Customers see it")).to_be_focused()
        page.get_by_label("Customers see it").select_option("No")
        keys.press("Control+Enter")
        expect(page.locator(".flash")).to_contain_text("2 products are changed.")
        expect(page).to_have_url(re.compile("/product.*query=ticked-"))
        assert all_errors(tab) == []


def test_a_caller_is_found_while_the_name_is_typed_and_its_order_goes_on_by_keys(
    office: BackOfficeSite, browser: Browser
) -> None:
    customer = office.service.customer(company="Okapi Voice Ltd")
    office.service.customer(company="Okapi Data Ltd")
    customer.post("/customer/address", ADDRESS)
    person = staff_member(office.service, office.url, "support")
    with window(browser, scripts=True) as context, tab_in(context, [office.url], "caller") as tab:
        signed_in(tab, person, office.url)
        page, keys = tab.page, tab.page.keyboard
        tab.open(f"{office.url}/order/new")
        expect(page.locator(":focus")).to_be_visible()
        keys.type("okapi", delay=50)
        expect(page.get_by_role("link", name="Okapi Voice Ltd")).to_be_visible()
        keys.press("ArrowDown")
        expect(page.get_by_role("link", name="Okapi Data Ltd")).to_be_focused()
        keys.press("ArrowDown")
        keys.press("Enter")
        expect(page).to_have_url(f"{office.url}/order/new/{customer.id}")
        page.get_by_label("SKU or words 1", exact=True).fill("PHONE")
        page.get_by_label("Their reference").fill("BY-KEYS")
        keys.press("Control+Enter")
        expect(page).to_have_url(re.compile("/confirm$"))
        keys.press("Control+Enter")
        expect(page.get_by_text("is confirmed.")).to_be_visible()


def test_products_that_words_have_found_are_picked_by_keys(office: BackOfficeSite, browser: Browser) -> None:
    customer = office.service.customer(company="Calls by keys Ltd")
    person = staff_member(office.service, office.url, "support")
    with window(browser, scripts=True) as context, tab_in(context, [office.url], "pick") as tab:
        signed_in(tab, person, office.url)
        page, keys = tab.page, tab.page.keyboard
        tab.open(f"{office.url}/order/new/{customer.id}")
        first = page.get_by_label("SKU or words 1", exact=True)
        expect(first).to_be_focused()
        keys.type("product")
        hits = page.locator(".found-products button")
        expect(hits.nth(1)).to_be_visible()
        wanted = hits.nth(1).get_attribute("value")
        for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowDown"):
            keys.press(key)
        expect(hits.nth(1)).to_be_focused()
        keys.press("Escape")
        expect(first).to_be_focused()
        keys.press("ArrowDown")
        keys.press("ArrowDown")
        keys.press("Enter")
        expect(page.get_by_label(f"Units of {wanted}", exact=True)).to_be_focused()
        keys.type("2")
        keys.press("Enter")
        expect(first).to_be_focused()
        keys.type("acme cable")
        expect(page.locator("button[name=pick-0]").first).to_be_visible()
        keys.press("Enter")
        expect(page.get_by_label("Units of CABLE", exact=True)).to_be_focused()
        expect(page.get_by_label(f"Units of {wanted}", exact=True)).to_have_value("2")


def test_a_button_that_a_preview_moves_under_the_pointer_is_pressed(office: BackOfficeSite, browser: Browser) -> None:
    customer = office.service.customer(company="Pays quickly Ltd")
    invoiced(office.service, customer)
    person = staff_member(office.service, office.url, "finance")
    with window(browser, scripts=True) as context, tab_in(context, [office.url], "moved") as tab:
        signed_in(tab, person, office.url)
        page = tab.page
        tab.open(f"{office.url}/payment/new?customer_id={customer.id}")
        page.get_by_label("Amount").fill("12.50")
        button = page.get_by_role("button", name="Record it")
        box = button.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        expect(page.get_by_text("£12.50").first).to_be_visible()
        moved = button.bounding_box()
        assert moved is not None
        assert moved["y"] > box["y"] + box["height"]
        page.mouse.up()
        expect(page).not_to_have_url(re.compile("/payment/new"))
    assert rows(office.service, "select amount::text from payment where customer_id = %s", customer.id) == [("12.50",)]


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
