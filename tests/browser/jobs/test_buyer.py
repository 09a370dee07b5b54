"""What buyers do all day, with the number of clicks."""

import re
from typing import Any

from playwright.sync_api import Browser, expect

from support.billing import invoiced, number_of, pdf_text
from support.jobs import WAYS, Job, Record, Way, job
from support.orders import buy, dispatch, rows, sell
from support.pages import Person, customer_user
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, METHODS
from tradecounter.access.queries.people import find_user_by_id
from tradecounter.db.transaction import Transaction
from tradecounter.saved_lists.queries import insert_list, put_lines

ORDER = re.compile("/account/order/[A-Z]+-[0-9]+$")


def buyer_of(shop: Service, customer: Customer) -> Person:
    """A buyer whose company has one saved address."""
    customer.post("/customer/address", ADDRESS)
    return customer_user(shop, customer.id, "buyer")


def saved_list(shop: Service, person: Person, name: str, *lines: tuple[str, int]) -> None:
    """Save a list of a user's own."""
    ids = dict(rows(shop, "select sku, id from product"))

    async def save(tx: Transaction) -> None:
        user = await find_user_by_id(tx, person.id)
        assert user is not None
        list_id = await insert_list(tx, user, name, shop.clock.now(), shared=False)
        await put_lines(tx, list_id, [(ids[sku], units) for sku, units in lines])

    shop.in_transaction(save)


def ends_with_an_order(work: Job, customer: Customer) -> dict[str, Any]:
    """What the API says about the order whose page is shown."""
    expect(work.page).to_have_url(ORDER)
    expect(work.page.get_by_text("Thank you.")).to_be_visible()
    found: dict[str, Any] = customer.get(f"/order/{work.page.url.rpartition('/')[2]}").json()
    return found


def units_of(order: dict[str, Any]) -> dict[str, int]:
    """The units of each product of an order."""
    return {item["product"]["sku"]: item["quantity"] for item in order["items"]}


@WAYS
def test_an_order_is_repeated_with_one_change_with_three_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Again at {way}")
    placed = buy(customer, [("PHONE", 1), ("CABLE", 2)])
    person = customer_user(shop, customer.id)
    path = f"/account/order/{placed['order_reference']}"
    with job(browser, person, shop.url, path, way, record_property, 3) as work:
        work.click(work.link("Order again"))
        work.fill(work.page.locator("input[name$='-quantity']").first, "5")
        work.fill(work.page.get_by_label(re.compile("reference")).first, f"AGAIN-{way}")
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


@WAYS
def test_a_product_is_found_by_its_words_and_ordered_with_four_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Searches at {way}")
    sku = sell(shop, f"HEADSET-{way}", 20, available=9, name=f"Wireless headset for {way}")
    with job(browser, buyer_of(shop, customer), shop.url, "/account", way, record_property, 4) as work:
        work.fill(work.page.locator("#find"), f"headset {way}")
        work.page.keyboard.press("Enter")
        expect(work.page).to_have_url(re.compile(f"/account/product/{sku}$"))
        work.fill(work.page.get_by_label(f"Units of {sku}"), "3")
        work.click(work.button(f"Add {sku} to the basket"))
        expect(work.page.get_by_text("3 units added")).to_be_visible()
        work.click(work.page.locator("#basket"))
        work.fill(work.field("Your reference"), f"FOUND-{way}")
        work.click(work.button("Continue to shipping"))
        work.click(work.button("Confirm the order"))
        order = ends_with_an_order(work, customer)
    assert order["customer_reference"] == f"FOUND-{way}"
    assert units_of(order) == {sku: 3}


@WAYS
def test_a_saved_list_is_ordered_with_four_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Has a list at {way}")
    person = buyer_of(shop, customer)
    saved_list(shop, person, "Van stock", ("PHONE", 2), ("CABLE", 4))
    with job(browser, person, shop.url, "/account/list", way, record_property, 4) as work:
        work.click(work.link("Van stock"))
        work.click(work.button("Add all to the basket"))
        expect(work.page.get_by_text("2 products added to the basket.")).to_be_visible()
        work.fill(work.field("Your reference"), f"LIST-{way}")
        work.click(work.button("Continue to shipping"))
        work.click(work.button("Confirm the order"))
        order = ends_with_an_order(work, customer)
    assert units_of(order) == {"PHONE": 2, "CABLE": 4}


@WAYS
def test_a_pasted_list_of_skus_is_ordered_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Pastes at {way}")
    with job(browser, buyer_of(shop, customer), shop.url, "/account/new-order", way, record_property, 2) as work:
        work.fill(work.field("Or paste a list"), "PHONE,5\nCABLE\t20\n")
        work.fill(work.field("Your reference"), f"PASTED-{way}")
        work.click(work.button("Continue to shipping"))
        work.click(work.button("Confirm the order"))
        order = ends_with_an_order(work, customer)
    assert order["customer_reference"] == f"PASTED-{way}"
    assert units_of(order) == {"PHONE": 5, "CABLE": 20}


@WAYS
def test_products_are_ordered_by_their_words_with_three_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Types words at {way}")
    sku = sell(shop, f"WORDS-{way}", 20, available=9, name=f"Conference speaker for {way}")
    with job(browser, buyer_of(shop, customer), shop.url, "/account/new-order", way, record_property, 3) as work:
        work.fill(work.field("Units 1"), "3")
        work.fill(work.field("SKU or words 1"), f"conference {way}")
        hit = work.page.locator("#quick-0-found button")
        expect(hit).to_have_count(1)
        if way == "keyboard":
            work.page.keyboard.press("ArrowDown")
            expect(hit).to_be_focused()
            work.page.keyboard.press("ArrowUp")
            work.page.keyboard.press("Enter")
            work.clicks += 1
        else:
            work.click(hit)
        expect(work.page.locator(".basket-lines .line-net")).to_have_text("£60.00")
        expect(work.page.get_by_label(f"Units of {sku}", exact=True)).to_be_focused()
        work.fill(work.field("Your reference"), f"WORDS-{way}")
        work.click(work.button("Continue to shipping"))
        work.click(work.button("Confirm the order"))
        order = ends_with_an_order(work, customer)
    assert units_of(order) == {sku: 3}


@WAYS
def test_products_are_compared_with_three_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    for each in (1, 2):
        sell(shop, f"PAIR-{way}-{each}", 20 + each, available=9, name=f"Comparable {way} {each}")
    person = buyer_of(shop, shop.customer(company=f"Compares at {way}"))
    path = f"/account/product?query=comparable+{way}"
    with job(browser, person, shop.url, path, way, record_property, 3) as work:
        for each in (1, 2):
            work.click(work.field(f"Compare PAIR-{way}-{each}"))
        work.click(work.button("Compare"))
        expect(work.page.get_by_role("row", name="Your price")).to_contain_text("£21.00")
        expect(work.page.get_by_role("row", name="Your price")).to_contain_text("£22.00")


@WAYS
def test_a_parcel_is_followed_to_its_carrier_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    # The carrier's page is one of this machine: the browser of tests may go nowhere else.
    page_of_carrier = f"{shop.url}/guide?parcel={{tracking_number}}"
    shop.must_load("shipping-methods", [{**method, "tracking_url": page_of_carrier} for method in METHODS])
    customer = shop.customer(company=f"Waits for a parcel at {way}")
    placed = buy(customer)
    dispatch(shop, placed, tracking_number=f"PARCEL/{way}")
    with job(browser, buyer_of(shop, customer), shop.url, "/account", way, record_property, 2) as work:
        work.click(work.link(placed["order_reference"]))
        work.click(work.link(f"Track PARCEL/{way}"))
        expect(work.page).to_have_url(f"{shop.url}/guide?parcel=PARCEL%2F{way}")
    assert customer.get(f"/order/{placed['order_reference']}").json()["status"] == "Dispatched"


@WAYS
def test_the_pdf_of_an_invoice_is_downloaded_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Files papers at {way}")
    placed = invoiced(shop, customer, ("PHONE", 2))
    number = number_of(shop, placed)
    with job(browser, buyer_of(shop, customer), shop.url, "/account", way, record_property, 2) as work:
        work.click(work.link(placed["order_reference"]))
        with work.page.expect_download() as download:
            work.click(work.link(f"PDF of invoice {number}"))
        text = pdf_text(download.value.path().read_bytes())
    assert f"Files papers at {way}" in text
    assert str(number) in text
    assert "PHONE" in text


@WAYS
def test_when_the_rest_of_an_order_comes_is_seen_with_one_click(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Waits for the rest at {way}")
    sku = sell(shop, f"LATE-{way}", 30, available=1)
    shop.must_load("incoming", [{"sku": sku, "incoming": 50, "expected_on": "2026-07-01"}])
    placed = buy(customer, [(sku, 5)])
    with job(browser, buyer_of(shop, customer), shop.url, "/account", way, record_property, 1) as work:
        work.click(work.link(placed["order_reference"]))
        expect(work.page.get_by_text("It is expected to leave on 2 Jul 2026.")).to_be_visible()
        expect(work.page.get_by_text("4 back-ordered")).to_be_visible()
    assert customer.get(f"/order/{placed['order_reference']}").json()["status"] == "Back-ordered"


@WAYS
def test_a_delivered_item_is_offered_back_with_three_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Sends something back at {way}")
    placed = buy(customer, [("PHONE", 3), ("CABLE", 1)])
    dispatch(shop, placed)
    person = buyer_of(shop, customer)
    with job(browser, person, shop.url, "/account", way, record_property, 3) as work:
        work.click(work.link(placed["order_reference"]))
        work.click(work.link("Ask to return"))
        work.fill(work.field("Units of PHONE, at most 3"), "1")
        work.fill(work.field("Reason"), "It does not ring")
        work.click(work.button("Send the request"))
        expect(work.page.get_by_text(re.compile("1 . PHONE"))).to_be_visible()
        expect(work.page.get_by_text("It does not ring")).to_be_visible()
    asked = "select kind, text, items->0->>'sku', items->0->>'quantity' from customer_request where user_id = %s"
    assert rows(shop, asked, person.id) == [("return", "It does not ring", "PHONE", "1")]


@WAYS
def test_a_quote_is_accepted_with_two_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Likes the price at {way}")
    quote = request_quote(customer, [("PHONE", 10)], customer_reference=f"OFFER-{way}")
    price_as_support(shop, quote, ("PHONE", "33.00"))
    with job(browser, buyer_of(shop, customer), shop.url, "/account", way, record_property, 2) as work:
        work.click(work.link(f"Accept the quote OFFER-{way}"))
        work.click(work.button("Accept and order"))
        expect(work.page).to_have_url(ORDER)
        order = customer.get(f"/order/{work.page.url.rpartition('/')[2]}").json()
    assert order["customer_reference"] == f"OFFER-{way}"
    assert units_of(order) == {"PHONE": 10}
    cost = "select unit_cost::text from order_line l join orders o on o.id = order_id where customer_id = %s"
    assert rows(shop, cost, customer.id) == [("33.00",)]


@WAYS
def test_news_of_a_product_in_stock_again_is_asked_for_with_one_click(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    sku = sell(shop, f"GONE-{way}", 15, name=f"Sold out for {way}")
    person = buyer_of(shop, shop.customer(company=f"Waits for stock at {way}"))
    with job(browser, person, shop.url, "/account", way, record_property, 1) as work:
        work.fill(work.page.locator("#find"), sku)
        work.page.keyboard.press("Enter")
        work.click(work.button("Tell me when it is in stock"))
        expect(work.page.get_by_text(f"You get an e-mail when {sku} is in stock.")).to_be_visible()
    waits = "select sku, in_stock_at from stock_alert join product p on p.id = product_id where user_id = %s"
    assert rows(shop, waits, person.id) == [(sku, None)]
