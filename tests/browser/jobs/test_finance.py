"""What finance does all day, with the number of clicks."""

import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from playwright.sync_api import Browser, expect

from support.accessibility import errors_of
from support.backoffice import BackOfficeSite
from support.billing import due_of, invoiced, number_of, pdf_text, unallocated
from support.browsing import signed_in, tab_in, window
from support.jobs import WAYS, Record, Way, job
from support.orders import at, buy, dispatch, rows
from support.pages import Person, staff_member
from support.service import Customer, Service
from tradecounter.returns.handle_returns import open_return, receive_return
from tradecounter.returns.wire import ReceivedUnits, ReturnedUnits, ReturnRequest


def overdue(service: Service, customer: Customer) -> int:
    """An invoice that has been due for some weeks."""
    with at(service, service.clock.now() - timedelta(days=60)):
        return number_of(service, invoiced(service, customer))


def unplaced_line(person: Person, amount: str, reference: str) -> None:
    """Record a bank file with a line that pays nobody."""
    content = f"date,amount,reference\n2026-06-15,{amount},{reference}\n"
    response = person.http.post(
        "/payment/import",
        data={"once": ""},
        files={"file": ("bank.csv", content.encode(), "text/csv")},
        headers={"Sec-Fetch-Site": "same-origin"},
    )
    person.sends(f"{response.headers['Location']}/apply")


@WAYS
def test_a_received_return_is_credited_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Sends back at {way}")
    placed = invoiced(service, customer, ("PHONE", 2))
    [(item,)] = rows(service, "select id from order_line where order_id = %s", placed["order_id"])
    request = ReturnRequest([ReturnedUnits(item, 1, [])], "Broken")
    now = service.clock.now()
    number = service.in_transaction(lambda tx: open_return(tx, placed["order_reference"], request, now))
    service.in_transaction(lambda tx: receive_return(tx, number, [ReceivedUnits(item, restock=1)], now))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, f"/return/{number}", way, record_property, 3) as work:
        invoice = number_of(service, placed)
        work.click(work.link(f"Credit 1 unit of invoice {invoice}"))
        work.click(work.button("Show the total"))
        work.click(work.page.get_by_role("button", name=re.compile("^Issue it over £")))
        expect(work.page.get_by_text("Credit notes")).to_be_visible()
    assert rows(service, "select count(*) from credit_note where invoice = %s", invoice) == [(1,)]


def test_the_likeliest_place_of_money_is_three_keys_from_its_line(office: BackOfficeSite, browser: Browser) -> None:
    service = office.service
    number = number_of(service, invoiced(service, service.customer(company="Quickly Placed Ltd")))
    person = staff_member(service, office.url, "finance")
    unplaced_line(person, str(due_of(service, number)), "QUICKLY PLACED LTD")
    with window(browser) as context, tab_in(context, [office.url], "three-keys") as tab:
        signed_in(tab, person, office.url)
        tab.open(f"{office.url}/bank-line")
        row = tab.page.get_by_role("row").filter(has_text="QUICKLY PLACED LTD")
        row.get_by_role("rowheader").get_by_role("link").focus()
        for key in ("Tab", "Tab", "Enter"):
            tab.page.keyboard.press(key)
        expect(tab.page.get_by_role("status").filter(has_text="is recorded")).to_be_visible()
    assert due_of(service, number) == 0


@WAYS
def test_a_line_of_a_bank_file_is_placed_by_hand_from_today_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Pays without a number at {way}")
    number = number_of(service, invoiced(service, customer))
    person = staff_member(service, office.url, "finance")
    unplaced_line(person, str(due_of(service, number)), f"for phones by {way}")
    with job(browser, person, office.url, "/", way, record_property, 3) as work:
        work.click(work.page.get_by_role("link", name=re.compile("of bank files to place")))
        row = work.page.get_by_role("row").filter(has_text=f"for phones by {way}")
        work.click(row.get_by_role("rowheader").get_by_role("link"))
        place = work.page.get_by_role("listitem").filter(has_text=f"Pays without a number at {way}")
        work.click(place.get_by_role("button", name="Place it here"))
        expect(work.page.get_by_role("status").filter(has_text="is recorded")).to_be_visible()
    assert due_of(service, number) == 0


@WAYS
def test_an_invoice_is_paid_by_hand_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Pays by card at {way}")
    number = number_of(service, invoiced(service, customer))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, f"/invoice/{number}", way, record_property, 2) as work:
        work.click(work.link("Record a payment"))
        expect(work.page.locator("#pays")).to_contain_text(f"pays invoice {number} in full")
        work.fill(work.page.get_by_label("Bank reference"), f"CARD-{way}")
        work.click(work.button("Record it"))
        expect(work.page).to_have_url(re.compile("/payment/[0-9]+$"))
        expect(work.page.get_by_text(f"CARD-{way}")).to_be_visible()
    assert [due_of(service, number), unallocated(service, customer)] == [0, 0]


@WAYS
def test_a_payment_of_an_account_is_recorded_from_the_list_of_payments_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Pays by cheque at {way}")
    number = number_of(service, invoiced(service, customer))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, "/payment", way, record_property, 2) as work:
        work.click(work.link("Record a payment"))
        form = work.page.get_by_role("dialog", name="Record a payment")
        work.fill(form.get_by_label("Or customer"), f"Pays by cheque at {way}")
        work.fill(form.get_by_label("Amount"), "50")
        work.choose(form.get_by_label("Method"), "cheque")
        expect(form.locator("#pays")).to_contain_text(f"£50.00 pays invoice {number}")
        assert errors_of(work.tab) == []  # though the list behind has fields of the same names
        work.click(work.button("Record it"))
        expect(work.page).to_have_url(re.compile("/payment/[0-9]+$"))
    paid = rows(service, "select amount, method from payment where customer_id = %s", customer.id)
    assert paid == [(50, "cheque")]


@WAYS
def test_a_bank_file_is_recorded_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record, tmp_path: Path
) -> None:
    service = office.service
    customer = service.customer(company=f"Pays by bank at {way}")
    numbers = [number_of(service, invoiced(service, customer)) for _ in range(2)]
    file = tmp_path / f"{way}.csv"
    paid = [f"2026-06-15,{due_of(service, number)},Invoice {number}\n" for number in numbers]
    file.write_text("".join(["date,amount,reference\n", *paid]))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, "/money", way, record_property, 3) as work:
        work.click(work.link("Upload a bank file"))
        work.field("File").set_input_files(file)
        work.click(work.button("Look at the file"))
        expect(work.page.get_by_text("Nothing is recorded yet.")).to_be_visible()
        work.click(work.button("Record 2 payments"))
        expect(work.page.get_by_text("2 payments are recorded.")).to_be_visible()
    assert [due_of(service, number) for number in numbers] == [0, 0]


@WAYS
def test_an_order_is_invoiced_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Has its goods at {way}")
    placed = buy(customer, [("PHONE", 2)])
    dispatch(service, placed)
    path = f"/order/{placed['order_reference']}"
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, path, way, record_property, 2) as work:
        work.click(work.link("Invoice"))
        work.click(work.button("Issue the invoice"))
        expect(work.page.get_by_text(re.compile("Invoice [0-9]+ is issued."))).to_be_visible()
    assert customer.get(path).json()["status"] == "Invoiced"
    assert due_of(service, number_of(service, placed)) == Decimal("127.20")  # two phones, carriage and VAT


@WAYS
def test_several_orders_are_invoiced_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Has many goods at {way}")
    orders = [buy(customer) for _ in range(5)]
    for placed in orders:
        dispatch(service, placed)
    path = f"/order?status=Dispatched&customer_id={customer.id}"
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, path, way, record_property, 3) as work:
        work.click(work.page.get_by_label("All on this page"))
        work.click(work.button("Invoice"))
        work.click(work.button("Issue 5 invoices"))
        expect(work.page.get_by_text("5 orders invoiced")).to_be_visible()
    assert len({number_of(service, placed) for placed in orders}) == 5


@WAYS
def test_an_invoice_is_credited_in_part_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Complains at {way}")
    number = number_of(service, invoiced(service, customer, ("PHONE", 3)))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, f"/invoice/{number}", way, record_property, 3) as work:
        work.click(work.link("Credit"))
        work.fill(work.page.get_by_label(re.compile(r"^PHONE \(3 of 3")), "1")
        work.fill(work.page.get_by_label("Reason"), "One came late")
        work.click(work.button("Show the total"))
        expect(work.page.locator(".outcome")).to_be_focused()
        work.click(work.button("Issue it over £60.00"))
        expect(work.page.get_by_role("heading", name=re.compile("^Credit note [0-9]+$"))).to_be_visible()
    credited = rows(service, "select gross, reason from credit_note where invoice = %s", number)
    assert credited == [(60, "One came late")]


@WAYS
def test_a_debtor_is_reminded_from_the_list_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Forgets at {way}")
    due = due_of(service, overdue(service, customer))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, "/money", way, record_property, 2) as work:
        work.click(work.link(f"Remind Forgets at {way}"))
        expect(work.page.get_by_role("dialog")).to_contain_text(f"1 unpaid invoice, £{due} in all")
        work.click(work.button("Send the reminder"))
        expect(
            work.page.get_by_text(re.compile("The reminder is sent to customer[0-9]+@test.example."))
        ).to_be_visible()
    mails = "select task_name from procrastinate_jobs where (args->>'customer_id')::bigint = %s"
    assert ("mail_debtor_reminded",) in rows(service, mails, customer.id)


@WAYS
def test_a_promise_to_pay_is_noted_from_the_list_of_debtors_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Promises at {way}")
    overdue(service, customer)
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, "/money", way, record_property, 2) as work:
        work.click(work.link(f"Note about Promises at {way}"))
        work.fill(work.field("Promised to pay by (optional)"), "2026-06-19")
        work.click(work.button("Add the note"))
        expect(work.page.get_by_text("To be paid by")).to_be_visible()
    notes = "select text, promised_on::text from customer_note where customer_id = %s"
    assert rows(service, notes, customer.id) == [("Promised to pay.", "2026-06-19")]


@WAYS
def test_a_credit_limit_is_raised_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Grows at {way}", credit="1000.00")
    person = staff_member(office.service, office.url, "finance")
    with job(browser, person, office.url, f"/customer/{customer.id}", way, record_property, 2) as work:
        work.click(work.link("Change the credit terms"))
        work.fill(work.page.get_by_label("Credit limit in pounds"), "2500")
        work.click(work.button("Save"))
        expect(work.page.locator(".tile", has_text="Credit limit")).to_contain_text("£2,500.00")
    terms = "select credit_limit, term_days from customer where id = %s"
    assert rows(office.service, terms, customer.id) == [(2500, 30)]


@WAYS
def test_a_statement_is_seen_and_downloaded_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Wants a statement at {way}")
    number = number_of(service, invoiced(service, customer))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, f"/customer/{customer.id}", way, record_property, 2) as work:
        work.click(work.link("Statement"))
        expect(work.page.get_by_role("rowheader", name=f"Invoice {number}")).to_be_visible()
        with work.page.expect_download() as download:
            work.click(work.link("PDF"))
        text = pdf_text(download.value.path().read_bytes())
    assert f"Wants a statement at {way}" in text
    assert str(number) in text


@WAYS
def test_an_invoice_is_found_by_its_amount_with_one_click(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    units = {"keyboard": 7, "touch": 9}[way]  # so that no other invoice has the amount
    customer = service.customer(company=f"Paid some amount at {way}")
    number = number_of(service, invoiced(service, customer, ("PHONE", units)))
    amount = f"£{due_of(service, number)}"
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, "/", way, record_property, 1) as work:
        work.reach(work.field("Find anything"))
        work.page.keyboard.type(amount)
        work.click(work.page.locator("#found").get_by_role("link", name=f"Invoice {number}"))
        expect(work.page).to_have_url(f"{office.url}/invoice/{number}")
        expect(work.page.get_by_text(amount).first).to_be_visible()


@WAYS
def test_the_vat_of_the_last_quarter_is_read_and_its_documents_downloaded_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Buys in winter at {way}")
    with at(service, service.clock.now() - timedelta(days=90)):
        number = number_of(service, invoiced(service, customer))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, "/money", way, record_property, 3) as work:
        work.click(work.link("VAT"))
        expect(work.page.get_by_text("1 Jan 2026 to 31 Mar 2026")).to_be_visible()
        assert errors_of(work.tab) == []
        work.click(work.page.get_by_role("rowheader").get_by_role("link", name="Invoices"))
        expect(work.page.get_by_role("rowheader", name=str(number))).to_be_visible()
        with work.page.expect_download() as download:
            work.click(work.link("Download as CSV"))
        assert f",invoice,{number}," in download.value.path().read_text()
