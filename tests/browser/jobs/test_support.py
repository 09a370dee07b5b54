"""What support does all day, with the number of clicks."""

import re

from playwright.sync_api import Browser, expect

from support.backoffice import BackOfficeSite
from support.jobs import WAYS, Job, Record, Way, job
from support.orders import buy, dispatch, lines, rows
from support.pages import customer_user, fields_of, staff_member, text_of
from support.shop import ADDRESS


def find(work: Job, text: str) -> None:
    """Go to *Find anything* and type."""
    work.reach(work.field("Find anything"))
    work.page.keyboard.type(text)


@WAYS
def test_an_order_is_found_by_a_part_of_its_purchase_order_number_without_a_click(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    digits = {"keyboard": "7731", "touch": "8842"}[way]
    customer = office.service.customer(company=f"Knows the number at {way}")
    name = buy(customer, customer_reference=f"PO-2026/{digits}-B")["order_reference"]
    buy(customer, customer_reference="PO-2026/1100-B")
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, "/", way, record_property, 0) as work:
        find(work, digits)
        expect(work.page.locator("#found a")).to_have_text([name])
        work.page.keyboard.press("Enter")
        expect(work.page).to_have_url(f"{office.url}/order/{name}")
        expect(work.page.get_by_text(f"PO-2026/{digits}-B").first).to_be_visible()


@WAYS
def test_a_customer_is_found_by_a_phone_number_without_a_click(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    number = {"keyboard": "496 0101", "touch": "496 0102"}[way]
    customer = office.service.customer(company=f"Rings at {way}")
    response = customer.post("/customer/address", {**ADDRESS, "contact_number": f"+44 113 {number}"})
    assert response.status_code == 201, response.text
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, "/", way, record_property, 0) as work:
        find(work, f"(0113) {number}")
        expect(work.page.locator("#found a")).to_have_text([f"Rings at {way}"])
        work.page.keyboard.press("Enter")
        expect(work.page).to_have_url(f"{office.url}/customer/{customer.id}")
        expect(work.page.get_by_role("heading", name=f"Rings at {way}", exact=True)).to_be_visible()


@WAYS
def test_a_phone_order_by_product_words_takes_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Caller at {way}")
    customer.post("/customer/address", ADDRESS)
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, f"/order/new/{customer.id}", way, record_property, 3) as work:
        page = work.page
        work.fill(page.get_by_label("SKU or words 1", exact=True), "acme phone")
        work.click(page.locator("button[name=pick-0][value=PHONE]"))
        expect(page.get_by_label("Units of PHONE", exact=True)).to_be_focused()
        page.keyboard.type("3")
        work.fill(page.get_by_label("Their reference"), f"CALL-{way}")
        work.click(work.button("Continue to shipping"))
        expect(page).to_have_url(re.compile("/confirm$"))
        work.click(page.locator("#form button[type=submit].main"))
        expect(page.get_by_text("is confirmed.")).to_be_visible()
    ordered = "select quantity from order_line l join orders o on o.id = order_id where customer_id = %s"
    assert rows(office.service, ordered, customer.id) == [(3,)]


@WAYS
def test_a_caller_gets_a_quote_with_ten_per_cent_off_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Asks for a price at {way}")
    customer.post("/customer/address", ADDRESS)
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, f"/customer/{customer.id}", way, record_property, 3) as work:
        work.click(work.link("New order"))
        work.fill(work.field("SKU or words 1"), "PHONE")
        work.fill(work.field("Units 1"), "4")
        work.fill(work.page.get_by_label("Their reference"), f"QUOTE-{way}")
        work.click(work.button("Create a quote instead"))
        work.fill(work.field("Discount for all other lines, in per cent"), "10")
        expect(work.page.locator("#totals")).to_contain_text("£180.00")
        work.click(work.button("Send the price"))
        expect(work.page.get_by_text(f"The price is sent to Asks for a price at {way}.")).to_be_visible()
    [(code,)] = rows(office.service, "select confirmation_code from orders where customer_id = %s", customer.id)
    quote = customer.get(f"/quote/{code}").json()
    assert (quote["status"], quote["cost_net"]) == ("Priced", 180)


@WAYS
def test_units_of_an_order_are_amended_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Wants more at {way}")
    placed = buy(customer, [("PHONE", 2), ("CABLE", 1)])
    path = f"/order/{placed['order_reference']}"
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, path, way, record_property, 2) as work:
        work.click(work.link("Amend"))
        work.fill(work.field("Units of PHONE"), "4")
        expect(work.page.get_by_text("Nothing is changed yet.")).to_be_visible()
        work.click(work.button("Amend the order"))
        expect(work.page).to_have_url(f"{office.url}{path}")
        expect(work.page.locator("main")).to_contain_text("£200.00")
    assert lines(office.service, placed) == [("PHONE", 4, 0), ("CABLE", 1, 0)]


@WAYS
def test_a_line_of_an_order_is_cancelled_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Wants less at {way}")
    placed = buy(customer, [("PHONE", 2), ("CABLE", 3)])
    path = f"/order/{placed['order_reference']}"
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, path, way, record_property, 2) as work:
        work.click(work.link("Cancel"))
        work.fill(work.field("CABLE (3 left)"), "3")
        work.fill(work.page.get_by_label("Reason"), "Ordered twice")
        expect(work.page.get_by_text("Nothing is cancelled yet.")).to_be_visible()
        work.click(work.button("Cancel these units"))
        expect(work.page.get_by_text("The units are cancelled.")).to_be_visible()
        expect(work.page.get_by_text("3 cancelled", exact=True)).to_be_visible()
    assert lines(office.service, placed) == [("PHONE", 2, 0), ("CABLE", 0, 0)]


@WAYS
def test_an_order_is_sent_to_another_address_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Has moved at {way}")
    path = f"/order/{buy(customer)['order_reference']}"
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, path, way, record_property, 3) as work:
        work.click(work.link("Amend"))
        work.click(work.page.locator("summary", has_text="Change the delivery address"))
        work.fill(work.field("Recipient"), "Ada Example")
        work.fill(work.field("House number and street"), "9 New Road")
        work.fill(work.field("Town"), "York")
        work.fill(work.field("Postcode"), "YO1 7HH")
        work.click(work.button("Amend the order"))
        expect(work.page).to_have_url(f"{office.url}{path}")
        expect(work.page.locator("address").first).to_contain_text("9 New Road")
    address = customer.get(path).json()["shipping_address"]
    assert (address["street_one"], address["city"], address["zip"]) == ("9 New Road", "York", "YO1 7HH")


@WAYS
def test_a_request_is_answered_from_today_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Has a question at {way}")
    asked = f"/account/order/{buy(customer)['order_reference']}"
    buyer = customer_user(office.service, customer.id, "buyer")
    buyer.sends(f"{asked}/ask/message", {"text": "When does it come?"})
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, "/", way, record_property, 3) as work:
        work.click(work.page.get_by_role("link", name=re.compile("to answer$")))
        row = work.page.get_by_role("row").filter(has_text=f"Has a question at {way}")
        work.click(row.get_by_role("rowheader").get_by_role("link"))
        work.fill(work.page.get_by_label("What the customer is told"), "On Friday.")
        work.click(work.button("Send and close"))
        expect(work.page.get_by_text("The request is closed, and the answer sent.")).to_be_visible()
    assert "Answer: On Friday." in text_of(buyer.get(asked))


@WAYS
def test_a_return_is_opened_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Has a broken one at {way}")
    placed = buy(customer, [("PHONE", 3)])
    dispatch(office.service, placed)
    path = f"/order/{placed['order_reference']}"
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, path, way, record_property, 2) as work:
        work.click(work.link("Open a return"))
        work.fill(work.field("Units (3 dispatched)"), "1")
        work.fill(work.page.get_by_label("Reason"), "The screen is broken")
        work.click(work.button("Open the return"))
        expect(work.page.get_by_text("Ask the customer to write the number on the parcel.")).to_be_visible()
    opened = (
        "select r.state, reason, quantity from order_return r join return_line on return_id = r.id where order_id = %s"
    )
    assert rows(office.service, opened, placed["order_id"]) == [("open", "The screen is broken", 1)]


@WAYS
def test_a_return_is_opened_from_the_request_for_it_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Sends one back at {way}")
    placed = buy(customer, [("PHONE", 3)])
    dispatch(service, placed)
    asked = f"/account/order/{placed['order_reference']}/ask/return"
    buyer = customer_user(service, customer.id, "buyer")
    buyer.sends(asked, {**fields_of(buyer.get(asked)), "items-0-quantity": "1", "text": "It hums"})
    [(request,)] = rows(service, "select id from customer_request where order_id = %s", placed["order_id"])
    person = staff_member(service, office.url, "support")
    with job(browser, person, office.url, f"/request/{request}", way, record_property, 2) as work:
        work.click(work.link("Open a return"))
        form = work.page.get_by_role("dialog", name=f"Return units of {placed['order_reference']}")
        work.fill(form.get_by_label("Units (3 dispatched)"), "1")
        work.fill(form.get_by_label("Reason"), "It hums")
        work.click(work.button("Open the return"))
        expect(work.page).to_have_url(re.compile("/return/RMA-[0-9]+$"))
    opened = rows(service, "select reason from order_return where order_id = %s", placed["order_id"])
    assert opened == [("It hums",)]


@WAYS
def test_what_a_customer_said_is_noted_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Has said something at {way}")
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, f"/customer/{customer.id}", way, record_property, 3) as work:
        work.click(work.link("Timeline"))
        work.click(work.link("Add a note"))
        work.fill(work.field("Note"), "The gate is closed on Mondays")
        work.click(work.button("Add the note"))
        expect(work.page.get_by_role("rowheader", name="The gate is closed on Mondays")).to_be_visible()
    notes = rows(office.service, "select text from customer_note where customer_id = %s", customer.id)
    assert notes == [("The gate is closed on Mondays",)]


@WAYS
def test_a_contact_is_added_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Has a new clerk at {way}")
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, f"/customer/{customer.id}", way, record_property, 2) as work:
        work.click(work.link("Add a contact"))
        work.fill(work.field("Name"), "Grace Clerk")
        work.fill(work.field("For"), "deliveries")
        work.fill(work.field("Phone"), "0113 496 0999")
        work.click(work.button("Save"))
        expect(work.page.get_by_text("The contact is added.")).to_be_visible()
        expect(work.link("0113 496 0999")).to_be_visible()
    people = "select name, task, phone from customer_contact where customer_id = %s"
    assert rows(office.service, people, customer.id) == [("Grace Clerk", "deliveries", "0113 496 0999")]


@WAYS
def test_a_buyer_is_invited_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Has a new buyer at {way}")
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, f"/customer/{customer.id}", way, record_property, 3) as work:
        work.click(work.link("Access"))
        work.click(work.link("Invite a user"))
        work.fill(work.page.get_by_label("E-mail"), f"buyer-{way}@new.example")
        work.click(work.button("Send the invitation"))
        expect(work.page.get_by_text(f"An invitation is on its way to buyer-{way}@new.example.")).to_be_visible()
    users = "select email, role from customer_user where customer_id = %s and role <> 'owner'"
    assert rows(office.service, users, customer.id) == [(f"buyer-{way}@new.example", "buyer")]
