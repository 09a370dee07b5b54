"""Every code of an error is what the request that it means is rejected with; guide and document list them all."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import httpx2
import psycopg
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.guide import section
from support.interface import backoffice_document, interface_document
from support.orders import at, buy, cancel, confirm, confirm_while_blocked, create
from support.quotes import keyed, request_quote
from support.service import Customer, Service, running_service
from support.shop import ADDRESS, GERMAN_ADDRESS, order
from support.waiting import waiting_for_a_lock
from tradecounter.kit.errors import Code
from tradecounter.quotes.handle_quotes import decline_quote

Send = Callable[["Doors"], httpx2.Response]


@dataclass
class Doors:
    """A service, another process of it with low limits, its back office, and a customer with an order."""

    shop: Service
    limited: Service
    office: BackOfficeSite
    customer: Customer
    placed: dict[str, Any]

    def limited_customer(self) -> Customer:
        customer = self.shop.customer()
        return Customer(customer.id, customer.key, self.limited.client(**{"X-Api-Key": customer.key}))


@pytest.fixture(scope="module")
def doors(shop: Service) -> Iterator[Doors]:
    limits: dict[str, Any] = {"max_pending_orders": 1, "max_unpriced_quotes": 1, "rate_limit": 1}
    with (
        running_service(shop.database_url, **limits) as limited,
        backoffice_of(shop, backoffice_networks="10.9.0.0/16") as office,
    ):
        customer = shop.customer()
        yield Doors(shop, limited, office, customer, buy(customer))


def from_office(doors: Doors, *scopes: str, address: str = "10.9.0.1") -> httpx2.Client:
    return doors.office.caller(*scopes, **{"X-Forwarded-For": address})


def from_a_foreign_network(doors: Doors) -> httpx2.Response:
    return doors.shop.limited(doors.customer, networks=["198.51.100.0/24"]).get("/customer")


def after_cancelling(doors: Doors) -> httpx2.Response:
    pending = create(doors.customer)
    cancel(doors.shop, pending)
    return confirm(doors.customer, pending)


def after_declining(doors: Doors) -> httpx2.Response:
    quote = request_quote(doors.customer)
    code, now = quote["confirmation_code"], doors.shop.clock.now()
    doors.shop.in_transaction(lambda tx: decline_quote(tx, code, "a test", now))
    return confirm(doors.customer, quote)


def invoice_of_a_cancelled_order(doors: Doors) -> httpx2.Response:
    placed = buy(doors.customer)
    cancel(doors.shop, placed)
    return doors.customer.get(f"/order/{placed['order_id']}/invoice")


def again_at_the_office(doors: Doors) -> httpx2.Response:
    path, body = f"/api/order/{create(doors.customer)['confirmation_code']}/cancel", {"reason": "x"}
    staff = from_office(doors)
    assert staff.post(path, json=body).status_code == 200
    return staff.post(path, json=body)


def with_a_used_reference(doors: Doors, path: str = "/order") -> httpx2.Response:
    customer = doors.shop.customer(unique_references=True)
    create(customer)
    return customer.post(path, order())


def after_a_day(doors: Doors) -> httpx2.Response:
    pending = create(doors.customer)
    with at(doors.shop, doors.shop.clock.now() + timedelta(hours=24, seconds=1)):
        return confirm(doors.customer, pending)


def with_a_used_key(doors: Doors, path: str = "/order") -> httpx2.Response:
    customer = doors.shop.customer()
    assert keyed(customer, "k", path=path).status_code == 201
    return keyed(customer, "k", order([("CABLE", 1)]), path=path)


def with_a_key_under_way(doors: Doors) -> httpx2.Response:
    customer = doors.shop.customer()
    with psycopg.connect(doors.shop.database_url) as blocker:
        blocker.execute("lock table orders in share mode")
        first = threading.Thread(target=keyed, args=(customer, "k"))
        first.start()
        waiting_for_a_lock(doors.shop.database_url)
        response = keyed(customer, "k")
    first.join()
    return response


def with_a_table_missing(doors: Doors) -> httpx2.Response:
    with psycopg.connect(doors.shop.database_url, autocommit=True) as connection:
        connection.execute("alter table address rename to mislaid")
        try:
            return doors.customer.get("/customer/address")
        finally:
            connection.execute("alter table mislaid rename to address")


def from_a_blocked_address(doors: Doors) -> httpx2.Response:
    guesser = doors.shop.client(**{"X-Api-Key": "0" * 64, "X-Forwarded-For": "198.18.9.9"})
    assert [guesser.get("/order").status_code for _ in range(10)] == [401] * 10
    return guesser.get("/order")


def over_the_cap(doors: Doors, path: str) -> httpx2.Response:
    customer = doors.limited_customer()
    assert customer.post(path, order()).status_code == 201
    return customer.post(path, order())


def over_the_rate(doors: Doors) -> httpx2.Response:
    customer = doors.limited_customer()
    assert customer.get("/category").status_code == 200
    return customer.get("/category")


def with_stale_prices(doors: Doors) -> httpx2.Response:
    with running_service(doors.shop.database_url, stale_after=timedelta(0)) as stale:
        return stale.client(**{"X-Api-Key": doors.customer.key}).get("/product")


def ordering(**values: Any) -> Send:
    return lambda doors: doors.customer.post("/order", order(**values))


def confirming(method: int | None, **values: Any) -> Send:
    return lambda doors: confirm(doors.customer, create(doors.customer, **values), method)


def poor(path: str, credit: str | None) -> Send:
    return lambda doors: doors.shop.customer(credit=credit).post(path, order())


def too_long(doors: Doors) -> httpx2.Response:
    return doors.customer.http.post("/order", content=b" " * (1024 * 1024 + 1), headers=_JSON)


_JSON = {"Content-Type": "application/json"}
_HEAVY = [("SWITCH", 1000)]

REJECTED: list[tuple[Code, int, Send]] = [
    (Code.ACCESS_DENIED, 403, lambda doors: from_office(doors, address="10.8.0.1").get("/api/order")),
    (Code.ACCOUNT_BLOCKED, 409, lambda doors: confirm_while_blocked(doors.shop)),
    (Code.CANCELLED, 410, after_cancelling),
    (Code.CANCELLED, 410, after_declining),
    (Code.CANCELLED, 412, invoice_of_a_cancelled_order),
    (Code.CONFLICT, 409, again_at_the_office),
    (Code.CREDIT_EXCEEDED, 402, poor("/order", "1.00")),
    (Code.CREDIT_EXCEEDED, 402, poor("/quote", "1.00")),
    (Code.CURSOR_EXPIRED, 410, lambda doors: doors.customer.get(f"/catalogue/change?after={'A' * 60}")),
    (Code.DUPLICATE_REFERENCE, 409, with_a_used_reference),
    (Code.DUPLICATE_REFERENCE, 409, partial(with_a_used_reference, path="/quote")),
    (Code.EXPIRED, 410, after_a_day),
    (Code.IDEMPOTENCY_KEY_REUSED, 400, with_a_used_key),
    (Code.IDEMPOTENCY_KEY_REUSED, 400, partial(with_a_used_key, path="/quote")),
    (Code.IN_PROGRESS, 409, with_a_key_under_way),
    (Code.INTERNAL_ERROR, 500, with_a_table_missing),
    (Code.INVALID, 400, lambda doors: doors.customer.get("/product?sort=weight")),
    (Code.INVALID, 400, ordering(items=[("NOTHING", 1), ("PHONE", 0)])),
    (Code.IP_ADDRESS_BLOCKED, 403, from_a_blocked_address),
    (Code.METHOD_NOT_ALLOWED, 405, lambda doors: doors.customer.http.request("PATCH", "/order")),
    (Code.NETWORK_NOT_ALLOWED, 403, from_a_foreign_network),
    (Code.NO_CREDIT_TERMS, 402, poor("/order", None)),
    (Code.NO_CREDIT_TERMS, 402, poor("/quote", None)),
    (Code.NO_SHIPPING_METHOD, 400, ordering(items=_HEAVY)),
    (Code.NO_SHIPPING_METHOD, 400, ordering(shipping_address={**GERMAN_ADDRESS, "country_code": "JP"})),
    (Code.NOT_FOUND, 404, lambda doors: doors.customer.get("/nowhere")),
    (Code.NOT_FOUND, 404, lambda doors: doors.customer.get("/product/NOTHING")),
    (Code.NOT_FOUND, 404, lambda doors: doors.customer.get("/order/NOTHING")),
    (Code.NOT_FOUND, 404, lambda doors: doors.customer.put("/order/NOTHING", {})),
    (Code.NOT_FOUND, 404, lambda doors: doors.customer.delete("/customer/address/1")),
    (Code.NOT_INVOICED, 412, lambda doors: doors.customer.get(f"/order/{doors.placed['order_id']}/invoice")),
    (Code.NOT_PRICED, 412, lambda doors: confirm(doors.customer, request_quote(doors.customer))),
    (Code.OUT_OF_STOCK, 409, ordering(items=[("SWITCH", 50)], allow_back_orders=False)),
    (Code.PRICE_CHANGED, 409, ordering(max_cost_gross=1)),
    (Code.RATE_LIMITED, 429, over_the_rate),
    (Code.SCOPE_NEEDED, 403, lambda doors: doors.shop.limited(doors.customer, "read").get("/customer")),
    (Code.SCOPE_NEEDED, 403, lambda doors: from_office(doors, "stock:read").get("/api/order")),
    (Code.SHIPPING_METHOD_REQUIRED, 412, ordering(auto_confirm=True)),
    (Code.SHIPPING_METHOD_REQUIRED, 412, confirming(None)),
    (Code.TOO_LARGE, 413, too_long),
    (Code.TOO_LARGE, 414, lambda doors: doors.customer.get(f"/product?x={'y' * 15_000}")),
    (Code.TOO_MANY_PENDING, 409, partial(over_the_cap, path="/order")),
    (Code.TOO_MANY_PENDING, 409, partial(over_the_cap, path="/quote")),
    (Code.UNAVAILABLE, 503, with_stale_prices),
    (Code.UNKNOWN_ADDRESS, 400, ordering(billing_address={"id": 1})),
    (Code.UNKNOWN_ADDRESS, 400, ordering(shipping_address={**ADDRESS, "id": 2**62})),
    (Code.UNKNOWN_SHIPPING_METHOD, 400, ordering(shipping_method={"id": 999})),
    (Code.UNKNOWN_SHIPPING_METHOD, 400, confirming(999)),
    (Code.UNKNOWN_SKU, 400, ordering(items=[("NOTHING", 1), ("NEITHER", 1)])),
    (Code.UNSUPPORTED_MEDIA, 415, lambda doors: doors.customer.http.post("/order", data={"a": "b"})),
]  # fmt: skip


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize(
    ("code", "status", "send"), REJECTED, ids=[f"{code} {number}" for number, (code, _, _) in enumerate(REJECTED)]
)
def test_a_rejected_request_gets_the_code_that_says_why(doors: Doors, code: Code, status: int, send: Send) -> None:
    response = send(doors)
    assert (response.status_code, response.json()["code"]) == (status, code), response.text


def test_every_code_is_tried_here() -> None:
    assert {code for code, _, _ in REJECTED} == set(Code)


def test_each_field_has_its_own_code(doors: Doors) -> None:
    body = order([("NOTHING", 1), ("PHONE", 0)], billing_address={"id": 1}, shipping_method={"id": 999})
    response = doors.customer.post("/order", body)
    assert {error["field"]: error["code"] for error in response.json()["errors"]} == {
        "items[0].sku": "unknown_sku",
        "items[1].quantity": "invalid",
        "billing_address.id": "unknown_address",
        "shipping_method.id": "unknown_shipping_method",
    }
    assert response.json()["code"] == "invalid"


def test_a_rejected_credential_has_no_code_and_the_token_endpoint_keeps_the_codes_of_oauth(doors: Doors) -> None:
    nobody = doors.shop.client()
    assert nobody.get("/order").json() == {}
    assert nobody.post("/oauth/token").json().keys() == {"error", "error_description"}


@pytest.mark.parametrize("document", [interface_document, backoffice_document])
def test_the_interface_documents_list_the_codes_and_let_clients_read_new_ones(
    document: Callable[[], dict[str, Any]],
) -> None:
    schema = document()["components"]["schemas"]["Code"]
    assert (schema["type"], schema["x-extensible-enum"], "enum" in schema) == ("string", list(Code), False)


def test_the_guide_explains_every_code_once_with_its_statuses() -> None:
    explained = re.findall(r"^\| `(\w+)` \| (\d[\d, ]*) \|", section("Codes"), re.MULTILINE)
    assert [code for code, _ in explained] == sorted(Code)
    statuses = {(code, int(status)) for code, listed in explained for status in listed.split(", ")}
    assert {(code, status) for code, status, _ in REJECTED} <= statuses
