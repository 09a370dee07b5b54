"""The customer's pages of orders, and the first page of the account."""

import re
from datetime import UTC, datetime

import pytest

from support.billing import invoiced, issue, number_of
from support.orders import at, buy, cancel, create, dispatch, rows, sell
from support.pages import Person, customer_user, text_of
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import METHODS, product
from tradecounter.shipments.wire import Serial

LIST = "/account/order"


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer(company="Bright & <Sons>")


@pytest.fixture(scope="module")
def buyer(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "buyer")


def test_the_list_shows_the_customers_orders_only(shop: Service, customer: Customer, buyer: Person) -> None:
    own, other = buy(customer, customer_reference="MINE"), buy(shop.customer(), customer_reference="THEIRS")
    page = text_of(buyer.get(LIST))
    assert own["order_reference"] in page
    assert other["order_reference"] not in page
    assert other["order_reference"] not in text_of(buyer.get(f"{LIST}?reference={other['order_reference']}"))
    assert "THEIRS" not in text_of(buyer.get(f"{LIST}?customer_id=1&format=csv"))


def test_the_list_is_filtered_and_sorted(customer: Customer, buyer: Person) -> None:
    cheap, dear = buy(customer, [("CABLE", 1)]), buy(customer, [("PHONE", 9)], customer_reference="DEAR")
    page = buyer.get(f"{LIST}?sort=-total").text
    assert page.index(dear["order_reference"]) < page.index(cheap["order_reference"])
    only = text_of(buyer.get(f"{LIST}?customer_reference=dear&status=&sku="))
    assert dear["order_reference"] in only
    assert cheap["order_reference"] not in only
    by_product = text_of(buyer.get(f"{LIST}?sku=cable"))
    assert cheap["order_reference"] in by_product
    assert dear["order_reference"] not in by_product
    assert "No order matches" in text_of(buyer.get(f"{LIST}?sku=NOTHING"))
    wrong = buyer.get(f"{LIST}?created_from=soon")
    assert wrong.status_code == 400
    assert "Placed from 'soon' is not a day" in text_of(wrong)
    assert "form-created_from-error" in wrong.text


def test_the_order_of_a_list_stays_when_its_filters_change(sam: Person, buyer: Person) -> None:
    for person, address, kept in (
        (buyer, f"{LIST}?sort=-total&status=Dispatched", {("sort", "-total")}),
        (sam, "/order?sort=placed&status=Dispatched", {("sort", "placed")}),
        (buyer, f"{LIST}?status=Dispatched", set()),
    ):
        page = person.get(address).text
        found = re.findall(r'<input type="hidden" form="filters" name="([^"]*)" value="([^"]*)">', page)
        assert set(found) == kept
        assert page.count('id="filters"') == 1


def test_wrong_filters_are_in_sight_on_phones(buyer: Person) -> None:
    assert "<details open><summary>Filters" in buyer.get(f"{LIST}?created_from=soon").text
    assert "<details><summary>Filters" in buyer.get(f"{LIST}?created_from=2026-01-01").text


def test_the_days_of_the_filter_begin_at_midnight_in_the_uk(shop: Service) -> None:
    customer = shop.customer()
    buyer = customer_user(shop, customer.id, "buyer")
    with at(shop, datetime(2026, 6, 15, 23, 30, tzinfo=UTC)):  # half an hour into the 16th
        placed = buy(customer)["order_reference"]

    def found(day: str) -> bool:
        return placed in text_of(buyer.get(f"{LIST}?created_from={day}&created_to={day}"))

    assert [found(day) for day in ("2026-06-15", "2026-06-16", "2026-06-17")] == [False, True, False]


def test_own_orders_are_found_by_words_of_a_product_also_of_one_that_is_no_longer_sold(shop: Service) -> None:
    customer = shop.customer()
    buyer = customer_user(shop, customer.id, "buyer")
    old = sell(shop, "WITHDRAWN", name="Periwinkle doorbell")
    own, theirs = buy(customer, [(old, 1)])["order_reference"], buy(shop.customer(), [(old, 1)])["order_reference"]
    shop.must_load("products", [product(old, name="Periwinkle doorbell", active=False)])
    for text in ("doorbell+periwinkle", old.lower()):
        page = text_of(buyer.get(f"{LIST}?sku={text}"))
        assert own in page
        assert theirs not in page
    assert "periwinkle" not in text_of(buyer.get(f"{LIST}?sku=perwinkle")).lower()  # a word that the shop has not


def test_misspelt_words_of_a_product_find_the_orders_of_it_unless_they_are_quoted(shop: Service) -> None:
    customer = shop.customer()
    buyer = customer_user(shop, customer.id, "buyer")
    own = buy(customer, [(sell(shop, "CHIMED", name="Tamarisk chime"), 1)])["order_reference"]
    corrected = text_of(buyer.get(f"{LIST}?sku=tamarsk"))
    assert own in corrected
    assert "read as “tamarisk”" in corrected
    assert "No order matches" in text_of(buyer.get(f"{LIST}?sku=%22tamarsk%22"))


def test_the_pages_of_the_list_have_every_order_once(shop: Service) -> None:
    customer = shop.customer()
    placed = {str(buy(customer, [("CABLE", 1)])["order_reference"]) for _ in range(52)}
    buyer = customer_user(shop, customer.id)
    seen: list[str] = []
    address = LIST
    while address:
        page = buyer.get(address).text
        seen += [
            part.split('"')[0] for part in page.split('<th scope="row" data-label="Order"><a href="/account/order/')[1:]
        ]
        following = page.split('rel="next" href="')[1:]
        address = following[0].split('"')[0].replace("&amp;", "&") if following else ""
    assert len(seen) == 52
    assert set(seen) == placed
    assert len(buyer.get(f"{LIST}?format=csv").text.splitlines()) == 53


def test_unconfirmed_and_cancelled_orders_have_lists_of_their_own(
    shop: Service, customer: Customer, buyer: Person
) -> None:
    pending = create(customer, customer_reference="NOT YET")
    gone = buy(customer, [("PHONE", 5)], customer_reference="GONE")
    cancel(shop, gone, "a part", (gone["items"][0]["id"], 2))
    cancel(shop, gone, "the rest")
    assert "NOT YET" not in text_of(buyer.get(LIST))
    assert "NOT YET" in text_of(buyer.get(f"{LIST}/unconfirmed"))
    assert "GONE" in text_of(buyer.get(f"{LIST}/cancelled"))
    path = f"{LIST}/{pending['confirmation_code']}"
    assert buyer.get(path).headers["Location"] == f"/account/new-order/{pending['confirmation_code']}"
    page = text_of(buyer.get(f"{LIST}/{gone['order_reference']}"))
    assert "Cancelled" in page
    assert "5 cancelled" not in page, "beside the 3 units that were cancelled last"


def test_the_lines_of_an_order_lead_to_products_that_are_still_sold(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id, "buyer")
    gone = sell(shop, "LEADS/NOWHERE", 10)
    path = f"{LIST}/{buy(customer, [(gone, 1), ('CABLE', 1)])['order_reference']}"
    addresses = [f"/account/product/{sku}" for sku in ("CABLE", "LEADS%2FNOWHERE")]
    assert [address in buyer.get(path).text for address in addresses] == [True, True]
    shop.must_load("products", [product(gone, active=False)])
    shop.refresh()
    page = buyer.get(path)
    assert [address in page.text for address in addresses] == [True, False]
    assert gone in text_of(page)


def test_an_order_is_shown_with_all_that_belongs_to_it(shop: Service, customer: Customer, buyer: Person) -> None:
    sku = sell(shop, "SHOWN", 10, available=3)
    placed = buy(customer, [(sku, 5), ("CABLE", 1)], customer_reference="PO-<9>")
    [(line,)] = rows(shop, "select id from order_line where order_id = %s and sku = %s", placed["order_id"], sku)
    before = text_of(buyer.get(f"{LIST}/{placed['order_reference']}"))
    assert "2 back-ordered" in before
    assert "Nothing is dispatched yet" in before
    dispatch(
        shop,
        placed,
        (line, 2),
        tracking_number="1Z 99",
        serials=[Serial(line, "SN-<1>", "00:11:22:33:44:55", sku), Serial(line, "SN-2", "", sku)],
    )
    shop.must_load("shipping-methods", [{**METHODS[0], "tracking_url": "https://t.example/?n={tracking_number}"}])
    page = buyer.get(f"{LIST}/{placed['order_reference']}")
    said = text_of(page)
    assert 'href="https://t.example/?n=1Z%2099"' in page.text
    assert "SN-<1>" in said
    assert "<1>" not in page.text
    assert "2 of 6" in said
    assert "Part dispatched" in said


def test_an_order_has_its_invoices_as_pdf_files(shop: Service, customer: Customer, buyer: Person) -> None:
    placed = invoiced(shop, customer)
    number = number_of(shop, placed)
    page = buyer.get(f"{LIST}/{placed['order_reference']}").text
    path = f"/account/invoice/{number}/pdf"
    assert f'href="{path}"' in page
    assert buyer.get(path).content.startswith(b"%PDF")
    assert f"again={placed['order_reference']}" in page


def test_orders_of_others_do_not_exist(shop: Service, buyer: Person) -> None:
    other = shop.customer()
    for name in (buy(other)["order_reference"], create(other)["confirmation_code"], "PLN-999999", "%00"):
        assert buyer.get(f"{LIST}/{name}").status_code == 404


def test_only_owners_and_buyers_see_orders(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    for role in ("accounts", "developer"):
        person = customer_user(shop, customer.id, role)
        assert person.get(LIST).status_code == 403
        assert person.get(f"{LIST}/{placed['order_reference']}").status_code == 403
    assert customer_user(shop, customer.id, "owner").get(LIST).status_code == 200


def test_the_first_page_says_what_to_do_first(shop: Service) -> None:
    customer = shop.customer(term_days=0)
    owner = customer_user(shop, customer.id)
    assert "You have not ordered yet" in text_of(owner.get("/account"))
    create(customer)
    price_as_support(shop, request_quote(customer, customer_reference="Q-<1>"), ("PHONE", "45.00"))
    with at(shop, shop.clock.now().replace(year=2025)):
        late = buy(customer)
        dispatch(shop, late)
        issue(shop, late)
    said = text_of(owner.get("/account"))
    assert "Confirm 1 order" in said
    assert "Accept the quote Q-<1>" in said
    assert "Pay what is overdue £66.60" in said
    assert late["order_reference"] in said


def test_percentages_are_written_in_one_way(shop: Service) -> None:
    owner = customer_user(shop, shop.customer(discount="12.50").id)
    assert "Discount 12.5%" in text_of(owner.get("/account"))


def test_the_first_page_shows_each_role_its_own(shop: Service, customer: Customer) -> None:
    buy(customer)
    said = {
        role: text_of(customer_user(shop, customer.id, role).get("/account"))
        for role in ("buyer", "accounts", "developer")
    }
    assert "Latest orders" in said["buyer"]
    assert "Credit available" not in said["buyer"]
    assert "Credit available" in said["accounts"]
    assert "Latest orders" not in said["accounts"]
    assert "Latest orders" not in said["developer"]
