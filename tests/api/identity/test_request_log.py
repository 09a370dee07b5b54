"""The requests of each key in the last seven days (specification, request log)."""

from datetime import timedelta
from typing import Any, LiteralString

import pytest

from support.applications import running_exchange
from support.orders import rows
from support.pages import customer_user, text_of
from support.service import Customer, Service, running_service
from support.shop import order
from tradecounter.db.transaction import Transaction
from tradecounter.identity.queries.api_keys import ActiveKey
from tradecounter.request_log.recorder import (
    KEPT_FOR,
    MANY_COUNTS,
    MOST_ERRORS,
    RequestRecorder,
    Response,
    forget_old_requests,
)


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


def logged(service: Service, customer: Customer, query: str = "") -> list[dict[str, Any]]:
    """The log of the customer's usual key, from before this look at it."""
    service.refresh()
    response = customer.get(f"/request-log{query}")
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()
    return [entry for entry in found if entry["path"] != "/request-log"]


def test_a_write_is_listed_with_what_came_of_it(shop: Service, customer: Customer) -> None:
    response = customer.post("/order?x=1", order(), headers={"Accept-Encoding": "identity"})
    [entry] = logged(shop, customer)
    assert 0 <= entry.pop("milliseconds") < 60_000
    assert entry == {
        "at": "2026-06-16T09:00:00",
        "method": "POST",
        "path": "/order",
        "status": 201,
        "request_id": response.headers["X-Request-Id"],
        "bytes": len(response.content),
    }


def test_each_error_is_listed_with_its_code(shop: Service, customer: Customer) -> None:
    customer.get("/order/999999")
    customer.post("/order", {"items": []})
    customer.put("/order/no%20code%00%C3%A9", {})
    found = [(entry["method"], entry["path"], entry["status"], entry["code"]) for entry in logged(shop, customer)]
    assert found == [
        ("PUT", "/order/no%20code%00%C3%A9", 404, "not_found"),
        ("POST", "/order", 400, "invalid"),
        ("GET", "/order/999999", 404, "not_found"),
    ]


def test_reads_are_counted_by_minute_and_operation_from_memory_or_not(own_shop: Service) -> None:
    customer = own_shop.customer()
    for sku in ("PHONE", "CABLE", "PHONE", "PHONE"):
        customer.get(f"/product/{sku}")
    own_shop.refresh()
    for _ in range(5):
        customer.get("/category")
    customer.http.head("/category")
    own_shop.refresh()
    own_shop.clock.advance(timedelta(minutes=1))
    customer.get("/category")
    assert logged(own_shop, customer) == [
        {"at": "2026-06-16T09:01:00", "method": "GET", "path": "/category", "count": 1},
        {"at": "2026-06-16T09:00:00", "method": "HEAD", "path": "/category", "count": 1},
        {"at": "2026-06-16T09:00:00", "method": "GET", "path": "/category", "count": 5},
        {"at": "2026-06-16T09:00:00", "method": "GET", "path": "/product/{sku}", "count": 4},
    ]


def test_cached_responses_and_unchanged_ones_are_counted(shop: Service, customer: Customer) -> None:
    shop.refresh()
    tag = customer.get("/product").headers["ETag"]
    for _ in range(3):
        assert customer.get("/product", headers={"If-None-Match": tag}).status_code == 304
    assert [entry["count"] for entry in logged(shop, customer)] == [4]


def test_secrets_are_in_no_entry(shop: Service, customer: Customer) -> None:
    shop.client().get(f"/customer?api-key={customer.key}")
    shop.client().get(f"/order/7?api-key={customer.key}")
    logged(shop, customer)
    paths = rows(shop, "select path, code, request_id from request_log where customer_id = %s", customer.id)
    assert customer.key not in str(paths)
    assert "?" not in str(paths)


def test_a_request_without_a_right_credential_is_nobodys(shop: Service, customer: Customer) -> None:
    shop.client(**{"X-Api-Key": "0" * 64}).get("/customer")
    shop.client().get("/customer")
    assert logged(shop, customer) == []


def test_a_key_sees_its_own_requests_only(shop: Service, customer: Customer) -> None:
    other, reading = shop.limited(customer, "account"), shop.limited(customer, "read")
    customer.get("/order/999999")
    shop.customer().get("/order/888888")
    shop.refresh()
    assert [entry["path"] for entry in other.get("/request-log").json()] == []
    assert reading.get("/request-log").status_code == 403
    shop.refresh()
    [entry] = rows(shop, "select code from request_log where path = '/request-log' and status = 403")
    assert entry == ("scope_needed",)


def test_a_refusal_by_network_is_logged_for_the_key(shop: Service, customer: Customer) -> None:
    shop.limited(customer, networks=["198.51.100.0/24"]).get("/customer")
    shop.refresh()
    [found] = rows(shop, "select code, path from request_log where customer_id = %s", customer.id)
    assert found == ("network_not_allowed", "/customer")


def test_many_errors_of_a_minute_are_counted_beyond_a_hundred(own_shop: Service) -> None:
    customer = own_shop.customer()
    for _ in range(MOST_ERRORS + 3):
        customer.get("/order/999999")
    found = logged(own_shop, customer, "?limit=500")
    counted = {"at": "2026-06-16T09:00:00", "method": "GET", "path": "/order/{reference}", "status": 404, "count": 3}
    assert [entry for entry in found if "count" in entry] == [counted | {"code": "not_found"}]
    assert len(found) == MOST_ERRORS + 1


def test_the_list_has_pages_and_can_be_of_errors_only(shop: Service, customer: Customer) -> None:
    for number in range(5):
        customer.get(f"/order/99999{number}")
        customer.post("/order", order())
    shop.refresh()
    found, address = [], "/request-log?errors=true&limit=2"
    while address:
        page = customer.get(address)
        assert len(page.json()) <= 2
        found += [entry["path"] for entry in page.json()]
        address = page.links.get("next", {}).get("url", "")
    assert found == [f"/order/99999{number}" for number in (4, 3, 2, 1, 0)]


@pytest.mark.parametrize("query", ["after=-1", "limit=0", "limit=501", "errors=maybe"])
def test_wrong_parameters_are_named(customer: Customer, query: str) -> None:
    response = customer.get(f"/request-log?{query}")
    assert response.status_code == 400
    assert response.json()["errors"][0]["field"] == query.partition("=")[0]


def test_an_application_sees_its_own_requests_for_the_customer(database_url: str) -> None:
    with running_exchange(database_url) as exchange:
        client = exchange.service.client(Authorization=f"Bearer {exchange.access_token()}")
        client.get("/order/999999")
        exchange.customer.get("/order/888888")
        exchange.service.refresh()
        assert [entry["path"] for entry in client.get("/request-log").json()] == ["/order/999999"]


def test_processes_add_up_their_counts(database_url: str) -> None:
    with running_service(database_url) as first, running_service(database_url) as second:
        customer = first.customer()
        for service in (first, second):
            for _ in range(3):
                assert service.client(**{"X-Api-Key": customer.key}).get("/category").status_code == 200
        for service in (first, second, first):
            service.refresh()
        assert [entry["count"] for entry in logged(first, customer)] == [6]


def test_a_process_stores_its_last_requests_when_it_stops(database_url: str) -> None:
    with running_service(database_url) as service:
        customer = service.customer()
        customer.get("/order/999999")
        customer.get("/category")
    with running_service(database_url) as service:
        found = service.client(**{"X-Api-Key": customer.key}).get("/request-log").json()
    assert {entry["path"] for entry in found} == {"/category", "/order/999999"}


def test_many_counts_are_stored_every_ten_seconds_and_at_the_end(own_shop: Service) -> None:
    customer, database = own_shop.customer(), own_shop.application.database
    [[key_id]] = rows(own_shop, "select id from api_key where customer_id = %s", customer.id)
    holder, recorder = ActiveKey(key_id, customer.id, "Shop", None), RequestRecorder(own_shop.clock)

    def read_each_route() -> None:
        for number in range(MANY_COUNTS + 1):
            recorder.add_read(holder, "GET", f"/route/{number}")

    def stored(*, is_last: bool = False) -> set[int]:
        own_shop.call(lambda: recorder.share(database, is_last=is_last))
        found = rows(own_shop, "select count from request_log where path like '/route/%%'")
        return {count for [count] in found}

    read_each_route()
    assert stored() == {1}
    read_each_route()
    assert stored() == {1}, "within ten seconds"
    recorder.add(holder, "POST", "/order", lambda: "/order", "a-request", Response(201, "", 0.1, 2))
    assert stored() == {1}
    assert rows(own_shop, "select count(*) from request_log where path = '/order'") == [(1,)], "writes do not wait"
    assert stored(is_last=True) == {2}


def rename(service: Service, table: LiteralString, name: LiteralString) -> None:
    async def change(tx: Transaction) -> None:
        await (await tx.connection()).execute(f"alter table {table} rename to {name}")

    service.in_transaction(change)


def test_what_the_database_does_not_take_waits(own_service: Service) -> None:
    customer = own_service.customer()
    customer.get("/order/999999")
    customer.get("/category")
    rename(own_service, "request_log", "hidden")
    own_service.refresh()
    customer.get("/category")
    own_service.refresh()
    rename(own_service, "hidden", "request_log")
    found = logged(own_service, customer)
    assert {entry["path"]: entry.get("count") for entry in found} == {"/category": 2, "/order/999999": None}


def test_entries_are_kept_for_seven_days(own_service: Service) -> None:
    customer = own_service.customer()
    customer.get("/order/999999")
    customer.get("/category")
    own_service.refresh()
    own_service.clock.advance(KEPT_FOR)
    customer.get("/manufacturer")
    own_service.refresh()
    now = own_service.clock.now()
    assert own_service.in_transaction(lambda tx: forget_old_requests(tx, now)) == 0
    assert own_service.in_transaction(lambda tx: forget_old_requests(tx, now + timedelta(seconds=1))) == 2
    assert [entry["path"] for entry in logged(own_service, customer)] == ["/manufacturer"]


def test_developers_see_the_requests_of_a_key(shop: Service, customer: Customer) -> None:
    dev = customer_user(shop, customer.id, "developer")
    customer.get("/order/999999")
    customer.get("/category")
    shop.refresh()
    [(key_id,)] = rows(shop, "select id from api_key where customer_id = %s", customer.id)
    path = f"/account/developer/key/{key_id}/request"
    assert path in dev.get("/account/developer").text
    shown = text_of(dev.get(path))
    assert "GET /order/999999" in shown
    assert "GET /category 1 within the minute" in shown
    only_errors = text_of(dev.get(f"{path}?errors=true"))
    assert "GET /order/999999" in only_errors
    assert "GET /category" not in only_errors
    assert "at,method,path,status" in dev.get(f"{path}?format=csv").text


def test_another_customers_key_has_no_page_of_requests(shop: Service, customer: Customer) -> None:
    dev = customer_user(shop, shop.customer().id, "developer")
    [(key_id,)] = rows(shop, "select id from api_key where customer_id = %s", customer.id)
    assert dev.get(f"/account/developer/key/{key_id}/request").status_code == 404
