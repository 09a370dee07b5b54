"""What those who keep the catalogue do all day, with the number of clicks."""

import re
from decimal import Decimal
from typing import Any

from playwright.sync_api import Browser, expect

from support.backoffice import BackOfficeSite
from support.jobs import WAYS, Job, Record, Way, job
from support.orders import level, rows, sell
from support.pages import fields_of, staff_member
from support.service import Customer
from support.shop import price

EANS = {"keyboard": "5012345678900", "touch": "4006381333931"}


def find(work: Job, text: str) -> None:
    """Type a text into the search box, and Enter: the only hit opens."""
    work.fill(work.field("Find anything"), text)
    work.page.keyboard.press("Enter")


def check_file(work: Job, name: str, text: str) -> None:
    """Choose a file on the page of imports and let it be checked."""
    work.field("File").set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})
    work.click(work.button("Check the file"))
    expect(work.page.locator("h1")).to_have_text(name)


def as_seen_by(customer: Customer, office: BackOfficeSite, sku: str) -> Any:
    """A product as a customer's program gets it now, or None."""
    office.service.refresh()
    response = customer.get(f"/product/{sku}")
    return response.json(parse_float=Decimal) if response.status_code == 200 else None


@WAYS
def test_a_product_with_a_price_is_added_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = f"ADDED-{way}"
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/product", way, record_property, 3) as work:
        work.click(work.link("New product"))
        work.fill(work.page.get_by_label("SKU", exact=True), sku)
        work.fill(work.page.get_by_label("Name", exact=True), "Added by hand")
        work.choose(work.page.get_by_label("Manufacturer", exact=True), "acme")
        work.fill(work.page.get_by_label("default, 1 and more", exact=True), "12.50")
        work.click(work.button("Add the product"))
        expect(work.page.get_by_text(f"{sku} is added.")).to_be_visible()
    costs = "select p.single_unit_cost::text from price p join product on id = product_id where sku = %s"
    assert rows(office.service, costs, sku) == [("12.50",)]


@WAYS
def test_the_price_of_a_product_is_changed_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"DEARER-{way}", "19.90")
    customer = office.service.customer(company=f"Pays more by {way}")
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/", way, record_property, 2) as work:
        find(work, sku)
        work.click(work.link("Change"))
        expect(work.field("default, 1 and more")).to_have_value("19.90")
        work.fill(work.field("default, 1 and more"), "21.50")
        work.fill(work.field("default, 10 and more"), "18")
        work.click(work.button("Save"))
        expect(work.page.locator(".flash")).to_contain_text(f"{sku} is changed.")
        prices = work.page.get_by_role("region", name="Price lists").locator("tbody tr")
        expect(prices).to_contain_text("£21.50")
    found = as_seen_by(customer, office, sku)
    assert (found["single_unit_cost"], found["ten_plus_unit_cost"]) == (Decimal("21.50"), Decimal(18))


@WAYS
def test_a_product_is_taken_off_sale_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"ENDED-{way}")
    customer = office.service.customer(company=f"Sees it no more by {way}")
    assert as_seen_by(customer, office, sku)
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/", way, record_property, 3) as work:
        find(work, sku)
        work.click(work.link("Change"))
        work.click(work.field("Customers see it"))
        work.click(work.button("Save"))
        expect(work.page.locator(".flash")).to_have_text(f"{sku} is changed.")
        expect(work.page.locator(".heading .badge")).to_have_text("not sold")
    assert as_seen_by(customer, office, sku) is None


@WAYS
def test_two_products_are_taken_off_sale_with_four_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    skus = [sell(office.service, f"BOTH-ENDED-{way}-{number}") for number in range(2)]
    customer = office.service.customer(company=f"Sees neither by {way}")
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, f"/product?query=both-ended-{way}", way, record_property, 4) as work:
        for sku in skus:
            work.click(work.field(f"Choose {sku}"))
        work.click(work.button("Change them"))
        work.choose(work.field("Customers see it"), "false")
        work.click(work.button("Change the products"))
        expect(work.page.locator(".flash")).to_contain_text("2 products are changed.")
        expect(work.page.locator("tbody .badge")).to_have_text(["not sold"] * 2)
    assert [as_seen_by(customer, office, sku) for sku in skus] == [None, None]


@WAYS
def test_a_price_list_file_is_checked_and_applied_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    one, other = (sell(office.service, f"{name}-{way}", 10) for name in ("LISTED", "UNLISTED"))
    customer = office.service.customer(company=f"New list by {way}")
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/", way, record_property, 3) as work:
        work.click(work.link("Import a file"))
        check_file(work, "prices.csv", f"price_list,sku,single_unit_cost\ndefault,{one},12.50\ndefault,{other},10\n")
        changes = work.page.get_by_role("region", name="What would change").locator("tbody tr")
        expect(changes).to_have_count(1)
        expect(changes).to_contain_text(re.compile(rf"{one}.*\+25%.*£10.00 → £12.50", re.DOTALL))
        work.click(work.button("Apply 1 change"))
        expect(work.page.locator(".flash")).to_have_text("prices.csv is applied. It can be rolled back.")
    costs = [as_seen_by(customer, office, sku)["single_unit_cost"] for sku in (one, other)]
    assert costs == [Decimal("12.50"), Decimal(10)]


@WAYS
def test_the_latest_import_is_rolled_back_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"REGRETTED-{way}", 10)
    office.service.must_load("price-list", [price(sku, 14)])
    customer = office.service.customer(company=f"Old prices by {way}")
    assert as_seen_by(customer, office, sku)["single_unit_cost"] == 14
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/", way, record_property, 3) as work:
        work.click(work.link("Price list").first)
        expect(work.page.get_by_role("region", name="What the import changed")).to_contain_text(sku)
        work.click(work.link("Roll it back"))
        work.click(work.button("Roll it back"))
        expect(work.page.locator(".flash")).to_have_text("The import is rolled back: 1 record restored.")
        expect(work.page.locator(".heading .badge")).to_have_text("rolled back")
    assert as_seen_by(customer, office, sku)["single_unit_cost"] == 10


@WAYS
def test_a_product_is_found_by_its_scanned_ean_without_a_click(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"SCANNED-{way}", "33.10", available=7, ean=EANS[way])
    office.refresh()
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/import", way, record_property, 0) as work:
        find(work, EANS[way])
        expect(work.page.locator("h1")).to_have_text(sku)
        expect(work.page.locator(".tile", has_text="Available")).to_contain_text("7")
        expect(work.page.get_by_role("region", name="Price lists")).to_contain_text("£33.10")


@WAYS
def test_a_variant_of_a_product_is_added_with_its_stock_with_two_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku, variant = sell(office.service, f"BLACK-{way}", "42.00", description="A phone."), f"WHITE-{way}"
    customer = office.service.customer(company=f"Wants it white by {way}")
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/", way, record_property, 2) as work:
        find(work, sku)
        work.click(work.link("Add one like it"))
        expect(work.field("SKU")).to_be_focused()
        work.page.keyboard.type(variant)
        work.fill(work.field("Name"), "The white one")
        work.fill(work.field("Units in stock"), "25")
        work.fill(work.field("Place"), "A-03-2")
        work.click(work.button("Add the product"))
        expect(work.page.locator(".flash")).to_have_text(f"{variant} is added.")
        expect(work.page.locator(".tile", has_text="Place")).to_contain_text("A-03-2")
    found = as_seen_by(customer, office, variant)
    assert (found["name"], found["description"]) == ("The white one", "A phone.")
    assert found["single_unit_cost"] == 42
    assert level(office.service, variant) == (25, 0, 0)


@WAYS
def test_the_description_of_a_product_is_changed_with_two_clicks_and_one_that_opens_it_on_a_phone(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"DESCRIBED-{way}", description="It rings.")
    customer = office.service.customer(company=f"Reads it by {way}")
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/", way, record_property, 2 + (way == "touch")) as work:
        find(work, sku)
        work.click(work.link("Change"))
        if way == "touch":
            work.click(work.page.locator("summary", has_text="Texts"))
        expect(work.field("Description")).to_have_value("It rings.")
        work.fill(work.field("Description"), "It rings.\nIt also hums.")
        work.click(work.button("Save"))
        expect(work.page.locator(".flash")).to_have_text(f"{sku} is changed.")
    assert as_seen_by(customer, office, sku)["description"] == "It rings.\nIt also hums."


@WAYS
def test_attributes_are_changed_and_added_with_three_clicks_and_one_that_opens_them_on_a_phone(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    shades = [{"value": "Black"}, {"value": "White"}]
    service.must_load(
        "attributes",
        [
            {"key": "shade", "name": "Shade", "type": "string", "possible_values": shades},
            {"key": "reach", "name": "Reach (m)", "type": "int"},
            {"key": "indoors", "name": "Indoors", "type": "boolean"},
        ],
    )
    sku = sell(service, f"ATTRIBUTED-{way}", attributes={"shade": "Black", "reach": "30"})
    person = staff_member(service, office.url, "catalogue")
    with job(browser, person, office.url, "/", way, record_property, 3 + (way == "touch")) as work:
        find(work, sku)
        work.click(work.link("Change"))
        if way == "touch":
            work.click(work.page.locator("summary", has_text="Attributes"))
        expect(work.field("Shade, another value")).to_be_hidden()
        work.choose(work.field("Shade"), "another value")
        work.fill(work.field("Shade, another value"), "Teal")
        work.fill(work.field("Reach (m)"), "1,200")
        work.choose(work.field("Add an attribute"), "indoors")
        work.click(work.button("Add it"))
        expect(work.field("Indoors")).to_be_focused()
        expect(work.field("Shade, another value")).to_have_value("Teal")
        work.choose(work.field("Indoors"), "true")
        work.click(work.button("Save"))
        expect(work.page.locator(".flash")).to_have_text(f"{sku} is changed.")
    stored = {"shade": "Teal", "reach": "1200", "indoors": "true"}
    assert rows(service, "select attributes from product where sku = %s", sku) == [(stored,)]


@WAYS
def test_a_synonym_from_a_file_finds_a_product_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    words = f"zapper{way}, blinkbox{way}"
    sku = sell(office.service, f"MEANT-{way}", name=f"Blinkbox{way}")
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/", way, record_property, 3) as work:
        work.click(work.link("Import a file"))
        check_file(work, "synonyms.csv", f'words\n"{words}"\n')
        work.click(work.button("Apply 1 change"))
        expect(work.page.locator(".flash")).to_have_text("synonyms.csv is applied. It can be rolled back.")
        office.refresh()
        find(work, f"zapper{way}")
        expect(work.page.locator("h1")).to_have_text(sku)
    assert rows(office.service, "select active from synonym_group where words = %s", words) == [(True,)]


@WAYS
def test_who_changed_a_product_is_seen_without_a_click(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(office.service, f"RENAMED-{way}")
    other = staff_member(office.service, office.url, "catalogue", name=f"Olga by {way}")
    shown = fields_of(other.get(f"/product-form?sku={sku}"))
    other.sends("/product-form", shown | {"name": "Another name"})
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/", way, record_property, 0) as work:
        find(work, sku)
        history = work.page.locator("section.panel", has_text="History").locator(".history li")
        expect(history).to_contain_text(["changed the product"])
        expect(history).to_contain_text([other.email])
    assert rows(office.service, "select name from product where sku = %s", sku) == [("Another name",)]


@WAYS
def test_a_manufacturers_prices_are_raised_by_a_rule_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    maker = f"maker-{way}"
    office.service.must_load("manufacturers", [{"key": maker, "name": f"Maker by {way}"}])
    sku = sell(office.service, f"RULED-{way}", "19.90", manufacturer=maker)
    person = staff_member(office.service, office.url, "catalogue")
    with job(browser, person, office.url, "/product", way, record_property, 3) as work:
        work.click(work.link("Change prices"))
        work.choose(work.page.get_by_label("Manufacturer", exact=True), maker)
        work.fill(work.field("By"), "10")
        work.click(work.button("Show what would change"))
        expect(work.page.get_by_text("£21.89")).to_be_visible()
        work.click(work.button("Apply 1 change"))
        expect(work.page.locator(".flash")).to_contain_text("It can be rolled back.")
    costs = "select p.single_unit_cost::text from price p join product on id = product_id where sku = %s"
    assert rows(office.service, costs, sku) == [("21.89",)]
