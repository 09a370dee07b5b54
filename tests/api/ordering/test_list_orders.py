"""`GET /order`: the customer's confirmed orders, newest first, in pages (specification, sections 1 and 4)."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from support.billing import invoiced, pay
from support.orders import at, buy, cancel, confirm, create, dispatch, sell
from support.service import MORNING, Customer, Service
from support.shop import NEXT_DAY
from support.shop import order as body_of
from tradecounter.orders.cancel_order import expire_orders

COLUMNS = [
    "id",
    "order_reference",
    "customer_reference",
    "cost_net",
    "cost_tax",
    "cost_gross",
    "created_on",
    "status",
    "items",
    "shipping",
    "shipping_address",
    "external_customer_id",
    "expected_dispatch_date",
    "changed_on",
]
CSV = {"Accept": "text/csv"}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    """A customer with seven orders, PO-1 to PO-7, confirmed an hour apart."""
    customer = shop.customer()
    for hour in range(7):
        with at(shop, MORNING + timedelta(hours=hour)):
            buy(
                customer,
                [("PHONE", 1), ("CABLE", hour + 1)],
                customer_reference=f"PO-{hour + 1}",
                external_customer_id=f"end-{hour}" if hour % 2 else None,
            )
    return customer


def references(customer: Customer, **params: Any) -> list[str]:
    response = customer.get("/order", params=params)
    assert response.status_code == 200, response.text
    return [order["customer_reference"] for order in response.json()]


def parse(text: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""))


@pytest.mark.spec("1 Pagination", "orders come newest first")
@pytest.mark.spec("4 GET /order", "the customer's own open and completed orders, newest first")
@pytest.mark.spec("9 Versioning", "orders come newest first")
def test_orders_come_newest_first(customer: Customer) -> None:
    assert references(customer) == ["PO-7", "PO-6", "PO-5", "PO-4", "PO-3", "PO-2", "PO-1"]


@pytest.mark.spec("4 GET /order", "the customer's own open and completed orders, newest first")
def test_orders_are_listed_from_their_confirmation_to_their_completion(shop: Service) -> None:
    customer, sku = shop.customer(), sell(shop, "LISTED", available=100)
    completed = invoiced(shop, customer, (sku, 1))
    pay(shop, completed, "18.60")
    owed = invoiced(shop, customer, (sku, 1))
    gone = buy(customer, [(sku, 2)])
    dispatch(shop, gone)
    partly = buy(customer, [(sku, 2)])
    dispatch(shop, partly, (partly["items"][0]["id"], 1))
    open_ = buy(customer, [(sku, 1)])
    waiting = buy(customer, [(sku, 500)], NEXT_DAY)
    cancelled = buy(customer, [(sku, 1)])
    cancel(shop, cancelled)
    create(customer, [(sku, 1)])
    customer.post("/quote", body_of([(sku, 1)])).raise_for_status()
    for headers in ({}, CSV):
        for path in ("/order", "/order?limit=0", "/order?page=1&limit=500"):
            response = customer.get(path, headers=headers)
            listed = list(csv.DictReader(io.StringIO(response.text))) if headers else response.json()
            assert [(str(each["id"]), each["status"]) for each in listed] == [
                (str(placed["order_id"]), status)
                for placed, status in (
                    (waiting, "Back-ordered"), (open_, "Awaiting dispatch"), (partly, "Part dispatched"),
                    (gone, "Dispatched"), (owed, "Invoiced"), (completed, "Completed"),
                )
            ]  # fmt: skip
            assert response.headers["X-Total-Count"] == "6"


@pytest.mark.spec("1 Pagination", "orders come newest first")
def test_orders_are_sorted_by_confirmation_not_by_creation(shop: Service) -> None:
    customer = shop.customer()
    early, late = create(customer, customer_reference="early"), create(customer, customer_reference="late")
    confirm(customer, late)
    with at(shop, MORNING + timedelta(minutes=1)):
        confirm(customer, early)
    for headers in ({}, CSV):
        for size, pages in ((100, [["early", "late"]]), (1, [["early"], ["late"]])):
            for number, wanted in enumerate(pages, start=1):
                response = customer.get(f"/order?limit={size}&page={number}", headers=headers)
                listed = csv.DictReader(io.StringIO(response.text)) if headers else response.json()
                assert [each["customer_reference"] for each in listed] == wanted


def test_orders_confirmed_at_the_same_moment_are_sorted_by_number(shop: Service) -> None:
    customer = shop.customer()
    placed = [buy(customer)["order_id"] for _ in range(3)]
    assert [order["id"] for order in customer.get("/order").json()] == placed[::-1]


@pytest.mark.spec("1 Pagination", "pages count from 1; a page beyond the end is empty")
@pytest.mark.parametrize(
    ("page", "limit", "expected", "pages"),
    [
        (1, 3, ["PO-7", "PO-6", "PO-5"], 3),
        (2, 3, ["PO-4", "PO-3", "PO-2"], 3),
        (3, 3, ["PO-1"], 3),
        (4, 3, [], 3),
        (1, 7, ["PO-7", "PO-6", "PO-5", "PO-4", "PO-3", "PO-2", "PO-1"], 1),
        (2, 7, [], 1),
        (999_999_999, 500, [], 1),
    ],
)
def test_pages_divide_the_list_and_a_page_beyond_the_end_is_empty(
    customer: Customer, page: int, limit: int, expected: list[str], pages: int
) -> None:
    response = customer.get("/order", params={"page": page, "limit": limit})
    assert [order["customer_reference"] for order in response.json()] == expected
    assert {name: response.headers[f"X-{name}"] for name in ("Total-Count", "Page", "Limit", "Total-Pages")} == {
        "Total-Count": "7",
        "Page": str(page),
        "Limit": str(limit),
        "Total-Pages": str(pages),
    }


@pytest.mark.spec("4 GET /order", "as JSON or CSV, in pages")
def test_the_links_connect_all_pages(customer: Customer) -> None:
    seen, path = [], "/order?limit=3"
    while path:
        response = customer.get(path)
        seen += [order["customer_reference"] for order in response.json()]
        path = response.links["next"]["url"] if "next" in response.links else ""
    assert seen == references(customer)


@pytest.mark.sweep
@pytest.mark.spec("1 Pagination", "a page has 100 results unless limit says otherwise; 0 is everything")
@pytest.mark.spec("8 Page size", "500 at most, 100 by default, 0 is all")
def test_a_limit_of_0_returns_the_whole_history(shop: Service) -> None:
    customer = shop.customer()
    for _ in range(101):
        buy(customer, [("CABLE", 1)])
    whole, default = customer.get("/order", params={"limit": 0}), customer.get("/order")
    assert (len(whole.json()), len(default.json())) == (101, 100)
    assert (whole.headers["X-Limit"], whole.headers["X-Page"], whole.headers["X-Total-Pages"]) == ("0", "1", "1")
    assert (default.headers["X-Limit"], default.headers["X-Total-Pages"]) == ("100", "2")
    assert references(customer, limit=0, page=2) == []


@pytest.mark.spec("1 Pagination", "page and limit out of bounds are rejected")
@pytest.mark.spec("4 GET /order", "as JSON or CSV, in pages")
@pytest.mark.spec("8 Page size", "500 at most, 100 by default, 0 is all")
@pytest.mark.parametrize(
    "params",
    [
        {"page": 0},
        {"page": -1},
        {"page": "x"},
        {"limit": -1},
        {"limit": 501},
        {"limit": "all"},
        {"accept": "text/html"},
    ],
)
def test_an_invalid_page_limit_or_format_is_rejected(customer: Customer, params: dict[str, Any]) -> None:
    response = customer.get("/order", params=params)
    assert response.status_code == 400
    [name] = params
    assert response.json()["message"].startswith(f"{name}: ")


@pytest.mark.spec("2 Order", "every field, with the type in the table")
@pytest.mark.spec("4 GET /order", "as JSON or CSV, in pages")
def test_csv_has_a_row_per_order_with_the_fields_of_the_json(customer: Customer) -> None:
    response = customer.get("/order", headers=CSV)
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    header, *found = parse(response.text)
    assert header == COLUMNS
    orders = customer.get("/order").json()
    assert len(found) == len(orders)
    for row, order in zip(found, orders, strict=True):
        values = dict(zip(header, row, strict=True))
        for name in ("shipping", "shipping_address"):
            assert json.loads(values.pop(name)) == order.pop(name)
        assert json.loads(values.pop("items")) == [csv_item(item) for item in order.pop("items")]
        amounts = {name: f"{order.pop(name):.2f}" for name in ("cost_net", "cost_tax", "cost_gross")}
        assert values == {"external_customer_id": "", **order, "id": str(order["id"]), **amounts}


def csv_item(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item in its CSV form."""
    return {
        "id": item["id"],
        "sku": item["product"]["sku"],
        "quantity": item["quantity"],
        "cost_net": item["cost_net"],
        "cost_tax": item["cost_tax"],
    }


@pytest.mark.spec("4 GET /order", "as JSON or CSV, in pages")
def test_an_order_of_400_lines_fits_a_spreadsheets_cell(shop: Service) -> None:
    customer = shop.customer()
    buy(customer, [("CABLE", 1)] * 400, NEXT_DAY)
    _, [*row] = parse(customer.get("/order", headers=CSV).text)
    items = row[COLUMNS.index("items")]
    assert len(json.loads(items)) == 400
    assert len(items) < 32_767


def test_csv_lines_end_as_in_rfc_4180_and_odd_references_are_quoted(shop: Service) -> None:
    customer = shop.customer()
    odd = 'a "b", c\r\nd é'
    buy(customer, customer_reference=odd)
    response = customer.get("/order", headers=CSV)
    assert response.content.endswith(b"\r\n")
    assert response.content.startswith(",".join(COLUMNS).encode() + b"\r\n")
    assert '"a ""b"", c\r\nd é"' in response.text
    [_, row] = parse(response.text)
    assert row[2] == odd


@pytest.mark.spec("1 Content negotiation", "CSV without the header and for text/html")
@pytest.mark.spec("9 Versioning", "JSON in general, CSV for the two lists without an Accept header")
@pytest.mark.parametrize(
    ("accept", "override"), [("text/html", None), ("*/*", None), ("image/png", None), ("application/json", "text/csv")]
)
def test_csv_is_returned_unless_json_is_requested(customer: Customer, accept: str, override: str | None) -> None:
    params = {} if override is None else {"accept": override}
    response = customer.get("/order", headers={"Accept": accept}, params=params)
    assert response.headers["Content-Type"].startswith("text/csv")


@pytest.mark.spec("1 Pagination", "the CSV catalogue is whole unless page or limit is given; orders are always paged")
def test_csv_is_paged_like_json_even_without_page_and_limit(shop: Service) -> None:
    customer = shop.customer()
    for _ in range(3):
        buy(customer)
    response = customer.get("/order", headers=CSV, params={"page": 2, "limit": 2})
    assert len(list(parse(response.text))) == 2
    assert response.headers["X-Total-Pages"] == "2"
    assert customer.get("/order", headers=CSV).headers["X-Limit"] == "100"


def test_a_customer_without_orders_gets_an_empty_list_or_the_header_alone(shop: Service) -> None:
    customer = shop.customer()
    response = customer.get("/order")
    assert response.json() == []
    assert (response.headers["X-Total-Count"], response.headers["X-Total-Pages"]) == ("0", "0")
    assert "Link" not in response.headers
    assert customer.get("/order", headers=CSV).text == ",".join(COLUMNS) + "\r\n"


@pytest.mark.spec("4 GET /order", "the customer's own open and completed orders, newest first")
def test_only_the_customers_own_confirmed_orders_are_listed(shop: Service) -> None:
    customer, other = shop.customer(), shop.customer()
    buy(other)
    create(customer)
    cancelled, kept = buy(customer), buy(customer)
    with at(shop, MORNING - timedelta(days=2)):
        create(customer)
    shop.in_transaction(lambda tx: expire_orders(tx, MORNING))
    cancel(shop, cancelled)
    response = customer.get("/order")
    assert [order["id"] for order in response.json()] == [kept["order_id"]]
    assert response.headers["X-Total-Count"] == "1"


def test_head_has_the_headers_of_get_and_no_body(customer: Customer) -> None:
    head, get = (customer.http.request(method, "/order", params={"limit": 2}) for method in ("HEAD", "GET"))
    assert head.content == b""
    for name in ("X-Total-Count", "X-Page", "X-Limit", "X-Total-Pages", "Link", "Content-Type", "Content-Length"):
        assert head.headers[name] == get.headers[name]
