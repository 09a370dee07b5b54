"""Keys with scopes, an end and networks (additions to the specification)."""

import re
from datetime import timedelta

import httpx2
import pytest

from support.cluster import Cluster
from support.orders import buy, rows
from support.service import Service, running_service
from support.shop import ADDRESS, order
from support.waiting import wait_for
from tradecounter.edge.permissions import KEY_SCOPES, KeyScope
from tradecounter.edge.rest.operation import Operation

HERE = "203.0.113.9"
# As the table of the contract has them, independent of the declarations.
ALLOWED: dict[KeyScope, set[str]] = {
    "read": {
        "listProducts", "getProduct", "listCategories", "listManufacturers", "listAttributes", "listOrders", "getOrder",
        "listCatalogueChanges",
        "getQuote", "listQuotes", "getPackingVideo", "listEvents",
    },
    "order": {
        "listOrders", "getOrder", "getQuote", "listQuotes", "createOrder", "confirmOrder", "createQuote",
        "declineQuote", "addConfigurations", "openRequest",
    },
    "account": {
        "getCustomer", "getCredit", "listAddresses", "createAddress", "deleteAddress", "getInvoice",
        "listInvoices", "getInvoiceByNumber", "listCreditNotes", "getCreditNote", "getStatement", "listPayments",
        "replaceAddress", "getRequestLog", "openRequest", "listRequests",
    },
}  # fmt: skip


def guarded(service: Service) -> list[Operation]:
    return [each.operation for each in service.application.endpoints if not each.operation.public]


def send(client: httpx2.Client, operation: Operation) -> httpx2.Response:
    path = re.sub(r"\{\w+\}", "999999", operation.path)
    return client.request(operation.method, path, json={} if operation.body else None)


def from_memory(service: Service) -> float:
    requests = service.application.requests.figures()["requests"]
    return sum(numbers[0] for (_, _, _, way), numbers in requests.items() if way in {"known_bytes", "fast_path"})


def outcome(response: httpx2.Response) -> tuple[int, str]:
    return response.status_code, response.json().get("code", "") if response.content else ""


def test_every_guarded_operation_is_in_the_table_of_scopes(shop: Service) -> None:
    declared = {scope: {o.name for o in guarded(shop) if scope in o.key_scopes} for scope in KEY_SCOPES}
    assert declared == ALLOWED
    assert all(operation.key_scopes for operation in guarded(shop))


@pytest.mark.parametrize("scope", KEY_SCOPES)
def test_a_key_may_call_exactly_the_operations_of_its_scope(shop: Service, scope: KeyScope) -> None:
    client = shop.limited(shop.customer(), scope)
    for operation in guarded(shop):
        response = send(client, operation)
        if operation.name in ALLOWED[scope]:
            assert response.status_code not in {401, 403}, operation.name
        else:
            assert outcome(response) == (403, "scope_needed"), operation.name
            needed = " or ".join(operation.key_scopes)
            assert response.json()["message"] == f"this needs a key with the scope {needed}"


def test_a_key_without_scopes_may_do_everything(shop: Service) -> None:
    client = shop.limited(shop.customer())
    assert {send(client, operation).status_code for operation in guarded(shop)}.isdisjoint({401, 403})


def test_two_scopes_allow_what_either_allows(shop: Service) -> None:
    client = shop.limited(shop.customer(), "order", "account")
    assert client.get("/order").status_code == client.get("/customer").status_code == 200
    assert outcome(client.get("/category")) == (403, "scope_needed")


def test_a_key_to_order_asks_to_cancel_and_return_but_writes_no_messages(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer)
    reference, items = placed["order_reference"], [{"id": placed["items"][0]["id"], "quantity": 1}]
    ordering, reading_account = shop.limited(customer, "order"), shop.limited(customer, "account")
    message = {"kind": "message", "order_reference": reference, "text": "When?"}
    cancelling = {"kind": "cancel", "order_reference": reference, "text": "Too many", "items": items}
    assert outcome(ordering.post("/request", json=message)) == (403, "scope_needed")
    assert ordering.post("/request", json=cancelling).status_code == 201
    assert reading_account.post("/request", json=message).status_code == 201
    assert [found["kind"] for found in customer.get("/request").json()] == ["message", "cancel"]


def test_a_rejected_request_changes_nothing(shop: Service) -> None:
    customer = shop.customer()
    client = shop.limited(customer, "read")
    assert client.post("/order", json=order()).status_code == 403
    assert client.post("/customer/address", json=ADDRESS).status_code == 403
    assert rows(shop, "select 1 from orders where customer_id = %s", customer.id) == []
    assert customer.get("/customer/address").json() == []


def test_the_scope_is_judged_before_the_body_and_what_it_names(shop: Service) -> None:
    client = shop.limited(shop.customer(), "account")
    response = client.post("/order", content=b"not json", headers={"Content-Type": "text/plain"})
    assert outcome(response) == (403, "scope_needed")
    assert outcome(client.get("/order/1")) == (403, "scope_needed")
    assert client.head("/product").status_code == 403


def test_the_scope_is_judged_before_the_rate_limit_and_costs_nothing_of_it(postgres: Cluster) -> None:
    with postgres.database() as url, running_service(url, rate_limit=2) as service:
        customer = service.customer()
        client = service.limited(customer, "account")
        for _ in range(5):
            response = client.get("/category")
            assert outcome(response) == (403, "scope_needed")
            assert "RateLimit" not in response.headers
        assert client.get("/customer").headers["RateLimit"].startswith('"customer";r=1')
        assert client.get("/customer").status_code == 200
        assert client.get("/customer").status_code == 429
        assert outcome(client.get("/category")) == (403, "scope_needed")


def test_lacking_scopes_and_foreign_networks_block_no_address(shop: Service) -> None:
    customer = shop.customer()
    clients = shop.limited(customer, "read"), shop.limited(customer, networks=["198.51.100.0/24"])
    for client in clients:
        for _ in range(12):
            assert client.get("/customer", headers={"X-Forwarded-For": HERE}).status_code == 403
    assert customer.get("/customer", headers={"X-Forwarded-For": HERE}).status_code == 200


def test_a_key_may_be_used_from_its_networks_only(shop: Service) -> None:
    client = shop.limited(shop.customer(), networks=["203.0.113.0/24", "2001:db8:1::/48", "192.0.2.7/32"])
    inside = HERE, "2001:db8:1:2::3", "192.0.2.7", "::ffff:203.0.113.1"
    outside = "203.0.114.1", "2001:db8:2::1", "192.0.2.8", "unknown"
    for address in inside:
        assert client.get("/customer", headers={"X-Forwarded-For": address}).status_code == 200, address
    for address in outside:
        response = client.get("/customer", headers={"X-Forwarded-For": address})
        assert outcome(response) == (403, "network_not_allowed"), address


def test_a_key_ends_at_its_moment_as_an_invalid_one(own_shop: Service) -> None:
    end = own_shop.clock.now() + timedelta(minutes=5)
    customer = own_shop.customer()
    client = own_shop.limited(customer, expires_at=end)
    own_shop.clock.advance(timedelta(minutes=4, seconds=59))
    own_shop.refresh()
    assert client.get("/customer").status_code == 200
    own_shop.clock.advance(timedelta(seconds=1))
    for _ in range(12):
        response = client.get("/customer", headers={"X-Forwarded-For": HERE})
        assert (response.status_code, response.json()) == (401, {})
        assert response.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    assert customer.get("/customer", headers={"X-Forwarded-For": HERE}).status_code == 200, "an expiry blocks nobody"


def test_the_cache_of_products_keeps_all_limits(own_shop: Service) -> None:
    customer = own_shop.customer()
    end = own_shop.clock.now() + timedelta(minutes=5)
    reading = own_shop.limited(customer, "read", expires_at=end, networks=["203.0.113.0/24"])
    ordering = own_shop.limited(customer, "order")
    here = {"X-Forwarded-For": HERE, "Accept": "application/json"}
    own_shop.refresh()  # without a recent one, no credential is cached
    assert [reading.get("/product", headers=here).status_code for _ in range(4)] == [200] * 4
    wait_for(lambda: from_memory(own_shop) >= 2, 5)  # a key with limits gets cached responses too
    for _ in range(3):
        assert outcome(ordering.get("/product", headers=here)) == (403, "scope_needed")
        elsewhere = here | {"X-Forwarded-For": "203.0.114.9"}
        assert outcome(reading.get("/product", headers=elsewhere)) == (403, "network_not_allowed")
    own_shop.clock.advance(timedelta(minutes=5))
    assert reading.get("/product", headers=here).status_code == 401


def test_another_process_keeps_the_limits(shop: Service) -> None:
    client = shop.limited(shop.customer(), "order")
    with running_service(shop.database_url) as other:
        other.refresh()
        elsewhere = other.client(**{"X-Api-Key": client.headers["X-Api-Key"]})
        for _ in range(2):
            assert outcome(elsewhere.get("/product")) == (403, "scope_needed")
            assert elsewhere.get("/order").status_code == 200


def test_the_interface_document_names_the_scopes(shop: Service) -> None:
    document = shop.client().get("/openapi.json").json()
    assert document["paths"]["/order"]["get"]["description"].endswith("A key with scopes needs `read` or `order`.")
    assert "A key with scopes needs" not in document["paths"]["/ready"]["get"]["description"]
