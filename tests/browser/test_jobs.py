"""What staff and buyers do all day, with the number of clicks; by mouse at a desk, and by touch on a phone.

Typing is no click: fields are reached by keys. The report of the tests names the clicks of each job.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from support.accessibility import all_serious_errors
from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import invoiced, number_of
from support.browsing import Tab, signed_in, tab_in, window
from support.orders import buy, rows, sell
from support.pages import Person, customer_user, staff_member
from support.reseller_twin import SELLER
from support.service import Service
from support.shop import ADDRESS
from tradecounter.returns.open_return import open_return
from tradecounter.returns.receive_return import receive_return
from tradecounter.returns.requests import ReceivedUnits, ReturnedUnits, ReturnRequest

Record = Callable[[str, object], None]

DESK, PHONE = 1280, 390
WIDTHS = pytest.mark.parametrize("width", [DESK, PHONE])


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    """A back office that may issue invoices."""
    with backoffice_of(shop, **SELLER) as running:
        yield running


@dataclass
class Job:
    """A job in a tab; counts the clicks."""

    tab: Tab
    width: int
    clicks: int = 0

    @property
    def page(self) -> Page:
        return self.tab.page

    def click(self, target: Locator) -> None:
        """Click, or touch on a phone."""
        self.clicks += 1
        if self.width == PHONE:
            target.tap()
        else:
            target.click()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def link(self, name: str) -> Locator:
        return self.page.get_by_role("link", name=name, exact=True)


@contextmanager
def job(browser: Browser, person: Person, url: str, path: str, width: int, record: Record, most: int) -> Iterator[Job]:
    """A job that begins at a page and may take so many clicks."""
    with window(browser, width=width) as context, tab_in(context, [url], "job") as tab:
        signed_in(tab, person, url)
        tab.open(f"{url}{path}")
        working = Job(tab, width)
        yield working
        assert all_serious_errors(tab) == []
        assert not tab.is_too_wide
        record("clicks", f"{working.clicks} of at most {most}")
        assert working.clicks <= most


@WIDTHS
def test_ten_orders_are_dispatched_with_four_clicks(
    office: BackOfficeSite, browser: Browser, width: int, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Ten orders at {width}")
    names = [buy(customer)["order_reference"] for _ in range(10)]
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, f"/order?customer_id={customer.id}", width, record_property, 4) as work:
        work.click(work.page.get_by_label("All on this page"))
        expect(work.page.get_by_text("10 chosen")).to_be_visible()
        work.click(work.button("Dispatch"))
        expect(work.page.locator("input[name=orders-0-tracking_number]")).to_be_focused()
        work.page.wait_for_load_state("networkidle")
        for number in range(10):
            work.page.keyboard.type(f"PARCEL-{number}")
            work.page.keyboard.press("Enter")
        work.click(work.button("Record 10 shipments"))
        expect(work.page.get_by_text("10 orders dispatched")).to_be_visible()
    orders = [customer.get(f"/order/{name}").json() for name in names]
    assert {order["status"] for order in orders} == {"Dispatched"}
    assert len({order["shipping"][0]["tracking_number"] for order in orders}) == 10


@WIDTHS
def test_a_phone_order_by_product_words_takes_four_clicks(
    office: BackOfficeSite, browser: Browser, width: int, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Caller at {width}")
    customer.post("/customer/address", ADDRESS)
    person = staff_member(office.service, office.url, "support")
    with job(browser, person, office.url, f"/order/new/{customer.id}", width, record_property, 4) as work:
        page = work.page
        page.get_by_label("SKU or words of line 1", exact=True).fill("acme phone")
        work.click(page.locator("button[name=pick-0][value=PHONE]"))
        expect(page.get_by_label("Units of line 1", exact=True)).to_be_focused()
        page.keyboard.type("3")
        page.get_by_label("Their reference").fill(f"CALL-{width}")
        work.click(work.button("Create the order"))
        expect(page).to_have_url(re.compile("/confirm$"))
        work.click(page.locator("#form button[type=submit].main"))
        expect(page.get_by_text("is confirmed.")).to_be_visible()
    ordered = "select quantity from order_line l join orders o on o.id = order_id where customer_id = %s"
    assert rows(office.service, ordered, customer.id) == [(3,)]


@WIDTHS
def test_an_order_is_repeated_with_one_change_with_three_clicks(
    shop: Service, browser: Browser, width: int, record_property: Record
) -> None:
    customer = shop.customer(company=f"Again at {width}")
    placed = buy(customer, [("PHONE", 1), ("CABLE", 2)])
    person = customer_user(shop, customer.id)
    path = f"/account/order/{placed['order_reference']}"
    with job(browser, person, shop.url, path, width, record_property, 3) as work:
        work.click(work.link("Order again"))
        work.page.locator("input[name$='-quantity']").first.fill("5")
        work.page.get_by_label(re.compile("reference")).first.fill(f"AGAIN-{width}")
        work.click(work.button("Continue to shipping"))
        expect(work.page).to_have_url(re.compile("/account/new-order/[0-9a-f]{32}$"))
        work.click(work.page.get_by_role("button", name=re.compile("^Confirm")))
        expect(work.page).to_have_url(re.compile("/account/order/[A-Z]+-[0-9]+$"))
    [(units,)] = rows(
        shop,
        "select sum(l.quantity)::int from order_line l join orders o on o.id = order_id"
        " where customer_id = %s and o.confirmed_at is not null and o.order_reference <> %s",
        customer.id,
        placed["order_reference"],
    )
    assert units == 7


@WIDTHS
def test_a_received_return_is_credited_with_three_clicks(
    office: BackOfficeSite, browser: Browser, width: int, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Sends back at {width}")
    placed = invoiced(service, customer, ("PHONE", 2))
    [(item,)] = rows(service, "select id from order_line where order_id = %s", placed["order_id"])
    request = ReturnRequest([ReturnedUnits(item, 1, [])], "Broken")
    now = service.clock.now()
    number = service.in_transaction(lambda tx: open_return(tx, placed["order_reference"], request, now))
    service.in_transaction(lambda tx: receive_return(tx, number, [ReceivedUnits(item, restock=1)], now))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, f"/return/{number}", width, record_property, 3) as work:
        invoice = number_of(service, placed)
        work.click(work.link(f"Credit 1 unit of invoice {invoice}"))
        work.click(work.button("Show the total"))
        work.click(work.page.get_by_role("button", name=re.compile("^Issue it over £")))
        expect(work.page.get_by_text("Credit notes")).to_be_visible()
    assert rows(service, "select count(*) from credit_note where invoice = %s", invoice) == [(1,)]


@WIDTHS
def test_a_product_with_a_price_is_added_with_three_clicks(
    office: BackOfficeSite, browser: Browser, width: int, record_property: Record
) -> None:
    sku = f"ADDED-{width}"
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/product", width, record_property, 3) as work:
        work.click(work.link("New product"))
        work.page.get_by_label("SKU", exact=True).fill(sku)
        work.page.get_by_label("Name", exact=True).fill("Added by hand")
        work.page.get_by_label("Manufacturer", exact=True).select_option("acme")
        work.page.get_by_label("default, 1 and more", exact=True).fill("12.50")
        work.click(work.button("Add the product"))
        expect(work.page.get_by_text(f"{sku} is added.")).to_be_visible()
    costs = "select p.single_unit_cost::text from price p join product on id = product_id where sku = %s"
    assert rows(office.service, costs, sku) == [("12.50",)]


@WIDTHS
def test_a_delivery_is_booked_in_with_two_clicks(
    office: BackOfficeSite, browser: Browser, width: int, record_property: Record
) -> None:
    sku = sell(office.service, f"COMES-{width}", 10)
    office.service.must_load("incoming", [{"sku": sku, "incoming": 8, "expected_on": "2026-07-01"}])
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, f"/goods-in?query={sku}", width, record_property, 2) as work:
        work.page.get_by_label(f"Units of {sku} that are there").fill("8")
        work.click(work.button("Book in"))
        expect(work.page.get_by_text("8 units of 1 product booked in.")).to_be_visible()
