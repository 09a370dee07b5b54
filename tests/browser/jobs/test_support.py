"""What support does all day, with the number of clicks."""

import re

from playwright.sync_api import Browser, expect

from support.backoffice import BackOfficeSite
from support.jobs import WAYS, Record, Way, job
from support.orders import rows
from support.pages import staff_member
from support.shop import ADDRESS


@WAYS
def test_a_phone_order_by_product_words_takes_four_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Caller at {way}")
    customer.post("/customer/address", ADDRESS)
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, f"/order/new/{customer.id}", way, record_property, 4) as work:
        page = work.page
        page.get_by_label("SKU or words of line 1", exact=True).fill("acme phone")
        work.click(page.locator("button[name=pick-0][value=PHONE]"))
        expect(page.get_by_label("Units of line 1", exact=True)).to_be_focused()
        page.keyboard.type("3")
        page.get_by_label("Their reference").fill(f"CALL-{way}")
        work.click(work.button("Create the order"))
        expect(page).to_have_url(re.compile("/confirm$"))
        work.click(page.locator("#form button[type=submit].main"))
        expect(page.get_by_text("is confirmed.")).to_be_visible()
    ordered = "select quantity from order_line l join orders o on o.id = order_id where customer_id = %s"
    assert rows(office.service, ordered, customer.id) == [(3,)]
