"""What the warehouse does all day, with the number of clicks."""

from playwright.sync_api import Browser, expect

from support.backoffice import BackOfficeSite
from support.jobs import WAYS, Record, Way, job
from support.orders import buy, sell
from support.pages import staff_member


@WAYS
def test_ten_orders_are_dispatched_with_four_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = office.service.customer(company=f"Ten orders by {way}")
    names = [buy(customer)["order_reference"] for _ in range(10)]
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, f"/order?customer_id={customer.id}", way, record_property, 4) as work:
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


@WAYS
def test_a_delivery_is_booked_in_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"COMES-{way}", 10)
    office.service.must_load("incoming", [{"sku": sku, "incoming": 8, "expected_on": "2026-07-01"}])
    person = staff_member(office.service, office.url, "warehouse")
    with job(browser, person, office.url, f"/goods-in?query={sku}", way, record_property, 2) as work:
        work.page.get_by_label(f"Units of {sku} that are there").fill("8")
        work.click(work.button("Book in"))
        expect(work.page.get_by_text("8 units of 1 product booked in.")).to_be_visible()
