"""Prices that follow the units in the account, and products side by side."""

from typing import Any

import pytest

from support.orders import rows, sell
from support.pages import Person, customer_user, fields_of, text_of
from support.service import Customer, Service
from support.shop import price

FORM = "/account/new-order"


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def buyer(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "buyer")


@pytest.fixture
def broken(shop: Service) -> str:
    sku = sell(shop, "BREAKS", 10, available=50)
    breaks = {"single_unit_cost": "10.00", "five_plus_unit_cost": "8.00", "ten_plus_unit_cost": "7.50"}
    shop.must_load("price-list", [price(sku, 10) | breaks])
    return sku


@pytest.mark.parametrize(
    ("units", "said"), [("1", "1 unit: £10.00"), ("5", "5 units: £40.00"), ("12", "12 units: £90.00")]
)
def test_a_products_page_says_the_price_of_so_many_units(buyer: Person, broken: str, units: str, said: str) -> None:
    assert said in text_of(buyer.get(f"/account/product/{broken}", params={"quantity": units}))


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("units", ["", "0", "-1", "many", "1.5", "9" * 400])
def test_units_that_are_no_number_yet_have_the_price_of_one(buyer: Person, broken: str, units: str) -> None:
    page = buyer.get(f"/account/product/{broken}", params={"quantity": units})
    assert page.status_code == 200
    assert "1 unit: £10.00" in text_of(page)


def typed(person: Person, *lines: tuple[str, str], **fields: Any) -> Any:
    """What the form shows while lines are typed."""
    named: dict[str, str] = {}
    for number, (sku, units) in enumerate(lines):
        named |= {f"items-{number}-sku": sku, f"items-{number}-quantity": units}
    return person.send(FORM, {"seen-line": "0", **named, **fields, "preview": "live"})


def saved(shop: Service, person: Person) -> dict[str, int]:
    """The units of the basket by SKU."""
    lines = "select sku, b.quantity from basket_line b join product p on p.id = b.product_id where user_id = %s"
    return dict(rows(shop, lines, person.id))


def test_the_lines_of_an_order_are_priced_and_saved_while_they_are_typed(
    shop: Service, buyer: Person, broken: str
) -> None:
    said = text_of(typed(buyer, (broken, "5"), ("CABLE", "1")))
    assert "£40.00" in said
    assert saved(shop, buyer) == {broken: 5, "CABLE": 1}
    assert "£75.00" in text_of(typed(buyer, (broken, "10"), ("CABLE", "1")))
    assert saved(shop, buyer) == {broken: 10, "CABLE": 1}


@pytest.mark.parametrize("units", ["", "1.5", "x", "-3"])
def test_units_that_are_being_typed_are_no_error_and_change_nothing(
    shop: Service, buyer: Person, broken: str, units: str
) -> None:
    typed(buyer, (broken, "5"))
    page = typed(buyer, (broken, units))
    assert page.status_code == 200
    assert "correction" not in text_of(page)
    assert saved(shop, buyer) == {broken: 5}


def test_a_line_of_no_units_keeps_its_place_while_others_are_typed(shop: Service, buyer: Person, broken: str) -> None:
    page = typed(buyer, (broken, "0"), ("CABLE", "3"))
    fields = fields_of(page, where=lambda name: name.startswith("items-"))
    assert (fields["items-0-quantity"], fields["items-1-quantity"]) == ("0", "3")
    assert saved(shop, buyer) == {"CABLE": 3}


def test_typing_takes_nothing_out_that_another_device_has_put_in(shop: Service, buyer: Person, broken: str) -> None:
    buyer.sends("/account/basket/add", {"sku": "CABLE", "quantity": "2"})
    typed(buyer, (broken, "5"))
    assert saved(shop, buyer) == {"CABLE": 2}
    page = buyer.send(FORM, {"seen-line": "0", "items-0-sku": broken, "items-0-quantity": "5", "do": "update"})
    assert "another device" in text_of(page)
    assert saved(shop, buyer) == {broken: 5, "CABLE": 2}


def test_words_of_a_quick_line_offer_products_and_the_chosen_one_is_a_line(shop: Service, buyer: Person) -> None:
    sell(shop, "QUICK-1", 10, name="Quickable lamp")
    page = typed(buyer, ("CABLE", "1"), **{"quick-4-sku": "quickable", "quick-4-quantity": "3"})
    assert 'name="pick-4" value="QUICK-1"' in page.text
    assert saved(shop, buyer) == {"CABLE": 1}
    known = typed(buyer, **{"quick-0-sku": "quick-1"})
    assert "Quickable lamp £10.00 each" in text_of(known)
    assert 'name="pick-0"' not in known.text
    assert "Product 'zzzzqqq' does not exist" in text_of(typed(buyer, **{"quick-0-sku": "zzzzqqq"}))
    fields = {"quick-4-sku": "quickable", "quick-4-quantity": "3", "pick-4": "QUICK-1"}
    buyer.send(FORM, {"items-0-sku": "CABLE", "items-0-quantity": "1", **fields})
    assert saved(shop, buyer) == {"CABLE": 1, "QUICK-1": 3}


def test_up_to_four_products_stand_side_by_side_with_what_differs_marked(shop: Service, buyer: Person) -> None:
    for number, cost in enumerate((10, 10, 12, 14, 16)):
        sell(shop, f"SIDE-{number}", cost, available=3, name=f"Side {number}")
    page = buyer.get("/account/product/compare?sku=SIDE-0&sku=side-0&sku=SIDE-1")
    said = text_of(page)
    assert "Side 0" in said
    assert "Side 1" in said
    assert '<tr><th scope="row">Your price' in page.text
    other = buyer.get("/account/product/compare?sku=SIDE-0&sku=SIDE-2&sku=SIDE-3&sku=SIDE-1&sku=SIDE-4")
    assert '<tr class="differs"><th scope="row">Your price' in other.text
    assert "1 product is left out" in text_of(other)
    assert "Side 4" not in text_of(other)


def test_products_that_cannot_be_bought_are_named_and_not_compared(buyer: Person) -> None:
    said = text_of(buyer.get("/account/product/compare?sku=NOSUCH&sku=CABLE"))
    assert "No longer sold to you: NOSUCH." in said
    nothing = buyer.get("/account/product/compare")
    assert nothing.status_code == 200
    assert "Tick the products to compare" in text_of(nothing)
