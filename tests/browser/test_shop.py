"""The shop in a real browser: filters, the basket in the bar, and an order by keyboard and by touch."""

import re

import pytest
from playwright.sync_api import Browser, expect

from support.accessibility import all_errors
from support.browsing import Tab, signed_in, tab_in, window
from support.orders import sell
from support.pages import customer_user
from support.service import Service
from support.shop import ADDRESS, price

PHONE, DESK = 390, 1280


@pytest.fixture(scope="module")
def stocked(shop: Service) -> Service:
    racks = {"key": "racks", "name": "Racks", "children": [{"key": "shelves", "name": "Shelves"}]}
    depths = [{"value": "40"}, {"value": "60"}]
    shop.must_load("categories", [racks])
    shop.must_load("attributes", [{"key": "depth", "name": "Depth", "type": "int", "possible_values": depths}])
    for number, depth in enumerate(("40", "40", "60")):
        values = {"categories": ["racks", "shelves"], "attributes": {"depth": depth}}
        sell(shop, f"SHELF-{number}", 20 + number, available=9, name=f"Sliding shelf {number}", **values)
    shop.refresh()
    return shop


def count_in_bar(tab: Tab) -> str:
    return tab.page.locator("#basket .basket-count").inner_text().split()[0]


def test_a_filter_narrows_the_shop_in_place_and_the_address_keeps_it(stocked: Service, browser: Browser) -> None:
    person = customer_user(stocked, stocked.customer().id)
    with window(browser, scripts=True) as context, tab_in(context, [stocked.url], "filters") as tab:
        signed_in(tab, person, stocked.url)
        tab.resize(DESK)
        tab.open(f"{stocked.url}/account/product?category=shelves")
        offers = tab.page.locator(".offer")
        expect(offers).to_have_count(3)
        box = tab.page.get_by_label(re.compile(r"^60"))
        box.focus()
        tab.page.keyboard.press("Space")
        expect(offers).to_have_count(1)
        expect(tab.page).to_have_url(re.compile("attribute=depth%3D60"))
        expect(tab.page.get_by_label(re.compile(r"^60"))).to_be_focused()
        assert all_errors(tab) == []
        tab.page.go_back()
        expect(offers).to_have_count(3)
        tab.resize(PHONE, dark=True)
        tab.open(f"{stocked.url}/account/product?category=shelves&attribute=depth%3D60")
        filters = tab.page.locator("summary", has_text="Filters")
        expect(tab.page.get_by_label(re.compile(r"^40"))).not_to_be_visible()
        filters.click()
        tab.page.get_by_label(re.compile(r"^40")).click()
        tab.page.get_by_role("button", name="Show 3 products").click()
        expect(tab.page.get_by_label(re.compile(r"^40"))).not_to_be_visible()
        expect(offers).to_have_count(3)
        assert not tab.is_too_wide
        assert all_errors(tab) == []


def test_a_product_is_found_added_and_ordered(stocked: Service, browser: Browser) -> None:
    customer = stocked.customer()
    person = customer_user(stocked, customer.id)
    customer.post("/customer/address", ADDRESS)
    for width in (DESK, PHONE):
        with window(browser, scripts=True) as context, tab_in(context, [stocked.url], f"order-{width}") as tab:
            signed_in(tab, person, stocked.url)
            tab.resize(width)
            tab.open(f"{stocked.url}/account")
            keys = tab.page.keyboard
            tab.page.locator("body").press("/")
            expect(tab.page.locator("#find")).to_be_focused()
            keys.type("sliding shelf 2")
            expect(tab.page.locator("#found a")).to_have_text(["Sliding shelf 2"])
            keys.press("Enter")
            expect(tab.page).to_have_url(re.compile("/account/product/SHELF-2$"))
            assert all_errors(tab) == []
            tab.page.get_by_label("Units of SHELF-2").fill("3")
            keys.press("Enter")
            expect(tab.page.get_by_text("3 units added")).to_be_visible()
            assert count_in_bar(tab) == "1"
            tab.page.locator("#basket").click()
            tab.page.get_by_label("Your reference").fill(f"PO-SHELF-{width}")
            assert all_errors(tab) == []
            tab.page.get_by_role("button", name="Continue to shipping").click()
            expect(tab.page.get_by_role("heading", name="Confirm your order")).to_be_visible()
            tab.page.get_by_role("radio").first.check()
            tab.page.get_by_role("button", name="Confirm the order").click()
            expect(tab.page.get_by_text("Thank you.")).to_be_visible()
            assert count_in_bar(tab) == "0"
            assert not tab.is_too_wide


def test_prices_follow_the_units_without_a_button(stocked: Service, browser: Browser) -> None:
    person = customer_user(stocked, stocked.customer().id)
    for width in (DESK, PHONE):
        with window(browser, width=width) as context, tab_in(context, [stocked.url], f"units-{width}") as tab:
            signed_in(tab, person, stocked.url)
            tab.open(f"{stocked.url}/account/product/SHELF-1")
            units = tab.page.get_by_label("Units of SHELF-1")
            units.focus()
            tab.page.keyboard.press("ArrowUp")
            expect(tab.page.get_by_text("2 units: £42.00")).to_be_visible()
            tab.page.get_by_role("button", name="One SHELF-1 more").click()
            expect(tab.page.get_by_text("3 units: £63.00")).to_be_visible()
            tab.page.get_by_role("button", name="Add SHELF-1 to the basket").click()
            expect(tab.page.get_by_text("3 units added")).to_be_visible()
            expect(tab.page.get_by_text("1 unit: £21.00")).to_be_visible()
            units.fill("4")
            expect(tab.page.get_by_text("4 units: £84.00")).to_be_visible()
            tab.open(f"{stocked.url}/account/new-order")
            line = tab.page.locator(".basket-lines")
            for typed, net in (("1,0", None), ("5", "£105.00"), ("6", "£126.00")):
                tab.page.get_by_label("Units of SHELF-1").fill(typed)
                if net:
                    expect(line.locator(".line-net")).to_have_text(net)
                    expect(tab.page.locator("#order-total strong")).to_have_text(net)
            expect(tab.page.get_by_label("Units of SHELF-1")).to_be_focused()
            tab.open(f"{stocked.url}/account/new-order")
            expect(tab.page.get_by_label("Units of SHELF-1")).to_have_value("6")
            assert all_errors(tab) == []
            assert not tab.is_too_wide
            tab.page.get_by_role("button", name="Remove SHELF-1").click()
            expect(tab.page.get_by_text("Your basket is empty.")).to_be_visible()


def test_the_price_of_the_units_stands_out_in_a_list(stocked: Service, browser: Browser) -> None:
    sku = sell(stocked, "BREAKS-1", 10, name="Product with breaks")
    stocked.must_load("price-list", [price(sku, 10, 9, 8)])
    stocked.refresh()
    person = customer_user(stocked, stocked.customer().id)
    with window(browser) as context, tab_in(context, [stocked.url], "breaks") as tab:
        signed_in(tab, person, stocked.url)
        tab.open(f"{stocked.url}/account/product?query={sku}")
        tab.page.locator("body").press("j")
        expect(tab.page.get_by_role("link", name="Product with breaks")).to_be_focused()
        current = tab.page.locator(".offer-price .current")
        expect(current).to_have_text("£10.00")
        for units, shown in (("12", "10+ £8.00"), ("5", "5+ £9.00"), ("4", "£10.00")):
            tab.page.get_by_label(f"Units of {sku}").fill(units)
            expect(current).to_have_text(shown)


def test_products_that_are_ticked_stand_side_by_side(stocked: Service, browser: Browser) -> None:
    person = customer_user(stocked, stocked.customer().id)
    for width in (DESK, PHONE):
        with window(browser, width=width) as context, tab_in(context, [stocked.url], f"compare-{width}") as tab:
            signed_in(tab, person, stocked.url)
            tab.open(f"{stocked.url}/account/product?category=shelves")
            compare = tab.page.get_by_role("button", name="Compare")
            expect(compare).not_to_be_visible()
            for number in (0, 2):
                tab.page.get_by_label(f"Compare SHELF-{number}").check()
            compare.click()
            expect(tab.page).to_have_url(re.compile(r"/compare\?sku=SHELF-0&sku=SHELF-2$"))
            expect(tab.page.locator(".differs").get_by_text("Depth")).to_be_visible()
            assert all_errors(tab) == []
            assert not tab.is_too_wide


def test_the_basket_is_in_reach_of_a_thumb_once_something_is_in_it(stocked: Service, browser: Browser) -> None:
    person = customer_user(stocked, stocked.customer().id)
    with window(browser, width=PHONE) as context, tab_in(context, [stocked.url], "thumb") as tab:
        signed_in(tab, person, stocked.url)
        tab.open(f"{stocked.url}/account/product?category=shelves")
        for number, is_below in ((0, False), (2, True)):
            place = tab.page.locator("#basket").bounding_box()
            add = tab.page.get_by_role("button", name=f"Add SHELF-{number} to the basket")
            assert place is not None
            assert (place["y"] > tab.run("innerHeight / 2")) == is_below
            add.click()
            expect(tab.page.get_by_text("1 unit added")).to_have_count(1 + is_below)
        assert all_errors(tab) == []
        tab.resize(PHONE)
        tab.page.locator("#basket").click()
        expect(tab.page).to_have_url(re.compile("/account/new-order$"))


def test_a_list_is_kept_and_ordered_from(stocked: Service, browser: Browser) -> None:
    person = customer_user(stocked, stocked.customer().id)
    with window(browser, scripts=True) as context, tab_in(context, [stocked.url], "lists") as tab:
        signed_in(tab, person, stocked.url)
        for width in (DESK, PHONE):
            tab.resize(width)
            tab.open(f"{stocked.url}/account/product/SHELF-1")
            tab.page.get_by_role("link", name="Add to a list").click()
            dialog = tab.page.get_by_role("dialog")
            dialog.get_by_label("Name of the new list").fill(f"Van {width}")
            assert all_errors(tab) == []
            dialog.get_by_role("button", name="Add to the list").click()
            expect(tab.page.get_by_role("heading", name=f"Van {width}")).to_be_visible()
            assert all_errors(tab) == []
            tab.page.get_by_role("button", name="Add all to the basket").click()
            expect(tab.page.get_by_text("1 product added to the basket.")).to_be_visible()
            assert not tab.is_too_wide
