"""Both sites on a phone: what is in sight without scrolling, and how much a list takes."""

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, expect

from support.browsing import Tab, signed_in, tab_in, window
from support.demo_sites import DemoSites
from support.pages import Person, customer_user, staff_member
from tradecounter.edge.permissions import UserRole

LISTS = ("/order", "/product", "/invoice", "/money", "/payment", "/customer", "/quote", "/return", "/credit-note")
_FIRST_ROW = 400  # pixels from the top; half of a phone's window
_BELOW_TILES = 470  # pixels; the balances come first
_BELOW_CATEGORIES = 540  # pixels; search, filters and one row of tiles come first
_NAME = 230  # pixels: a name on one or two lines
_FEW_LINES = 120  # pixels: of four lines
_TWO_LINES = 30  # pixels
_WITH_AGES = 150  # pixels: with a line for each age of a debt
_ROWS = "[...document.querySelectorAll('#results tbody tr')].map(row => row.getBoundingClientRect())"
_AMOUNTS = """[...document.querySelectorAll("#results .figure")].filter(cell => cell.checkVisibility()).map(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return [range.getBoundingClientRect().right, cell.getBoundingClientRect().height];
})"""
_IN_HEADER = """[".brand img", "details.subjects summary", ".basket", ".person summary"]
    .map(name => document.querySelector(name)?.getBoundingClientRect()).filter(Boolean)
    .map(box => [box.left, box.right, box.top, box.bottom])"""


@pytest.fixture
def phone(browser: Browser, sites: DemoSites, request: pytest.FixtureRequest) -> Iterator[Tab]:
    own = [sites.service.url, sites.office.url]
    with window(browser, width=390) as context, tab_in(context, own, request.node.name) as tab:
        yield tab


@pytest.fixture(scope="module")
def member(sites: DemoSites) -> Person:
    return staff_member(sites.service, sites.office.url, "administrator", name="Administrator of the office")


def header_of(tab: Tab) -> list[list[float]]:
    """The left, right, top and bottom of what is in the first row of the header."""
    boxes: list[list[float]] = tab.run(_IN_HEADER)
    return boxes


@pytest.mark.parametrize("path", LISTS)
def test_a_list_begins_in_the_upper_half_with_rows_of_few_lines(
    phone: Tab, sites: DemoSites, member: Person, path: str
) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(sites.office.url + path)
    rows = phone.run(_ROWS)
    assert sum(row["height"] for row in rows) / len(rows) < (_WITH_AGES if path == "/money" else _FEW_LINES)
    assert rows[0]["top"] < _FIRST_ROW or path == "/money"  # where figures and a chart come first


@pytest.mark.parametrize("width", [320, 390])
def test_the_amounts_of_a_debtor_stand_below_each_other_and_are_whole(
    phone: Tab, sites: DemoSites, member: Person, width: int
) -> None:
    signed_in(phone, member, sites.office.url)
    phone.page.set_viewport_size({"width": width, "height": 844})
    phone.open(f"{sites.office.url}/money")
    boxes = phone.run(_AMOUNTS)
    assert len(boxes) > len(phone.run(_ROWS))
    assert len({round(right) for right, _ in boxes}) == 1
    assert max(height for _, height in boxes) < _TWO_LINES
    assert not phone.is_too_wide
    figures = "[...document.querySelectorAll('.tile .value')].every(each => each.scrollWidth <= each.clientWidth)"
    assert phone.run(figures)


def test_filters_open_behind_a_button(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(f"{sites.office.url}/order")
    expect(phone.page.get_by_label("SKU")).to_be_hidden()
    phone.page.get_by_text("Filters", exact=True).click()
    phone.page.get_by_label("Id in another program").fill("nothing has it")
    phone.page.get_by_role("button", name="Filter").click()
    expect(phone.page.get_by_text("No order matches the filters.")).to_be_visible()


def test_the_filters_that_are_set_most_often_need_no_button(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(f"{sites.office.url}/product")
    rows = phone.page.locator("#results tbody tr")
    expect(phone.page.get_by_label("Manufacturer")).to_be_hidden()
    phone.page.get_by_label("Category").select_option(label="Conferencing: Conference phones")
    expect(phone.page).to_have_url(re.compile("category=conference"))
    expect(rows.first).to_contain_text("conference phone")
    phone.page.get_by_label("SKU, name or EAN").fill("RVX-480")
    phone.page.keyboard.press("Enter")
    expect(rows).to_have_count(1)
    phone.page.get_by_label("Show").select_option("not_sold")
    expect(phone.page.get_by_text("No product matches.")).to_be_visible()
    phone.open(f"{sites.office.url}/order")
    phone.page.get_by_label("Status", exact=True).select_option("To dispatch")
    expect(rows.first.locator(".badge")).to_have_text(re.compile("dispatch"))


def test_the_form_of_an_order_fits_into_two_windows_of_a_phone(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(f"{sites.office.url}/order/new/{sites.customer_id}")
    assert phone.run("document.documentElement.scrollHeight") < 2 * 812
    expect(phone.page.get_by_label("SKU or words 1")).to_be_in_viewport()
    expect(phone.page.get_by_label("SKU or words 2")).to_be_hidden()
    phone.page.get_by_label("SKU or words 1").fill("CV-320P")
    expect(phone.page.get_by_label("SKU or words 2")).to_be_visible()
    note = phone.page.get_by_label("Note on the delivery")
    expect(note).to_be_hidden()
    phone.page.get_by_text("Delivery note, billing address and more").click()
    expect(note).to_be_visible()


def test_the_form_of_a_product_fits_into_two_windows_of_a_phone_and_says_what_it_folds_away(
    phone: Tab, sites: DemoSites, member: Person
) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(f"{sites.office.url}/product-form?sku=RVX-480")
    assert phone.run("document.documentElement.scrollHeight") < 2 * 812
    folded = phone.page.locator("summary:visible", has_text="Attributes")
    expect(folded).to_contain_text("10: Bluetooth, Colour, Display")
    expect(phone.page.get_by_label("Bluetooth")).to_be_hidden()
    folded.click()
    expect(phone.page.get_by_label("Bluetooth")).to_have_value("true")
    expect(phone.page.get_by_label("Port speed (Mbit/s)")).to_have_value("1000")


def test_cells_that_say_nothing_are_left_out(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(f"{sites.office.url}/order?status=Awaiting+dispatch")
    phone.page.locator("#results tbody th a").first.click()
    line = phone.page.locator("table tbody tr").first
    expect(line.locator("[data-label=State]")).to_contain_text("allocated")
    phone.open(f"{sites.office.url}/product")
    counts = phone.page.locator("[data-label=Back-ordered]:has(.zero)").first
    expect(counts).to_be_hidden()
    phone.resize(1280)
    expect(counts).to_have_text("0")


def test_an_order_has_room_for_the_names_of_its_products(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.resize(1280)
    phone.open(f"{sites.office.url}/order?status=Awaiting+dispatch")
    phone.page.locator("#results tbody th a").first.click()
    assert width_of(phone, "tbody [data-label=Product]") > _NAME


def test_the_state_of_an_order_is_beside_its_name_on_phones(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(f"{sites.office.url}/order?status=Awaiting+dispatch")
    phone.page.locator("#results tbody th a").first.click()
    name, state = (phone.page.locator(f".heading {part}").first.bounding_box() for part in ("h1", ".badge"))
    assert name is not None
    assert state is not None
    assert state["y"] < name["y"] + name["height"]


def test_a_tracking_number_has_the_width_of_a_phone(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(f"{sites.office.url}/order?status=Awaiting+dispatch")
    name = phone.page.locator("#results tbody th input").first.get_attribute("value")
    phone.open(f"{sites.office.url}/order/many/dispatch?order={name}")
    assert width_of(phone, "[data-label='Tracking number'] input") > _NAME


def test_categories_take_one_row_of_a_phone_so_that_products_come_first(phone: Tab, sites: DemoSites) -> None:
    signed_in(phone, customer_user(sites.service, sites.customer_id), sites.service.url)
    phone.open(f"{sites.service.url}/account/product")
    tops = "[...document.querySelectorAll('.category-cards li')].map(tile => tile.getBoundingClientRect().top)"
    assert len(set(phone.run(tops))) == 1
    first = phone.page.locator(".offer").first.bounding_box()
    assert first is not None
    assert first["y"] < _BELOW_CATEGORIES


def test_the_last_of_an_odd_number_of_figures_leaves_no_hole(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(sites.office.url)
    assert phone.page.locator(".tiles > .tile").count() % 2 == 1
    assert width_of(phone, ".tiles > .tile:last-child") == pytest.approx(width_of(phone, ".tiles"), abs=1)


def test_a_term_of_a_product_is_one_line_on_a_laptop(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.resize(1280)
    phone.open(f"{sites.office.url}/product/0417723")
    lines = (
        "term => { const r = document.createRange(); r.selectNodeContents(term); return r.getClientRects().length; }"
    )
    assert phone.page.get_by_text("Manufacturer", exact=True).first.evaluate(lines) == 1


def width_of(tab: Tab, selector: str) -> float:
    box = tab.page.locator(selector).first.bounding_box()
    assert box is not None
    return box["width"]


@pytest.mark.parametrize("role", ["owner", "buyer", "approver", "accounts", "developer"])
def test_the_header_of_each_role_is_one_row_without_overlaps(phone: Tab, sites: DemoSites, role: UserRole) -> None:
    signed_in(phone, customer_user(sites.service, sites.customer_id, role), sites.service.url)
    phone.open(f"{sites.service.url}/account")
    boxes = header_of(phone)
    assert all(before[1] <= after[0] for before, after in pairwise(boxes))
    assert max(box[2] for box in boxes) < min(box[3] for box in boxes)
    assert boxes[-1][1] > 360  # at the right edge


def test_the_menu_and_the_search_of_the_back_office_are_in_the_bar(
    phone: Tab, sites: DemoSites, member: Person
) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(f"{sites.office.url}/order")
    boxes = header_of(phone)
    search = phone.page.get_by_label("Find anything")
    box = search.bounding_box()
    assert box is not None
    assert boxes[1][1] < box["x"] < box["x"] + box["width"] < boxes[2][0]
    assert phone.run("document.querySelector('main').getBoundingClientRect().top") <= 60
    search.focus()  # it covers the bar while someone types
    assert width_of(phone, "#find") > 350
    phone.page.get_by_role("heading", name="Orders").click()
    phone.page.get_by_text("Menu").click()
    phone.page.locator("details.subjects").get_by_role("link", name="Customers").click()
    expect(phone.page.get_by_role("heading", name="Customers")).to_be_visible()


def test_the_current_tab_is_in_sight(phone: Tab, sites: DemoSites, member: Person) -> None:
    signed_in(phone, member, sites.office.url)
    phone.open(f"{sites.office.url}/customer/{sites.customer_id}/statement")
    current = phone.page.locator(".tabs [aria-current=page]")
    expect(current).to_have_text("Statement")
    expect(current).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("path", ["/account/invoice", "/account/invoice/statement", "/account/order"])
def test_a_list_of_the_account_begins_in_the_upper_half(phone: Tab, sites: DemoSites, path: str) -> None:
    signed_in(phone, customer_user(sites.service, sites.customer_id), sites.service.url)
    phone.open(sites.service.url + path)
    first = phone.page.locator("main tbody tr").first.bounding_box()
    assert first is not None
    assert first["y"] < (_FIRST_ROW if path == "/account/order" else _BELOW_TILES)


@pytest.mark.parametrize(("width", "height"), [(390, 165), (1280, 120), (1440, 120)])
def test_a_product_of_the_shop_takes_a_short_row(phone: Tab, sites: DemoSites, width: int, height: int) -> None:
    signed_in(phone, customer_user(sites.service, sites.customer_id), sites.service.url)
    phone.resize(width)
    phone.open(f"{sites.service.url}/account/product?query=cable")
    rows = phone.run("[...document.querySelectorAll('.offer')].map(row => row.getBoundingClientRect().height)")
    assert sum(rows) / len(rows) < height


def test_a_chosen_address_is_readable_in_full(phone: Tab, sites: DemoSites) -> None:
    signed_in(phone, customer_user(sites.service, sites.customer_id), sites.service.url)
    phone.open(f"{sites.service.url}/account/new-order")
    choice = phone.page.get_by_label("Deliver to").first
    named = phone.page.locator("[data-chosen=order-shipping_address-id]")
    for number in (1, 0):
        choice.select_option(index=number)
        expect(named).to_have_text(
            phone.run(f"document.getElementById('order-shipping_address-id').options[{number}].text")
        )
    choice.select_option("new")
    expect(named).to_be_hidden()
