"""`/api/goods-in` and `/api/stock/count`, and what programs keep of a customer's people."""

from concurrent.futures import ThreadPoolExecutor

import httpx2
import psycopg
import pytest

from support.backoffice import BackOfficeSite
from support.error_bodies import error_body
from support.orders import buy, confirm, create, level, sell
from support.waiting import waiting_for_a_lock


def expected(staff: httpx2.Client, sku: str) -> str:
    """When the next delivery of a product is expected."""
    found = staff.get(f"/api/product/{sku}").json()["deliveries"]
    return str(found[0]["expected_on"])


def deliver(office: BackOfficeSite, sku: str, units: int) -> None:
    office.service.must_load("incoming", [{"sku": sku, "incoming": units, "expected_on": "2026-07-01"}])


def test_a_delivery_is_booked_in_and_serves_who_waits(staff: httpx2.Client, office: BackOfficeSite) -> None:
    sku = sell(office.service, "API-GOODS", 10)
    buy(office.service.customer(), [(sku, 4)])
    deliver(office, sku, 10)
    item = {"sku": sku.lower(), "expected_on": expected(staff, sku), "units": 6, "incoming": 10}
    done = staff.post("/api/goods-in", json={"items": [item]})
    assert done.json() == {"items": [{"sku": sku, "units": 6, "expected": 10, "served": 4}]}
    assert level(office.service, sku)[:2] == (2, 4)
    late = staff.post("/api/goods-in", json={"items": [item]})
    assert late.status_code == 409
    problem = "4 units are expected now, not 10: someone has booked some in"
    assert late.json() == error_body("conflict", f"items[0].units: {problem}", **{"items[0].units": problem})
    rest = staff.post("/api/goods-in", json={"items": [{**item, "units": 0, "incoming": 4, "ends": True}]})
    assert rest.status_code == 200
    assert staff.get(f"/api/product/{sku}").json()["deliveries"] == []


def test_an_order_that_is_confirmed_meanwhile_counts_among_those_that_are_served(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    sku, url = sell(office.service, "API-GOODS-3", 10), office.service.database_url
    deliver(office, sku, 3)
    office.service.refresh()
    customer = office.service.customer()
    pending = create(customer, [(sku, 5)])
    items = [{"sku": sku, "expected_on": expected(staff, sku), "units": 3}]
    with ThreadPoolExecutor(2) as threads:
        with psycopg.connect(url) as holder:
            level_of = "select from stock_level where product_id = (select id from product where sku = %s) for update"
            holder.execute(level_of, [sku])
            confirmed = threads.submit(confirm, customer, pending)
            waiting_for_a_lock(url)
            booked = threads.submit(staff.post, "/api/goods-in", json={"items": items})
            waiting_for_a_lock(url, processes=2)
        assert confirmed.result().status_code == 200
        assert booked.result().json() == {"items": [{"sku": sku, "units": 3, "expected": 3, "served": 3}]}


def test_one_wrong_item_books_nothing(staff: httpx2.Client, office: BackOfficeSite) -> None:
    sku = sell(office.service, "API-GOODS-2", 10)
    deliver(office, sku, 3)
    good = {"sku": sku, "expected_on": expected(staff, sku), "units": 3}
    for wrong, field in (
        ({**good, "sku": "NO-SUCH-SKU"}, "items[1].expected_on"),
        ({**good, "units": -1}, "items[1].units"),
        ({**good, "expected_on": "soon"}, "items[1].expected_on"),
        (good, "items[1].expected_on"),
    ):
        answer = staff.post("/api/goods-in", json={"items": [good, wrong]})
        assert answer.status_code == 400, wrong
        assert answer.json()["errors"][0]["field"] == field
    assert level(office.service, sku)[0] == 0
    assert staff.post("/api/goods-in", json={"items": []}).status_code == 400
    without_offset = {**good, "expected_on": str(good["expected_on"]).removesuffix("Z")}
    answer = staff.post("/api/goods-in", json={"items": [without_offset]})
    assert "must be a time with an offset" in answer.json()["message"]


def test_a_count_says_the_differences_and_a_dry_run_changes_nothing(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    less, same, more = (sell(office.service, f"API-COUNT-{n}", 10, available=5) for n in range(3))
    items = [{"sku": sku, "counted": units} for sku, units in ((less, 3), (same, 5), (more, 9))]
    shown = staff.post("/api/stock/count?dry_run=true", json={"items": items}).json()
    assert shown["items"] == [
        {"sku": less, "expected": 5, "counted": 3, "difference": -2},
        {"sku": more, "expected": 5, "counted": 9, "difference": 4},
    ]
    assert level(office.service, less)[0] == 5
    assert staff.post("/api/stock/count", json={"items": items, "reason": "Year end"}).json() == shown
    assert [level(office.service, sku)[0] for sku in (less, same, more)] == [3, 5, 9]
    assert staff.post("/api/stock/count", json={"items": items}).json() == {"items": []}


def test_a_count_that_cannot_be_sets_nothing(staff: httpx2.Client, office: BackOfficeSite) -> None:
    sku, other = (sell(office.service, f"API-COUNT-{n}", 10, available=5) for n in "XY")
    buy(office.service.customer(), [(sku, 4)])
    for items, status in (
        ([{"sku": other, "counted": 1}, {"sku": sku, "counted": 3}], 409),
        ([{"sku": other, "counted": 1}, {"sku": other.lower(), "counted": 2}], 400),
        ([{"sku": other, "counted": 1}, {"sku": "NO-SUCH-SKU", "counted": 2}], 400),
        ([{"sku": other, "counted": -1}], 400),
    ):
        assert staff.post("/api/stock/count", json={"items": items}).status_code == status, items
    assert level(office.service, other)[0] == 5


def test_people_at_a_customer_are_kept_and_removed(staff: httpx2.Client, office: BackOfficeSite) -> None:
    customer = office.service.customer()
    path = f"/api/customer/{customer.id}/contact"
    made = staff.post(path, json={"name": " Ada ", "phone": "020 7946 0123"})
    assert made.status_code == 201
    address = made.headers["Location"]
    assert made.json()["name"] == "Ada"
    assert staff.get(path).json() == [made.json()]
    changed = staff.patch(address, json={"name": "Ada Byron", "email": "ada@harbour.example"}).json()
    assert (changed["name"], changed["phone"]) == ("Ada Byron", "020 7946 0123")
    assert staff.patch(address, json={"email": "nowhere"}).json()["errors"][0]["field"] == "email"
    other = office.service.customer()
    assert staff.delete(address.replace(str(customer.id), str(other.id))).status_code == 404
    assert staff.delete(address).status_code == 204
    assert staff.get(path).json() == []
    assert staff.get("/api/customer/999999/contact").status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": "Pays soon", "promised_on": "2030-01-01"}, 200),
        ({"promised_on": "2030-01-01"}, 200),
        ({"text": ""}, 400),
        ({"text": "x" * 2001}, 400),
        ({"text": "Late", "promised_on": "2020-01-01"}, 400),
    ],
)
def test_a_note_is_kept_about_a_customer(
    staff: httpx2.Client, office: BackOfficeSite, body: dict[str, str], status: int
) -> None:
    path = f"/api/customer/{office.service.customer().id}/note"
    assert staff.post(path, json=body).status_code == status
