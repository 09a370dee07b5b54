"""`POST /quote`: requested like an order, confirmed after pricing (specification, section 3; quotes)."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from support.orders import at, buy, confirm, create, faults_in_the_books, level, outstanding, read, rows, sell
from support.quotes import jobs, price_as_support, request_quote
from support.service import MORNING, Customer, Service
from support.shop import ADDRESS, GERMAN_ADDRESS, NEXT_DAY, STANDARD, order, price
from support.written import written
from tradecounter.customers.queries.accounts import edit_account
from tradecounter.customers.settings import CustomerChange
from tradecounter.orders.cancel_order import expire_orders

A_WEEK = timedelta(days=7)
ONE_SECOND = timedelta(seconds=1)


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


def message(response: httpx2.Response, status: int) -> str:
    assert response.status_code == status, response.text
    text: str = response.json()["message"]
    return text


def state(shop: Service, quote: dict[str, Any]) -> tuple[Any, ...]:
    [found] = rows(shop, "select kind, state from orders where confirmation_code = %s", quote["confirmation_code"])
    return found


# --- requesting --------------------------------------------------------------------------------------------------


@pytest.mark.spec("4 POST /quote", "priced without placing an order; 201")
def test_a_quote_is_priced_like_an_order(customer: Customer) -> None:
    items = [("phone", 5), ("CABLE", 2)]
    values = {"external_customer_id": "E-1", "order_notifications": {"email_address": "a@b.example"}}
    quote, pending = request_quote(customer, items, **values), create(customer, items, **values)
    for response in (quote, pending):
        response.pop("confirmation_code")
        for item in response["items"]:
            item.pop("id")
    assert quote == pending
    assert quote["cost_net"] == 228.98
    assert "order_id" not in quote
    assert "order_reference" not in quote


@pytest.mark.spec("4 POST /quote", "priced without placing an order; 201")
def test_a_quote_uses_no_stock_or_credit_and_is_not_listed(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "QUOTED", 10, available=5)
    quote = request_quote(customer, [(sku, 2)])
    assert level(shop, sku) == (5, 0, 0)
    assert outstanding(shop, customer) == 0
    assert customer.get("/order").json() == []
    assert customer.get(f"/order/{quote['confirmation_code']}").status_code == 404
    assert state(shop, quote) == ("quote", "pending")


@pytest.mark.spec("3 POST /quote", "support gets a ticket and sets the price; the customer gets an e-mail")
def test_supports_mail_is_queued_in_the_transaction_of_the_quote(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    [job] = jobs(shop, "mail_quote_requested", quote)
    assert list(job) == ["order_id"]
    assert jobs(shop, "mail_quote_requested", create(customer)) == []


@pytest.mark.spec("4 POST /quote", "auto_confirm set is 400")
@pytest.mark.spec("7 400", "auto_confirm on a quote")
def test_auto_confirm_must_not_be_set(shop: Service, customer: Customer) -> None:
    before = written(shop)
    body = order(auto_confirm=True, shipping_method={"id": STANDARD})
    assert message(customer.post("/quote", body), 400).startswith("auto_confirm: must not be set on a quote")
    assert written(shop) == before


@pytest.mark.parametrize(("sent", "echoed"), [(False, False), (None, "absent")])
def test_auto_confirm_false_is_the_same_as_none(customer: Customer, sent: Any, echoed: Any) -> None:
    assert request_quote(customer, auto_confirm=sent).get("auto_confirm", "absent") == echoed


@pytest.mark.spec("4 POST /quote", "the other errors")
@pytest.mark.parametrize(
    ("credit", "values"),
    [(None, {}), ("59.99", {}), ("66.59", {"shipping_method": {"id": STANDARD}})],
    ids=["no terms", "items beyond the limit", "shipping beyond the limit"],
)
def test_a_quote_needs_credit_like_an_order(shop: Service, credit: str | None, values: dict[str, Any]) -> None:
    customer = shop.customer(credit=credit)
    message(customer.post("/quote", order(**values)), 402)
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(0,)]


@pytest.mark.spec("4 POST /quote", "the other errors")
@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"items": []}, "items"),
        ({"items": [{"sku": "NOTHING", "quantity": 1}]}, "items[0].sku"),
        ({"items": [{"sku": "PHONE", "quantity": 0}]}, "items[0].quantity"),
        ({"customer_reference": " "}, "customer_reference"),
        ({"billing_address": {"id": 1}}, "billing_address.id"),
        ({"shipping_method": {"id": 99}}, "shipping_method.id"),
        ({"shipping_region": 99}, "shipping_region"),
        ({"auto_confirm": "yes"}, "auto_confirm"),
    ],
)
def test_a_quote_is_validated_like_an_order(
    shop: Service, customer: Customer, wrong: dict[str, Any], field: str
) -> None:
    before = written(shop)
    assert message(customer.post("/quote", {**order(), **wrong}), 400).startswith(field)
    assert written(shop) == before


# --- confirming --------------------------------------------------------------------------------------------------


@pytest.mark.spec("7 412", "a quote before it is priced")
def test_an_unpriced_quote_cannot_be_confirmed(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    with at(shop, MORNING + timedelta(days=3000)):
        assert "not priced yet" in message(confirm(customer, quote), 412)
    assert state(shop, quote) == ("quote", "pending")


@pytest.mark.spec("3 POST /quote", "the code then confirms the order at the adjusted price")
def test_a_priced_quote_becomes_an_order_at_its_price(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "BARGAIN", 100, available=5)
    quote = request_quote(customer, [(sku, 2), ("CABLE", 1)])
    price_as_support(shop, quote, (sku.lower(), "79.99"))
    response = confirm(customer, quote)
    assert response.status_code == 200
    placed = response.json()
    assert [item["cost_net"] for item in placed["items"]] == [159.98, 1.99]
    assert (placed["cost_net"], placed["cost_tax"], placed["cost_gross"]) == (161.97, 32.40, 194.37)
    assert placed["confirmation_code"] == quote["confirmation_code"]
    found = read(customer, placed)
    assert (found["cost_gross"], found["items"][0]["cost_net"]) == (194.37, 159.98)
    assert customer.get("/order").json() == [found]
    assert level(shop, sku) == (3, 2, 0)
    assert faults_in_the_books(shop) == {}


def test_later_changes_of_the_price_list_do_not_change_the_price(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "MOVING", 100)
    quote = request_quote(customer, [(sku, 1), (sku, 12)])
    price_as_support(shop, quote, (sku, "60"))
    shop.must_load("price-list", [price(sku, 500)])
    shop.must_load("products", [{"sku": sku, "active": False}])
    assert confirm(customer, quote).json()["cost_net"] == 780.00


def test_lines_without_a_new_price_keep_the_requests_price(shop: Service, customer: Customer) -> None:
    sku, other = sell(shop, "NAMED", 100), sell(shop, "LEFT", 70)
    quote = request_quote(customer, [(sku, 1), (other, 1), (sku, 3)])
    shop.must_load("price-list", [price(other, 1)])
    price_as_support(shop, quote, (sku, "0"))
    assert [item["cost_net"] for item in confirm(customer, quote).json()["items"]] == [0, 70, 0]


def test_tax_is_rounded_on_each_line(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer, [("PHONE", 1)] * 3)
    price_as_support(shop, quote, ("PHONE", "0.13"))  # 20 % of it is 2.6 pence
    placed = confirm(customer, quote).json()
    assert (placed["cost_net"], placed["cost_tax"]) == (0.39, 0.09)


def test_a_quote_to_an_untaxed_country_stays_untaxed(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer, shipping_address=GERMAN_ADDRESS)
    price_as_support(shop, quote, ("PHONE", "10"))
    assert confirm(customer, quote, 71).json()["cost_gross"] == 10


def test_confirming_twice_returns_the_same_order(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", "1"))
    first, again = confirm(customer, quote), confirm(customer, quote)
    assert (again.status_code, again.content) == (200, first.content)
    with at(shop, MORNING + A_WEEK + ONE_SECOND):
        assert confirm(customer, quote).content == first.content
    message(confirm(customer, quote, NEXT_DAY), 400)
    assert len(customer.get("/order").json()) == 1


def test_a_priced_quote_expires_exactly_a_week_after_its_pricing(shop: Service, customer: Customer) -> None:
    in_time, too_late = request_quote(customer), request_quote(customer)
    with at(shop, MORNING + timedelta(days=30)):
        for quote in (in_time, too_late):
            price_as_support(shop, quote, ("PHONE", "1"))
    with at(shop, MORNING + timedelta(days=30) + A_WEEK):
        assert confirm(customer, in_time).status_code == 200
    with at(shop, MORNING + timedelta(days=30) + A_WEEK + ONE_SECOND):
        assert "the quote has expired" in message(confirm(customer, too_late), 410)
    assert state(shop, too_late) == ("quote", "pending")


def test_unpriced_quotes_do_not_expire(shop: Service, customer: Customer) -> None:
    waiting, priced = request_quote(customer), request_quote(customer)
    price_as_support(shop, priced, ("PHONE", "1"))
    shop.in_transaction(lambda tx: expire_orders(tx, MORNING + A_WEEK))
    assert [state(shop, quote)[1] for quote in (waiting, priced)] == ["pending", "pending"]
    shop.in_transaction(lambda tx: expire_orders(tx, MORNING + A_WEEK + ONE_SECOND))
    assert [state(shop, quote)[1] for quote in (waiting, priced)] == ["pending", "expired"]
    assert "the quote has expired" in message(confirm(customer, priced), 410)


def test_another_customers_quote_is_not_found(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", "1"))
    foreign, unknown = confirm(shop.customer(), quote), confirm(customer, {"confirmation_code": "nothing"})
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.content.replace(quote["confirmation_code"].encode(), b"nothing") == unknown.content


def test_a_quote_needs_a_shipping_method_like_an_order(shop: Service) -> None:
    customer = shop.customer()
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", "1"))
    assert "shipping_method: is required" in message(confirm(customer, quote, None), 412)
    shop.in_transaction(lambda tx: edit_account(tx, customer.id, CustomerChange(shipping_method=NEXT_DAY)))
    assert confirm(customer, quote, None).json()["shipping_method"]["id"] == NEXT_DAY


def test_credit_is_checked_at_the_quoted_price_when_it_is_confirmed(shop: Service) -> None:
    customer = shop.customer(credit="70.00")  # one phone costs 60.00; with STANDARD 66.60
    dearer, cheaper = request_quote(customer), request_quote(customer)
    price_as_support(shop, dearer, ("PHONE", "60"))
    price_as_support(shop, cheaper, ("PHONE", "52"))
    message(confirm(customer, dearer), 402)
    assert confirm(customer, cheaper).status_code == 200
    assert faults_in_the_books(shop) == {}


# --- unique references -------------------------------------------------------------------------------------------


def test_an_open_quote_and_an_order_cannot_share_a_unique_reference(shop: Service) -> None:
    customer = shop.customer(unique_references=True)
    quote = request_quote(customer)
    for path in ("/order", "/quote"):
        assert quote["confirmation_code"] in message(customer.post(path, order()), 409)
    price_as_support(shop, quote, ("PHONE", "1"))
    placed = confirm(customer, quote).json()
    for path in ("/order", "/quote"):
        assert placed["order_reference"] in message(customer.post(path, order()), 409)


def test_a_quote_with_the_reference_of_an_order_is_rejected(shop: Service) -> None:
    customer = shop.customer(unique_references=True)
    placed = buy(customer)
    assert placed["order_reference"] in message(customer.post("/quote", order()), 409)


def test_the_reference_of_an_expired_quote_can_be_used_again(shop: Service) -> None:
    customer = shop.customer(unique_references=True)
    quote = request_quote(customer)
    with at(shop, MORNING + timedelta(days=100)):
        message(customer.post("/quote", order()), 409)
        price_as_support(shop, quote, ("PHONE", "1"))
    with at(shop, MORNING + timedelta(days=107)):
        message(customer.post("/order", order()), 409)
    with at(shop, MORNING + timedelta(days=107) + ONE_SECOND):
        assert customer.post("/order", order()).status_code == 201


def test_a_quote_keeps_its_copy_of_a_deleted_address(shop: Service, customer: Customer) -> None:
    address = customer.post("/customer/address", ADDRESS).json()
    quote = request_quote(customer, shipping_address={"id": address["id"]})
    customer.delete(f"/customer/address/{address['id']}")
    price_as_support(shop, quote, ("PHONE", "1"))
    assert confirm(customer, quote).json()["shipping_address"] == quote["shipping_address"] == address
