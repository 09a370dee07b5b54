"""Quotes without a shipping method: support sets the carriage with the price (specification, shipping cost)."""

from typing import Any

import httpx2
import pytest

from support.mail import deliver_mail, html, plain
from support.orders import confirm, read, rows, sell
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, EUROPE, NEXT_DAY, STANDARD, order
from tradecounter.kit.errors import DomainError
from tradecounter.orders.rules import MOST_POUNDS

TO_JAPAN = {**ADDRESS, "zip": "100-0001", "country_code": "JP"}
TOO_HEAVY = [("SWITCH", 201)]  # 1,005 kg; the limit of all methods is 1,000


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer(credit="1000000.00")


def message(response: httpx2.Response, status: int) -> str:
    assert response.status_code == status, response.text
    return str(response.json()["message"])


@pytest.mark.spec("4 POST /quote", "no shipping method fits: no options, and support sets the carriage (an addition)")
@pytest.mark.parametrize(
    ("items", "values", "region"),
    [
        pytest.param(TOO_HEAVY, {}, 1, id="too heavy"),
        pytest.param([("PHONE", 1)], {"shipping_address": TO_JAPAN}, 1, id="a country in no region"),
        pytest.param([("PHONE", 1)], {"shipping_address": TO_JAPAN, "shipping_region": 7}, 7, id="another region's"),
        pytest.param([("PHONE", 1)], {"shipping_region": 7}, 7, id="a region that does not serve the country"),
    ],
)
def test_items_without_a_shipping_method_are_rejected_as_an_order_and_accepted_as_a_quote(
    customer: Customer, items: list[tuple[str, int]], values: dict[str, Any], region: int
) -> None:
    rejected = message(customer.post("/order", order(items, **values)), 400)
    assert rejected.startswith("shipping_address")
    assert rejected.endswith("request a quote instead (POST /quote)")
    quote = request_quote(customer, items, **values)
    assert (quote["shipping_options"], quote["shipping_region"]) == ([], region)
    assert "shipping_method" not in quote
    assert customer.get(f"/quote/{quote['confirmation_code']}").json() == {**quote, "status": "Waiting"}


def test_an_unknown_region_or_an_unavailable_method_is_rejected(customer: Customer) -> None:
    unknown = customer.post("/quote", order(TOO_HEAVY, shipping_region=99))
    assert message(unknown, 400).startswith("shipping_region: region 99 does not exist")
    named = customer.post("/quote", order(TOO_HEAVY, shipping_method={"id": NEXT_DAY}))
    assert message(named, 400) == (
        "shipping_method.id: 12 is not among the shipping options: "
        "none fits; omit shipping_method, and support will set a delivery price"
    )


@pytest.mark.spec("4 POST /quote", "no shipping method fits: no options, and support sets the carriage (an addition)")
def test_support_sets_the_carriage_and_the_customer_confirms_with_it(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer, [("PHONE", 1)], shipping_address=TO_JAPAN)
    assert message(confirm(customer, quote, EUROPE), 412).startswith("the quote is not priced yet")
    price_as_support(shop, quote, ("PHONE", "40"), carriage=[(EUROPE, "123.45"), (NEXT_DAY, "99")])
    priced = customer.get(f"/quote/{quote['confirmation_code']}").json()
    assert [(option["id"], option["cost_net"]) for option in priced["shipping_options"]] == [
        (NEXT_DAY, 99),
        (EUROPE, 123.45),
    ]
    assert message(confirm(customer, quote, STANDARD), 400).startswith("shipping_method.id: 11 is not among")
    assert message(confirm(customer, quote, None), 412).startswith("shipping_method: is required")

    confirmed = confirm(customer, quote, EUROPE).json()
    assert confirmed["shipping_method"] == {
        "id": EUROPE,
        "provider": "Eurovan",
        "description": "Europe",
        "cost_net": 123.45,
        "expected_dispatch_date": "2026-06-16T14:00:00",
        "expected_arrival_date": "2026-06-22T17:30:00",
        "total_gross": 163.45,
    }
    [shipped] = read(customer, confirmed)["shipping"]
    assert (shipped["method_id"], shipped["cost_net"], shipped["cost_tax"]) == (EUROPE, 123.45, 0)
    assert customer.get("/customer/credit").json()["outstanding_orders"][-1]["total_cost"] == 163.45


def test_the_carriage_has_vat_when_the_items_have_it(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer, TOO_HEAVY)
    price_as_support(shop, quote, carriage=[(NEXT_DAY, "80")])
    [shipped] = read(customer, confirm(customer, quote, NEXT_DAY).json())["shipping"]
    assert (shipped["cost_net"], shipped["cost_tax"]) == (80, 16)


def test_carriage_replaces_the_price_of_one_option_only(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    price_as_support(shop, quote, carriage=[(STANDARD, "1.50")])
    price_as_support(shop, quote, ("PHONE", "45"), carriage=[(EUROPE, "7")])
    priced = customer.get(f"/quote/{quote['confirmation_code']}").json()
    costs = {option["id"]: option["cost_net"] for option in priced["shipping_options"]}
    assert costs == {STANDARD: 1.5, EUROPE: 7, NEXT_DAY: 10}
    assert confirm(customer, quote).json()["shipping_method"]["cost_net"] == 1.5


@pytest.mark.parametrize(
    ("carriage", "problem"),
    [
        ([], "shipping: no method fits this quote"),
        (
            [(99, "1")],
            "shipping[0].id: this shipping method does not exist; the methods are 11 (Slowpost, Standard), 12 (Fast",
        ),
        ([(2**63, "1")], "shipping[0].id: this shipping method does not exist"),
        ([(NEXT_DAY, "1"), (NEXT_DAY, "2")], "shipping[1].id: is named twice"),
        ([(NEXT_DAY, "-0.01")], "shipping[0].cost_net: the cost must be between 0 and"),
        ([(NEXT_DAY, str(MOST_POUNDS + 1))], "shipping[0].cost_net: the cost must be between 0 and"),
        ([(NEXT_DAY, "sNaN")], "shipping[0].cost_net: the cost must be between 0 and"),
        ([(NEXT_DAY, "1.005")], "shipping[0].cost_net: the cost 1.005 has more than two decimal places"),
    ],
)
def test_invalid_carriage_is_rejected_and_changes_nothing(
    shop: Service, customer: Customer, carriage: list[tuple[int, str]], problem: str
) -> None:
    quote = request_quote(customer, TOO_HEAVY)
    with pytest.raises(DomainError) as error:
        price_as_support(shop, quote, ("SWITCH", "200"), carriage=carriage)
    assert error.value.message.startswith(problem)
    found = customer.get(f"/quote/{quote['confirmation_code']}").json()
    assert found == {**quote, "status": "Waiting"}


def test_confirming_a_priced_quote_without_options_says_what_to_do(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", "45"))
    rows(
        shop,
        "update orders set shipping_options = '[]' where confirmation_code = %s returning id",
        quote["confirmation_code"],
    )
    rejected = message(confirm(customer, quote, None), 412)
    assert rejected == "shipping_method: no shipping method fits this order: ask support for a delivery price"


def test_a_quotes_weight_has_a_maximum(shop: Service) -> None:
    rich = shop.customer(credit="99999999999.00")
    sku = sell(shop, "MOUNTAIN", "0.01", weight_kg=1_000_000)
    assert request_quote(rich, [(sku, 1000)])["shipping_weight"] == 1_000_000_000
    for path in ("/quote", "/order"):
        rejected = message(rich.post(path, order([(sku, 1001)])), 400)
        assert rejected == "items: must weigh at most 1000000000 kg together"


@pytest.mark.parametrize(("items", "requested"), [(TOO_HEAVY, True), ([("PHONE", 1)], False)])
def test_the_mail_to_support_asks_for_the_carriage_only_without_a_method(
    shop: Service, items: list[tuple[str, int]], requested: bool
) -> None:
    quote = request_quote(shop.customer(), items)
    [mail] = [found for found in deliver_mail(shop) if quote["confirmation_code"] in plain(found)]
    for text in (plain(mail), html(mail)):
        assert ("--shipping METHOD_ID=COST" in text) == ("none fit: set the shipping cost" in text) == requested
