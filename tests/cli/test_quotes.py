"""`quote` and what `order` says of quotes: listed, shown and priced, against the running API."""

from datetime import timedelta
from typing import Any

import pytest

from support.command_line import Forker, Program
from support.orders import at, confirm, create, sell
from support.quotes import jobs, request_quote
from support.service import MORNING, Customer, Service
from support.shop import NEXT_DAY, STANDARD, stock_shop

pytestmark = pytest.mark.sweep  # seconds for each of its stories

AS_TABLE = ["confirmation_code", "customer_id", "customer_reference", "state", "created_on", "priced_on", "expires_on"]


@pytest.fixture(scope="module")
def shop(service: Service) -> Service:
    stock_shop(service)
    return service


@pytest.fixture(scope="module")
def tradecounter(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("quotes"), shop.database_url, forker)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def code(customer: Customer) -> str:
    """The code of a quote for two phones and a cable."""
    return str(request_quote(customer, [("PHONE", 2), ("CABLE", 1)])["confirmation_code"])


def codes(quotes: list[dict[str, Any]]) -> list[str]:
    return [quote["confirmation_code"] for quote in quotes]


def test_a_quote_waiting_for_a_price_is_listed_and_shown(tradecounter: Program, customer: Customer, code: str) -> None:
    [listed] = [quote for quote in tradecounter.json("quote", "list") if quote["confirmation_code"] == code]
    assert listed == tradecounter.json("quote", "show", code)
    assert {name: listed[name] for name in AS_TABLE} == {
        "confirmation_code": code,
        "customer_id": customer.id,
        "customer_reference": "PO-1",
        "state": "pending",
        "created_on": "2026-06-16T09:00:00",
        "priced_on": None,
        "expires_on": None,
    }
    assert (type(listed["id"]), listed["kind"], listed["pricings"], listed["note"]) == (int, "quote", 0, None)
    assert [(item["sku"], item["quantity"], item["unit_cost"]) for item in listed["items"]] == [
        ("PHONE", 2, 50),
        ("CABLE", 1, 1.99),
    ]


def test_waiting_quotes_are_listed_oldest_first_and_all_quotes_latest_first(
    shop: Service, tradecounter: Program, customer: Customer
) -> None:
    first, priced, confirmed, last = (request_quote(customer) for _ in range(4))
    with at(shop, MORNING - timedelta(days=1)):
        older = request_quote(customer)
    for quote in (priced, confirmed):
        tradecounter.json("quote", "price", quote["confirmation_code"], "--item", "PHONE=1", "--force")
    assert confirm(customer, confirmed).status_code == 200
    ours = codes([older, first, priced, confirmed, last])

    waiting = [found for found in codes(tradecounter.json("quote", "list")) if found in ours]
    assert waiting == codes([older, first, last])
    every = [found for found in codes(tradecounter.json("quote", "list", "--all")) if found in ours]
    assert every == codes([older, last, confirmed, priced, first])
    assert codes(tradecounter.json("quote", "list", "--all", "--limit", "1")) == codes([older])
    assert create(customer)["confirmation_code"] not in tradecounter.text("quote", "list", "--all")


def test_a_price_is_printed_emailed_and_can_be_confirmed(
    shop: Service, tradecounter: Program, customer: Customer, code: str
) -> None:
    priced = tradecounter.json("quote", "price", code, "--item", "phone=41.5", "--note", " Just for you ")
    assert priced == tradecounter.json("quote", "show", code)
    assert [(item["unit_cost"], item["cost_net"], item["cost_tax"]) for item in priced["items"]] == [
        (41.5, 83, 16.6),
        (1.99, 1.99, 0.4),
    ]
    assert (priced["cost_net"], priced["cost_tax"], priced["cost_gross"]) == (84.99, 17, 101.99)
    assert (priced["pricings"], priced["note"], priced["state"]) == (1, "Just for you", "pending")
    assert priced["priced_on"] < priced["expires_on"]
    assert [job["pricing"] for job in jobs(shop, "mail_quote_priced", priced)] == [1]

    placed = confirm(customer, priced).json()
    assert placed["cost_net"] == 84.99
    shown = tradecounter.json("quote", "show", code)
    assert (shown["state"], shown["order_reference"]) == ("confirmed", placed["order_reference"])


def test_a_price_expires_after_the_configured_lifetime(tradecounter: Program, code: str) -> None:
    tradecounter.json("quote", "price", code, "--item", "PHONE=1", "--force", TRADECOUNTER_QUOTE_LIFETIME="0.001")
    assert "the quote expired" in tradecounter.error("quote", "price", code, "--item", "PHONE=2")


def test_several_items_are_priced_and_a_sku_may_contain_an_equals_sign(
    shop: Service, tradecounter: Program, customer: Customer
) -> None:
    sku = sell(shop, "A=B", 10)
    code = request_quote(customer, [(sku, 1), ("PHONE", 1), ("CABLE", 1)])["confirmation_code"]
    priced = tradecounter.json("quote", "price", code, "--item", "a=b=9.99", "--item", "CABLE=0", "--force")
    assert [item["unit_cost"] for item in priced["items"]] == [9.99, 50, 0]


def test_shipping_is_priced_for_a_quote_without_a_suitable_method(tradecounter: Program, customer: Customer) -> None:
    code = request_quote(customer, [("SWITCH", 300)])["confirmation_code"]
    problem = "--shipping: no method fits this quote: name the carriage, as a shipping method with its cost"
    assert tradecounter.error("quote", "price", code, "--item", "SWITCH=250") == problem
    priced = tradecounter.json("quote", "price", code, "--item", "SWITCH=250", "--shipping", "12=80.5")
    assert priced["shipping_options"] == [
        {"id": NEXT_DAY, "provider": "Fastvan", "description": "Next day", "cost_net": 80.5, "total_gross": 90096.6}
    ]
    again = tradecounter.json("quote", "price", code, "--shipping", "11=95")
    assert [(option["id"], option["cost_net"]) for option in again["shipping_options"]] == [(12, 80.5), (11, 95)]
    assert again["items"] == priced["items"]
    shown = tradecounter.text("quote", "show", code)
    assert "Shipping options" in shown
    assert ["11", "95.00", "Slowpost", "Standard", "90114.00"] in [line.split() for line in shown.splitlines()]


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (["NOTHING=1"], "--item NOTHING=1: the quote has no line with this SKU"),
        (["PHONE=1000001"], "--item PHONE=1000001: the unit cost must be between 0 and 1000000"),
        (["PHONE=1", "phone=1"], "--item phone=1: is named twice"),
    ],
)
def test_a_bad_price_is_rejected_and_changes_nothing(
    tradecounter: Program, code: str, items: list[str], reason: str
) -> None:
    before = tradecounter.json("quote", "show", code)
    words = [word for item in items for word in ("--item", item)]
    assert tradecounter.error("quote", "price", code, *words) == reason
    assert tradecounter.json("quote", "show", code) == before


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "at least one --item or --shipping is required"),
        (["--shipping", "12"], "'12' is not ID=COST"),
        (["--shipping", "x=1"], "'x=1' is not ID=COST"),
        (["--shipping", "12=cheap"], "'cheap' is not an amount"),
        (["--item", "PHONE"], "'PHONE' is not SKU=UNIT_COST"),
        (["--item", "=1"], "'=1' is not SKU=UNIT_COST"),
        (["--item", "PHONE=cheap"], "'cheap' is not an amount"),
        (["--item", "PHONE="], "'' is not an amount"),
        (["--item", "PHONE=-1"], "'-1' has a sign"),
        (["--item", "PHONE=NaN"], "'NaN' is not an amount"),
        (["--item", "PHONE=1.001"], "'1.001' has more than 2 decimal places"),
    ],
)
def test_an_invalid_price_is_a_usage_error(tradecounter: Program, code: str, words: list[str], problem: str) -> None:
    assert problem in tradecounter.misused("quote", "price", code, *words)
    assert tradecounter.json("quote", "show", code)["pricings"] == 0


def test_orders_and_closed_quotes_cannot_be_priced(tradecounter: Program, customer: Customer, code: str) -> None:
    cost = ("--item", "PHONE=1", "--force")
    order = create(customer)["confirmation_code"]
    assert tradecounter.error("quote", "price", order, *cost) == f"{order} is an order, not a quote"
    assert tradecounter.error("quote", "price", "nothing", *cost) == "quote nothing not found"
    assert tradecounter.error("quote", "show", order) == f"quote {order} not found"
    tradecounter.json("quote", "price", code, *cost)
    reference = confirm(customer, {"confirmation_code": code}).json()["order_reference"]
    assert (
        tradecounter.error("quote", "price", code, *cost)
        == f"the quote is already order {reference}, which is awaiting dispatch"
    )


def test_quotes_are_printed_as_tables(tradecounter: Program, code: str) -> None:
    shown = tradecounter.text(
        "quote", "price", code, "--item", "PHONE=12.34", "--force", "--note", "first\nsecond\x1b[31m"
    )
    lines = [line.split() for line in shown.splitlines()]
    assert ["confirmation_code", code] in lines
    assert ["note", r"first\nsecond\x1b[31m"] in lines
    assert ["id", "sku", "quantity", "unit_cost", "cost_net", "cost_tax", "name"] in lines
    header, *rows = tradecounter.text("quote", "list", "--all").splitlines()
    assert sorted(header.split()) == sorted([*AS_TABLE, "cost_gross"])
    assert any(row.startswith(code) for row in rows)


def test_order_list_distinguishes_quotes_from_orders(tradecounter: Program, customer: Customer, code: str) -> None:
    order = create(customer)["confirmation_code"]
    kinds = {found["confirmation_code"]: found["kind"] for found in tradecounter.json("order", "list")}
    assert (kinds[code], kinds[order]) == ("quote", "order")
    assert tradecounter.json("order", "show", code)["kind"] == "quote"
    assert code in codes(tradecounter.json("order", "list", "--status", "pending"))
    header = tradecounter.text("order", "list").splitlines()[0].split()
    assert header[:2] == ["order", "status"]
    assert "kind" in header


def test_support_confirms_a_quote_that_its_customer_has_accepted(
    tradecounter: Program, shop: Service, customer: Customer, code: str
) -> None:
    error = tradecounter.error("quote", "confirm", code)
    assert error == f"the quote {code} is not priced yet: price it first"
    tradecounter.json("quote", "price", code, "--item", "PHONE=40")
    assert "shipping_method: is required" in tradecounter.error("quote", "confirm", code)
    assert "999 is not among the shipping options" in tradecounter.error(
        "quote", "confirm", code, "--shipping-method", "999"
    )
    order = tradecounter.json("quote", "confirm", code[:24], "--shipping-method", str(STANDARD))
    assert (order["state"], order["status"], order["customer_id"]) == ("confirmed", "Awaiting dispatch", customer.id)
    assert customer.get(f"/order/{order['order_reference']}").json()["cost_net"] == 81.99
    assert len(jobs(shop, "mail_order_confirmed", {"confirmation_code": code})) == 1
    again = tradecounter.json("quote", "confirm", code)
    assert again["order_reference"] == order["order_reference"]
    assert len(jobs(shop, "mail_order_confirmed", {"confirmation_code": code})) == 1


def test_a_confirmation_by_support_respects_the_credit_limit(tradecounter: Program, shop: Service) -> None:
    poor = shop.customer(credit="100.00")
    code = request_quote(poor)["confirmation_code"]
    tradecounter.json("quote", "price", code, "--item", "PHONE=500")
    error = tradecounter.error("quote", "confirm", code, "--shipping-method", str(STANDARD))
    assert "exceeds the available credit" in error


def test_an_unknown_quote_cannot_be_confirmed(tradecounter: Program) -> None:
    assert tradecounter.error("quote", "confirm", "nowhere") == "quote nowhere not found"


def test_a_discount_counts_from_the_prices_at_the_request_and_is_guarded(
    shop: Service, tradecounter: Program, customer: Customer
) -> None:
    sku = sell(shop, "COSTED", 80, purchase_cost="50")
    code = request_quote(customer, [(sku, 2), (sku, 1)])["confirmation_code"]
    price = ["quote", "price", code]
    half = tradecounter.json(*price, "--discount", "25")
    assert [item["unit_cost"] for item in half["items"]] == [60, 60]
    assert half["margin"] == {"net": 180, "purchase": 150, "margin": 30, "percent": 16.67}
    assert "£30.00 of £180.00" in tradecounter.text("quote", "show", code)
    preview = tradecounter.json(*price, "--discount", "10", "--item", f"{sku}=70", "--dry-run")
    assert ([item["unit_cost"] for item in preview["items"]], preview["pricings"]) == ([70, 70], 2)
    assert tradecounter.json("quote", "show", code) == half
    again = tradecounter.json(*price, "--discount", "10")
    assert [item["unit_cost"] for item in again["items"]] == [72, 72]
    assert "£49.99 is below its purchase cost of £50.00" in tradecounter.error(*price, "--item", f"{sku}=49.99")
    cable = request_quote(customer, [("CABLE", 1)])["confirmation_code"]
    assert "more than half off its price of £1.99" in tradecounter.error("quote", "price", cable, "--discount", "51")
    assert tradecounter.json("quote", "price", cable, "--discount", "51", "--force")["margin"] is None
    assert "discount: must be between 0 and 100" in tradecounter.error(*price, "--discount", "101")
    assert sku in customer.get(f"/product/{sku}").text
    assert "purchase" not in customer.get(f"/product/{sku}").text + customer.get(f"/quote/{code}").text


def test_a_quote_is_declined_with_a_reason(tradecounter: Program, customer: Customer) -> None:
    code = request_quote(customer)["confirmation_code"]
    declined = tradecounter.json("quote", "decline", code, "--reason", "Out of range")
    assert (declined["state"], declined["cancel_reason"]) == ("cancelled", "Out of range")
    assert customer.get(f"/quote/{code}").json()["status"] == "Declined"
    assert "is already declined" in tradecounter.error("quote", "decline", code, "--reason", "again")
    assert customer.put(f"/order/{code}").status_code == 410
