"""`POST /order`: validates, prices and creates a pending order (specification, sections 3 and 4)."""

import pytest

from support.orders import at, create, lines, read, rows, sell, uk
from support.service import MORNING, Service
from support.shop import ADDRESS, GERMAN_ADDRESS, NEXT_DAY, STANDARD, order, price

BILLING = {
    **ADDRESS,
    "company_name": "Example Ltd",
    "street_two": "Unit 2",
    "street_three": "The Yard",
    "state": "West Yorkshire",
    "contact_number": "0113 496 0000",
    "tax_number": "GB123456789",
}
FULL_ORDER = order(
    [("PHONE", 3), ("CABLE", 12)],
    customer_reference="PO-42",
    billing_address=BILLING,
    shipping_method={"id": STANDARD},
    shipping_region=1,
    external_customer_id="EC-7",
    order_notifications={"email_address": "orders@test.example", "phone_number": "+44 113 496 0001"},
    courier_notifications={"email_address": "door@test.example"},
    auto_confirm=False,
)


@pytest.mark.spec("2 Order request", "the response has every field")
@pytest.mark.spec(
    "3 POST /order, to be confirmed", "the order is pending; the response has its code and the shipping options"
)
@pytest.mark.spec("4 POST /order", "validates, prices, returns options and code; 201")
@pytest.mark.spec("6 Events", "orders carry the contacts for notifications")
def test_the_response_has_every_field(shop: Service) -> None:
    customer = shop.customer()
    response = customer.post("/order", FULL_ORDER)

    assert response.status_code == 201
    assert response.headers["Content-Type"] == "application/json"
    created = response.json()
    ids = [item.pop("id") for item in created["items"]]
    assert all(isinstance(item_id, int) for item_id in ids)
    assert len(set(ids)) == 2
    code = created.pop("confirmation_code")
    assert isinstance(code, str)
    assert len(code) >= 32
    standard = {
        "id": STANDARD,
        "provider": "Slowpost",
        "description": "Standard",
        "cost_net": 7.10,
        "expected_dispatch_date": "2026-06-16T16:00:00",
        "expected_arrival_date": "2026-06-18T17:30:00",
        "total_gross": 214.30,
    }
    assert created == {
        "customer_reference": "PO-42",
        "items": [
            {"sku": "PHONE", "quantity": 3, "cost_net": 150.00},
            {"sku": "CABLE", "quantity": 12, "cost_net": 21.48},
        ],
        "billing_address": BILLING,
        "shipping_address": ADDRESS,
        "shipping_method": standard,
        "shipping_region": 1,
        "external_customer_id": "EC-7",
        "order_notifications": {"email_address": "orders@test.example", "phone_number": "+44 113 496 0001"},
        "courier_notifications": {"email_address": "door@test.example"},
        "auto_confirm": False,
        "shipping_options": [
            standard,
            {
                "id": NEXT_DAY,
                "provider": "Fastvan",
                "description": "Next day",
                "cost_net": 10.00,
                "expected_dispatch_date": "2026-06-16T17:30:00",
                "expected_arrival_date": "2026-06-17T17:30:00",
                "total_gross": 217.78,
            },
        ],
        "shipping_weight": 4.2,
        "cost_net": 171.48,
        "cost_tax": 34.30,
        "cost_gross": 205.78,
    }


@pytest.mark.spec("2 Order request", "the required fields are required, the others are not")
def test_an_order_with_only_required_fields_has_no_optional_fields(shop: Service) -> None:
    created = create(shop.customer())
    assert created.keys() == {
        "customer_reference",
        "items",
        "billing_address",
        "shipping_address",
        "shipping_region",
        "confirmation_code",
        "shipping_options",
        "shipping_weight",
        "cost_net",
        "cost_tax",
        "cost_gross",
    }


@pytest.mark.spec("4 POST /order", "validates, prices, returns options and code; 201")
@pytest.mark.parametrize(
    ("quantity", "cost_net"), [(1, 50.00), (4, 200.00), (5, 225.00), (9, 405.00), (10, 400.00), (11, 440.00)]
)
def test_a_lines_price_break_depends_on_its_quantity(shop: Service, quantity: int, cost_net: float) -> None:
    [item] = create(shop.customer(), [("PHONE", quantity)])["items"]
    assert item["cost_net"] == cost_net


def test_lines_of_one_sku_are_priced_separately(shop: Service) -> None:
    customer = shop.customer()
    created = create(
        customer, [("PHONE", 4), ("CABLE", 1), ("PHONE", 6)], auto_confirm=True, shipping_method={"id": 11}
    )
    assert [(item["sku"], item["quantity"], item["cost_net"]) for item in created["items"]] == [
        ("PHONE", 4, 200.00),
        ("CABLE", 1, 1.99),
        ("PHONE", 6, 270.00),
    ]
    assert [(item["product"]["sku"], item["quantity"]) for item in read(customer, created)["items"]] == [
        ("PHONE", 4),
        ("CABLE", 1),
        ("PHONE", 6),
    ]


def test_lines_of_one_sku_share_the_stock_in_order(shop: Service) -> None:
    sku = sell(shop, "SHARED", available=5)
    placed = create(shop.customer(), [(sku, 3), (sku, 4)], auto_confirm=True, shipping_method={"id": STANDARD})
    assert lines(shop, placed) == [(sku, 3, 0), (sku, 2, 2)]


@pytest.mark.spec("1 General rules", "prices are numbers; gross is net and tax")
@pytest.mark.spec("2 Order", "costs cover the items; shipping has its own")
def test_totals_exclude_shipping(shop: Service) -> None:
    created = create(shop.customer(), [("PHONE", 1), ("SWITCH", 1)], shipping_method={"id": NEXT_DAY})
    assert (created["cost_net"], created["cost_tax"], created["cost_gross"]) == (349.99, 70.00, 419.99)


def test_tax_is_rounded_line_by_line(shop: Service) -> None:
    created = create(shop.customer(), [("CABLE", 1)] * 3)
    assert (created["cost_net"], created["cost_tax"], created["cost_gross"]) == (5.97, 1.20, 7.17)


def test_a_sku_is_found_in_any_case_and_shown_as_in_the_catalogue(shop: Service) -> None:
    [item] = create(shop.customer(), [("pHoNe", 1)])["items"]
    assert item["sku"] == "PHONE"


@pytest.mark.spec("2 Order request", "read-only fields are ignored on input")
def test_read_only_fields_are_ignored(shop: Service) -> None:
    body = order(
        items=[],
        confirmation_code="mine",
        order_id=7,
        order_reference="ORD-7",
        shipping_options=[],
        shipping_weight=0,
        cost_net=0.01,
        cost_tax="none",
        cost_gross=None,
        unheard_of={"of": True},
    )
    body["items"] = [{"id": 5, "sku": "PHONE", "quantity": 1, "cost_net": 0.01}]
    response = shop.customer().post("/order", body)
    assert response.status_code == 201, response.text
    created = response.json()
    assert created["confirmation_code"] != "mine"
    assert "order_id" not in created
    assert (created["items"][0]["cost_net"], created["cost_gross"]) == (50.00, 60.00)
    assert created["items"][0]["id"] != 5


def test_the_account_discount_applies_to_every_break(shop: Service) -> None:
    created = create(shop.customer(discount="12.5"), [("PHONE", 1), ("PHONE", 5), ("PHONE", 10), ("CABLE", 1)])
    assert [item["cost_net"] for item in created["items"]] == [43.75, 196.90, 350.00, 1.74]


def test_the_customers_price_list_takes_precedence(shop: Service) -> None:
    shop.must_load("price-list", [price("PHONE", 30, price_list="gold")])
    created = create(shop.customer(price_list="gold"), [("PHONE", 10), ("CABLE", 1)])
    assert [item["cost_net"] for item in created["items"]] == [300.00, 1.99]


def test_a_valid_contract_price_takes_precedence_without_discount(shop: Service) -> None:
    customer = shop.customer(discount=50)
    shop.must_load(
        "contract-prices",
        [
            {
                "customer_id": customer.id,
                "sku": "PHONE",
                "single_unit_cost": 33,
                "five_plus_unit_cost": 22,
                "valid_from": "2026-06-10",
                "valid_until": "2026-06-16",
            }
        ],
    )
    costs = []
    for moment in (uk(2026, 6, 9, 23, 59, 59), uk(2026, 6, 10), uk(2026, 6, 16, 23, 59, 59), uk(2026, 6, 17)):
        with at(shop, moment):
            costs.append([item["cost_net"] for item in create(customer, [("PHONE", 1), ("PHONE", 10)])["items"]])
    assert costs == [[25.00, 200.00], [33.00, 220.00], [33.00, 220.00], [25.00, 200.00]]


@pytest.mark.spec("2 Order request", "the weight is the sum of all items")
def test_the_weight_is_the_sum_of_all_known_weights(shop: Service) -> None:
    weightless = sell(shop, "WEIGHTLESS", weight_kg=None)
    created = create(shop.customer(), [("SWITCH", 2), ("CABLE", 3), (weightless, 50)])
    assert created["shipping_weight"] == 10.3


@pytest.mark.spec(
    "3 POST /order, to be confirmed", "the order is pending; the response has its code and the shipping options"
)
def test_a_pending_order_is_not_listed_and_uses_no_stock_or_credit(shop: Service) -> None:
    customer, sku = shop.customer(), sell(shop, "PENDING", available=5)
    create(customer, [(sku, 5)], shipping_method={"id": STANDARD})
    shop.refresh()
    assert customer.get("/order").json() == []
    assert customer.get(f"/product/{sku}").json()["availability"]["available"] == 5
    assert customer.get("/customer/credit").json()["total_outstanding"] == 0


def test_a_pending_order_is_stored_with_all_its_fields(shop: Service) -> None:
    customer = shop.customer()
    code = create(customer, shipping_address=GERMAN_ADDRESS, external_customer_id="EC-8")["confirmation_code"]
    assert rows(
        shop,
        "select customer_id, state, kind, external_customer_id, shipping_address ->> 'city', created_at"
        " from orders where confirmation_code = %s",
        code,
    ) == [(customer.id, "pending", "order", "EC-8", "Hamburg", MORNING)]


def test_confirmation_codes_are_unique(shop: Service) -> None:
    customer = shop.customer()
    assert len({create(customer)["confirmation_code"] for _ in range(5)}) == 5
