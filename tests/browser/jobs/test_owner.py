"""What the owners of accounts do, with the number of clicks."""

import re
from datetime import timedelta

from playwright.sync_api import Browser, expect

from support.billing import invoiced, number_of, pdf_text
from support.jobs import WAYS, Record, Way, job
from support.orders import at, create, rows
from support.pages import Person, customer_user
from support.pages import browser as client
from support.people import PASSWORD
from support.people import customer_user as user_with_password
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD
from tradecounter.access.sessions import start_session
from tradecounter.edge.pages.page_site import ACCOUNT

NEW_PASSWORD = "a very new way to say please"


def waiting(shop: Service, customer: Customer, reference: str) -> str:
    """An order for whose approval a buyer with a limit has asked; its code."""
    asking = customer_user(shop, customer.id, "buyer")
    rows(shop, "update customer_user set order_limit = 100 where id = %s returning id", asking.id)
    code: str = create(customer, [("PHONE", 4)], customer_reference=reference)["confirmation_code"]
    fields = {"shipping_method": str(STANDARD), "note": "For the new office"}
    assert asking.send(f"/account/new-order/{code}/approval", fields).status_code == 303
    return code


@WAYS
def test_a_colleague_is_invited_with_two_roles_and_a_limit_with_three_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Invites at {way}")
    email = f"colleague-{way}@shop.example"
    person = customer_user(shop, customer.id)
    with job(browser, person, shop.url, "/account/user", way, record_property, 3) as work:
        work.click(work.link("Invite a user"))
        work.fill(work.field("E-mail address"), email)
        work.click(work.page.get_by_label(re.compile("^Accounts")))
        work.fill(work.page.get_by_label(re.compile("^Limit for one order")), "750")
        work.click(work.button("Send the invitation"))
        expect(work.page.get_by_text(f"{email} gets an e-mail with a link")).to_be_visible()
        expect(work.page.get_by_text("orders up to £750.00")).to_be_visible()
    rights = "select role, more_roles, order_limit::text from customer_user where email = %s and customer_id = %s"
    assert rows(shop, rights, email, customer.id) == [("buyer", ["accounts"], "750.00")]


@WAYS
def test_an_order_that_waits_is_approved_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Approves at {way}")
    code = waiting(shop, customer, f"YES-{way}")
    person = customer_user(shop, customer.id)
    with job(browser, person, shop.url, "/account", way, record_property, 2) as work:
        work.click(work.link(f"Approve or decline YES-{way}"))
        work.click(work.button("Confirm the order"))
        expect(work.page.get_by_text("It is confirmed as order")).to_be_visible()
        expect(work.page.get_by_text("Nothing waits for approval. You get an e-mail when it does.")).to_be_visible()
    decided = (
        "select o.state, a.state, decided_by from order_approval a join orders o on o.id = order_id"
        " where confirmation_code = %s"
    )
    assert rows(shop, decided, code) == [("confirmed", "approved", person.id)]


@WAYS
def test_an_order_that_waits_is_declined_with_a_reason_with_three_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Declines at {way}")
    code = waiting(shop, customer, f"NO-{way}")
    person = customer_user(shop, customer.id)
    with job(browser, person, shop.url, "/account", way, record_property, 3) as work:
        work.click(work.link(f"Approve or decline NO-{way}"))
        work.click(work.link("Decline"))
        work.fill(work.field("Reason"), "We have enough phones")
        work.click(work.button("Decline it"))
        expect(work.page.get_by_text("It is declined.")).to_be_visible()
    decided = (
        "select o.state, a.state, reason, decided_by from order_approval a join orders o on o.id = order_id"
        " where confirmation_code = %s"
    )
    assert rows(shop, decided, code) == [("cancelled", "declined", "We have enough phones", person.id)]


@WAYS
def test_a_key_for_a_program_is_made_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Programs at {way}")
    person = customer_user(shop, customer.id)
    with job(browser, person, shop.url, "/account/developer", way, record_property, 2) as work:
        work.click(work.link("New key"))
        work.fill(work.field("Name"), "The warehouse's program")
        work.click(work.button("Make the key"))
        key = work.page.locator("code#key").inner_text()
    response = shop.client(**{"X-Api-Key": key}).get("/customer")
    assert response.status_code == 200
    assert response.json() == customer.get("/customer").json()
    names = "select name from api_key where customer_id = %s and disabled_at is null order by id desc limit 1"
    assert rows(shop, names, customer.id) == [("The warehouse's program",)]


@WAYS
def test_a_webhook_is_added_with_two_clicks(shop: Service, browser: Browser, way: Way, record_property: Record) -> None:
    customer = shop.customer(company=f"Listens at {way}")
    person = customer_user(shop, customer.id)
    url = f"https://erp-{way}.example/hook"
    with job(browser, person, shop.url, "/account/developer/webhook", way, record_property, 2) as work:
        work.click(work.link("New webhook"))
        work.fill(work.field("Address"), url)
        work.fill(work.field("Description"), "Our ERP")
        work.click(work.button("Add it and show its secret"))
        expect(work.page.locator("code#secret")).to_have_text(re.compile(r"^whsec_\S{20,}$"))
    added = "select url, description, state, types from webhook where customer_id = %s"
    assert rows(shop, added, customer.id) == [(url, "Our ERP", "active", [])]


@WAYS
def test_a_saved_address_is_changed_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Moves at {way}")
    saved = customer.post("/customer/address", ADDRESS).json()
    person = customer_user(shop, customer.id)
    with job(browser, person, shop.url, "/account/address", way, record_property, 2) as work:
        work.click(work.link("Change the address of Ada Example, 1 Test Street"))
        work.fill(work.field("House number and street"), "2 Other Street")
        work.fill(work.field("Postcode"), "LS2 2BB")
        work.click(work.button("Save the address"))
        expect(work.page.get_by_text("The address is changed.")).to_be_visible()
        expect(work.page.get_by_text("2 Other Street").first).to_be_visible()
    [address] = customer.get("/customer/address").json()
    assert (address["id"], address["street_one"], address["zip"]) == (saved["id"], "2 Other Street", "LS2 2BB")


@WAYS
def test_the_statement_is_downloaded_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Audits at {way}")
    number = number_of(shop, invoiced(shop, customer, ("PHONE", 2)))
    person = customer_user(shop, customer.id)
    with job(browser, person, shop.url, "/account/invoice", way, record_property, 2) as work:
        work.click(work.link("Statement"))
        expect(work.page.get_by_role("link", name=f"Invoice {number}")).to_be_visible()
        with work.page.expect_download() as download:
            work.click(work.link("PDF"))
        text = pdf_text(download.value.path().read_bytes())
    assert f"Audits at {way}" in text
    assert str(number) in text


@WAYS
def test_what_is_overdue_and_how_to_pay_it_is_seen_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Pays late at {way}")
    with at(shop, shop.clock.now() - timedelta(days=60)):
        late = number_of(shop, invoiced(shop, customer, ("PHONE", 2)))
    new = number_of(shop, invoiced(shop, customer, ("CABLE", 2)))
    person = customer_user(shop, customer.id)
    with job(browser, person, shop.url, "/account", way, record_property, 2) as work:
        work.click(work.link("Pay what is overdue"))
        expect(work.link(str(new))).not_to_be_attached()
        work.click(work.link(str(late)))
        expect(work.page.locator("pre").get_by_text(f"Invoice {late}", exact=True)).to_be_visible()
        [(due,)] = rows(shop, "select gross::text from invoice where number = %s", late)
        expect(work.page.locator("pre").get_by_text(due, exact=True)).to_be_visible()


@WAYS
def test_the_password_is_changed_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    someone = user_with_password(shop, shop.customer(company=f"Secures at {way}").id)
    signed_in = client(shop.url, f"{ACCOUNT.cookie}={someone.sign_in().cookie}")
    person = Person(signed_in, someone.person.id, someone.email, ACCOUNT)
    with job(browser, person, shop.url, "/account/sign-ins", way, record_property, 2) as work:
        work.click(work.link("Change the password"))
        work.fill(work.field("Present password"), PASSWORD)
        work.fill(work.field("New password"), NEW_PASSWORD)
        work.click(work.button("Change the password"))
        expect(work.page.get_by_text("The password is changed.")).to_be_visible()
    assert someone.kind_of_error() is not None
    assert someone.kind_of_error(NEW_PASSWORD) is None


@WAYS
def test_a_session_of_another_browser_is_ended_with_three_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Lost a phone at {way}")
    person = customer_user(shop, customer.id)
    now = shop.clock.now()
    lost, _ = shop.in_transaction(lambda tx: start_session(tx, "account", person.id, "192.0.2.7", "Lost phone", now))
    with job(browser, person, shop.url, "/account", way, record_property, 3) as work:
        work.click(work.page.locator("details.person summary"))
        work.click(work.link("Password and second factor"))
        work.click(work.button("End"))
        expect(work.page.get_by_text("That session has ended.")).to_be_visible()
        expect(work.page.get_by_text("192.0.2.7")).not_to_be_attached()
    assert client(shop.url, f"{ACCOUNT.cookie}={lost}").get("/account").status_code == 303
    assert person.get("/account").status_code == 200
