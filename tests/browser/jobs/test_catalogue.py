"""What those who keep the catalogue do all day, with the number of clicks."""

from playwright.sync_api import Browser, expect

from support.backoffice import BackOfficeSite
from support.jobs import WAYS, Record, Way, job
from support.orders import rows
from support.pages import staff_member


@WAYS
def test_a_product_with_a_price_is_added_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = f"ADDED-{way}"
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/product", way, record_property, 3) as work:
        work.click(work.link("New product"))
        work.page.get_by_label("SKU", exact=True).fill(sku)
        work.page.get_by_label("Name", exact=True).fill("Added by hand")
        work.page.get_by_label("Manufacturer", exact=True).select_option("acme")
        work.page.get_by_label("default, 1 and more", exact=True).fill("12.50")
        work.click(work.button("Add the product"))
        expect(work.page.get_by_text(f"{sku} is added.")).to_be_visible()
    costs = "select p.single_unit_cost::text from price p join product on id = product_id where sku = %s"
    assert rows(office.service, costs, sku) == [("12.50",)]
