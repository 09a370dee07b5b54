"""From the first import to an application's consent: the work of a reseller and its customer, in a real browser."""

import base64
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from email.message import EmailMessage
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from support.application_site import application_site
from support.backoffice import BackOfficeSite, backoffice_of
from support.browsing import tab_in, window
from support.cluster import Cluster
from support.consent import challenge_of, register
from support.desk_work import Worker, link_in
from support.mail import deliver_mail
from support.one_of_everything import SELLER
from support.people import PASSWORD, later, staff_member, totp
from support.service import Service, running_service
from support.shop import ADDRESS, METHODS, NEXT_DAY, order

PRODUCTS = "sku,name,manufacturer,weight_kg,purchase_cost\nPHONE,Desk phone,acme,1,30\nCABLE,Patch cable,acme,0.1,1\n"
PRICES = "price_list,sku,single_unit_cost,ten_plus_unit_cost\ndefault,PHONE,50,40\ndefault,CABLE,2,\n"
STOCK = "sku,available\nPHONE,100\nCABLE,1000\n"
BUYER = "ada@shop.example"


@dataclass
class Story:
    """The people of the story, each in a window of their own, and what they have made so far."""

    office: BackOfficeSite
    staff: dict[str, Worker]
    owner: Worker
    stranger: Worker
    mails: list[EmailMessage] = field(default_factory=list)
    totp: bytes = b""
    customer: str = ""
    key: str = ""
    ordered: str = ""
    invoice: str = ""

    @property
    def service(self) -> Service:
        return self.office.service

    def mail(self, recipient: str, subject: str) -> EmailMessage:
        """The latest mail to someone with a text in its subject, after all due jobs are done."""
        addresses = {"base_url": self.service.url, "backoffice_url": self.office.url}
        self.mails += deliver_mail(self.service, **addresses)
        fitting = [mail for mail in self.mails if recipient in mail["To"] and subject in mail["Subject"]]
        assert fitting, [(mail["To"], mail["Subject"]) for mail in self.mails]
        return fitting[-1]

    def refresh(self) -> None:
        self.service.refresh()
        self.office.refresh()


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def story(browser: Browser, postgres: Cluster, request: pytest.FixtureRequest) -> Iterator[Story]:
    with ExitStack() as stack:
        url = stack.enter_context(postgres.database())
        service = stack.enter_context(running_service(url, **SELLER))
        office = stack.enter_context(backoffice_of(service))
        service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
        service.must_load("shipping-methods", METHODS)
        own = [service.url, office.url]

        def worker(name: str, at: str) -> Worker:
            context = stack.enter_context(window(browser, scripts=request.param))
            tab = stack.enter_context(tab_in(context, own, f"story-{name}-{request.param}"))
            return Worker(tab, at, request.param)

        staff = {}
        for role in ("administrator", "support", "warehouse", "finance"):
            staff[role] = worker(role, office.url)
            staff[role].signs_in("/sign-in", staff_member(service, role).email)
        yield Story(office, staff, worker("owner", service.url), worker("stranger", service.url))


def test_the_work_of_a_reseller_and_its_customer(story: Story) -> None:
    the_operator_imports_products(story)
    the_operator_adds_and_invites_a_customer(story)
    the_customer_signs_in_with_a_second_factor(story)
    the_customer_makes_a_key_with_which_a_program_orders(story)
    support_prices_a_quote_that_is_accepted_by_the_link_of_its_mail(story)
    the_warehouse_dispatches_with_serial_numbers(story)
    finance_invoices_takes_a_payment_and_credits_a_return(story)
    the_customer_sees_tracking_and_gets_invoice_and_statement(story)
    an_application_gets_consent(story)


def the_operator_imports_products(story: Story) -> None:
    operator = story.staff["administrator"]
    imported(operator, "broken.csv", PRODUCTS.replace("acme", "nobody"), "manufacturer")
    for name, text in (("products.csv", PRODUCTS), ("prices.csv", PRICES), ("stock.csv", STOCK)):
        imported(operator, name, text)
    story.refresh()
    operator.open("/product/PHONE")
    operator.sees("Desk phone", "£50.00")


def imported(operator: Worker, name: str, text: str, error: str = "") -> None:
    """Upload a file, see what it would change, and apply it; or see an error."""
    operator.open("/import")
    operator.field("file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})
    operator.press("Check the file")
    if error:
        operator.sees("nothing can be applied", error)
        return
    page = operator.tab.page
    apply = page.get_by_role("button", name="Apply ")
    expect(apply).to_be_visible(timeout=20_000)
    apply.click()
    expect(page.get_by_role("heading", name="Applying")).to_have_count(0, timeout=20_000)
    operator.sees("added")


def the_operator_adds_and_invites_a_customer(story: Story) -> None:
    operator = story.staff["administrator"]
    operator.open("/customer")
    operator.follow("Add a customer")
    operator.write(
        {"email_address": "no address", "first_name": "Ada", "last_name": "Example", "company": "Ada's Shop"}
    )
    operator.press("Add the customer")
    operator.sees("correction")
    expect(operator.field("company")).to_have_value("Ada's Shop")
    operator.write({"email_address": "accounts@shop.example", "credit_limit": "5000", "term_days": "30"})
    operator.press("Add the customer")
    operator.arrives("Ada's Shop")
    story.customer = operator.path.removeprefix("/customer/")
    operator.follow("Access")
    operator.form("Invite a user", {"email": BUYER, "role": "owner"}, "Send the invitation")
    operator.sees(BUYER, "has set no password yet")


def the_customer_signs_in_with_a_second_factor(story: Story) -> None:
    owner = story.owner
    owner.open(link_in(story.mail(BUYER, ""), "set-password"))
    owner.write({"password": "short"})
    owner.press("Set the password")
    expect(owner.tab.page.locator(".error")).to_contain_text("12 to 200 characters")
    owner.write({"password": PASSWORD})
    owner.press("Set the password")
    owner.arrives("Sign in")
    owner.signs_in("/account/sign-in", BUYER)
    owner.open("/account/sign-ins/second-factor")
    text = owner.tab.page.locator(".qr + p").inner_text()
    story.totp = base64.b32decode(text.removeprefix("Key:").replace(" ", ""))
    owner.write({"code": totp(story.totp, story.service)})
    owner.press("Turn it on")
    owner.arrives("Your recovery codes")
    owner.open("/account")
    owner.tab.page.locator("details.person summary").click()
    owner.press("Sign out")
    owner.arrives("Sign in")
    later(story.service, seconds=30)
    owner.write({"email": BUYER, "password": PASSWORD})
    owner.press("Sign in")
    owner.arrives("Enter a code")
    owner.write({"code": totp(story.totp, story.service)})
    owner.press("Sign in")
    owner.sees("Ada's Shop")


def the_customer_makes_a_key_with_which_a_program_orders(story: Story) -> None:
    owner = story.owner
    owner.open("/account/developer")
    owner.form("New key", {"name": "Web shop"}, "Make the key")
    owner.arrives("Your new API key")
    story.key = owner.tab.page.locator("#key").inner_text().strip()
    owner.open("/account/developer")
    owner.sees("Web shop")
    assert story.key not in owner.tab.page.content()
    program = story.service.client(**{"X-Api-Key": story.key})
    placed = program.post("/order", json=order([("PHONE", 2)], auto_confirm=True, shipping_method={"id": NEXT_DAY}))
    assert placed.status_code == 201, placed.text
    story.ordered = placed.json()["order_reference"]


def support_prices_a_quote_that_is_accepted_by_the_link_of_its_mail(story: Story) -> None:
    owner, support, stranger = story.owner, story.staff["support"], story.stranger
    owner.open("/account/address/new")
    owner.write({name: ADDRESS[name] for name in ("contact_name", "street_one", "city", "zip")})
    owner.press("Save the address")
    owner.arrives("Addresses")
    owner.open("/account/new-order?quote=true")
    owner.write({"list": "PHONE,10\nCABLE\t10", "customer_reference": "Project 7"})
    owner.press("Request the quote")
    owner.sees("We are working on your price")
    support.open("/quote")
    support.follow("Project 7")
    support.write({"discount": "70"})
    support.press("Send the price")
    expect(support.tab.page.locator(".problems")).to_contain_text("use force to allow it")
    support.write({"discount": "10", "note": "For your first project"})
    support.press("Send the price")
    support.sees("The price is sent to Ada's Shop")
    link = link_in(story.mail("", "Project 7"), "quote-link")
    stranger.open(link)
    stranger.sees("For your first project", "£36.00")
    stranger.write({"shipping_method": str(NEXT_DAY)})
    stranger.press("Accept and order")
    stranger.arrives("Thank you")
    assert stranger.tab.open(link).status == 410
    owner.open("/account/quote")
    owner.sees("Ordered")


def the_warehouse_dispatches_with_serial_numbers(story: Story) -> None:
    warehouse = story.staff["warehouse"]
    warehouse.open(f"/order/{story.ordered}")
    warehouse.follow("Dispatch")
    serials = warehouse.field("items-0-serials")
    if story.owner.scripts:
        serials.press_sequentially("SN-1")
        serials.press("Enter")
        serials.press_sequentially("SN-2")
        serials.press("Enter")
    else:
        serials.fill("SN-1\nSN-2")
    warehouse.write({"items-0-quantity": "2", "tracking_number": "TRACK-9"})
    warehouse.press("Record the shipment")
    warehouse.sees("SN-1, SN-2", "TRACK-9")
    warehouse.form("Add tracking", {"type": "Collected", "description": "On its way"}, "Add the event")
    warehouse.sees("On its way")


def finance_invoices_takes_a_payment_and_credits_a_return(story: Story) -> None:
    finance, support, warehouse = (story.staff[role] for role in ("finance", "support", "warehouse"))
    finance.open(f"/order/{story.ordered}")
    finance.form("Invoice", {}, "Issue the invoice")
    finance.sees("is issued")
    finance.open("/invoice")
    story.invoice = finance.tab.page.locator("main tbody th a").first.inner_text()
    finance.follow(story.invoice)
    finance.follow("Record a payment")
    finance.write({"amount": "20", "reference": "BACS 1"})
    if (show := finance.tab.page.get_by_role("button", name="Show what it pays")).is_visible():  # without scripts
        show.click()
    expect(finance.tab.page.locator(".outcome")).to_contain_text(f"£20.00 pays invoice {story.invoice}")
    finance.press("Record it")
    expect(finance.tab.page.locator(".flash")).to_contain_text("recorded")
    finance.open(f"/invoice/{story.invoice}")
    finance.sees("BACS 1", "£20.00")
    support.open(f"/order/{story.ordered}")
    support.form("Open a return", {"items-0-quantity": "1", "reason": "Broken"}, "Open the return")
    support.sees("RMA-")
    warehouse.open("/return")
    warehouse.tab.page.locator("main tbody th a").first.click()
    warehouse.follow("Receive")
    warehouse.write({"items-0-restock": "0", "items-0-scrap": "1"})
    warehouse.press("Receive these units")
    expect(warehouse.tab.page.locator(".flash")).to_be_visible()
    finance.open("/return?state=received")
    finance.tab.page.locator("main tbody th a").first.click()
    finance.form(f"Credit 1 unit of invoice {story.invoice}", {"reason": "Broken"}, "Show the total")
    finance.press("Issue it over £60.00")
    expect(finance.tab.page.locator(".flash")).to_contain_text("issued")
    finance.open(f"/invoice/{story.invoice}")
    finance.sees("Credit note", "Broken")


def the_customer_sees_tracking_and_gets_invoice_and_statement(story: Story) -> None:
    owner = story.owner
    owner.open(f"/account/order/{story.ordered}")
    owner.sees("TRACK-9", "On its way", "1 returned")
    owner.open("/account/invoice")
    owner.follow(story.invoice)
    assert owner.downloads("PDF").startswith(b"%PDF")
    owner.open("/account/invoice/statement")
    owner.sees("Opening balance", "Closing balance")
    assert owner.downloads("PDF").startswith(b"%PDF")
    assert b"BACS 1" in owner.downloads("CSV")


def an_application_gets_consent(story: Story) -> None:
    with application_site() as application:
        registered = register(story.service, application.url)
        story.owner.tab.own.add(application.url.removesuffix("/callback"))
        request = {
            "response_type": "code",
            "client_id": registered.client_id,
            "redirect_uri": application.url,
            "state": "some state",
            "code_challenge": challenge_of("v" * 43),
            "code_challenge_method": "S256",
        }
        story.owner.open(f"/auth/authorize?{urlencode(request)}")
        story.owner.press("Allow")
        assert "code" in application.arrival()
        story.owner.open("/account/developer/application")
        story.owner.sees("ERP")
