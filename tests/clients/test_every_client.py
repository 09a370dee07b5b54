"""Each built client: its README's lines, its retries, errors, tokens, webhooks and copy of the catalogue."""

import json
import os
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from support.billing import invoiced
from support.built_clients import BuiltClient
from support.cluster import Cluster
from support.consent import running_consent
from support.demo import Demo
from support.lossy_proxy import lossy_proxy
from support.orders import rows

pytestmark = pytest.mark.long

REFERENCES = [f"PO-lost-{number}" for number in range(8)]
EVENT = {
    "id": "evt_1", "sequence": 7, "type": "order.dispatched", "occurred_at": "2026-06-17T08:30:00Z",
    "subject": "order/42", "customer_id": 1001, "data": {},
}  # fmt: skip


def test_the_readmes_first_lines_list_products_and_place_an_order(client: BuiltClient, demo: Demo) -> None:
    *listed, reference = client.readme(demo.service.url, demo.customer.key).splitlines()
    assert len(listed) == len(demo.customer.get("/product?inStock=true&limit=0").json())
    assert demo.customer.get(f"/order/{reference}").json()["customer_reference"] == "PO-1"


def test_each_order_is_placed_once_though_every_third_response_is_lost(client: BuiltClient, demo: Demo) -> None:
    customer = demo.service.customer()
    with lossy_proxy(demo.service.url) as proxy:
        placed = json.loads(client.program("orders", *REFERENCES, BASE=proxy.url, KEY=customer.key))
    assert {request.split()[0] for request in proxy.lost} == {"GET", "POST", "PUT"}
    listed = {order["customer_reference"]: order["order_reference"] for order in customer.get("/order").json()}
    assert listed == placed
    created = rows(demo.service, "select customer_reference from orders where customer_id = %s", customer.id)
    assert sorted(created) == [(reference,) for reference in REFERENCES]


def test_a_request_is_sent_again_when_the_service_says(client: BuiltClient, demo: Demo) -> None:
    customer = demo.service.customer()
    with lossy_proxy(demo.service.url, busy=True) as proxy:
        client.program("orders", *REFERENCES[:3], BASE=proxy.url, KEY=customer.key)
    assert len(proxy.refused) >= 2
    for moment in proxy.refused:
        assert min(at for at, _ in proxy.requests if at > moment) - moment >= 1


def test_a_list_is_read_page_by_page_or_with_limit_0_at_once(client: BuiltClient, demo: Demo) -> None:
    with lossy_proxy(demo.service.url) as proxy:
        printed = json.loads(client.program("pages", BASE=proxy.url, KEY=demo.customer.key))
    skus = [product["sku"] for product in demo.customer.get("/product?limit=0").json()]
    assert printed == {"listed": skus, "at_once": skus, "by_sku": skus}
    assert proxy.lost
    at_once = {request for _, request in proxy.requests if "limit=0" in request}
    assert at_once == {"GET /product?limit=0&page=1"}


def test_an_invoice_is_saved_as_a_file(client: BuiltClient, demo: Demo, tmp_path: Path) -> None:
    customer, file = demo.service.customer(), tmp_path / "invoice.pdf"
    invoiced(demo.service, customer, ("CV-320P", 1), method=101)
    client.program("invoice", file, BASE=demo.service.url, KEY=customer.key)
    [invoice] = customer.get("/invoice").json()
    assert (
        file.read_bytes()
        == customer.get(f"/invoice/{invoice['number']}", headers={"Accept": "application/pdf"}).content
    )


def test_errors_are_classes_and_webhooks_are_verified(client: BuiltClient, demo: Demo) -> None:
    secret, body, now = "whsec_c2VjcmV0IG9mIGEgd2ViaG9vaywgZm9yIHRlc3Rz", json.dumps(EVENT), datetime.now(UTC)
    headers = {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("evt_1", now, body),
    }
    environment = {"SECRET": secret, "BODY": body, "HEADERS": json.dumps(headers)}
    found = json.loads(client.program("faults", BASE=demo.service.url, KEY=demo.customer.key, **environment))
    assert found.pop("number") in {"ValueError", "JsonException", "RangeError"}  # not an order without its price limit
    assert found == {
        "order": ["UnknownSku", 400, "items[0].sku", True],
        "product": "NotFound",
        "key": "Unauthorized",
        "nobody": "NoResponse",
        "event": "order.dispatched",
        "forged": "NotGenuine",
        "endless": "NotGenuine",
    }


def test_a_consent_is_kept_alive_until_its_token_is_used_twice(
    client: BuiltClient, postgres: Cluster, tmp_path: Path
) -> None:
    with postgres.database() as url, running_consent(url) as consenting:
        file = tmp_path / "token"
        file.write_text(consenting.given()["refresh_token"])
        application = consenting.application
        environment = {"CLIENT_ID": application.client_id, "CLIENT_SECRET": application.client_secret}
        printed = json.loads(client.program("consent", file, BASE=consenting.service.url, **environment))
        name = consenting.customer.get("/customer").json()["last_name"]
    assert printed == {"names": [name, name], "ended": True}


def test_a_copy_of_the_catalogue_survives_kills(client: BuiltClient, demo: Demo, tmp_path: Path) -> None:
    file, url, key = tmp_path / "copy", demo.service.url, demo.customer.key
    whole = {product["sku"] for product in demo.customer.get("/product?limit=0").json()}
    environment = {**os.environ, "BASE": url, "KEY": key, "TRADECOUNTER_URL": url, "TRADECOUNTER_KEY": key}
    for number, seconds in enumerate((0.4, 0.6, 0.8, 1.0, 1.5, 3.0)):
        with subprocess.Popen(client.following(file), env=environment, stdout=subprocess.DEVNULL) as running:
            time.sleep(seconds / 2)
            demo.service.must_load("stock", [{"sku": "CV-320P", "available": 500 + number}])
            time.sleep(seconds / 2)
            assert running.poll() is None
            running.send_signal(signal.SIGKILL)
        assert client.copied(file).keys() in ({*()}, whole)  # never a part of it
    assert client.copied(file)
    client.synchronise(file, url, key)
    assert client.copied(file) == {product["sku"]: product for product in demo.customer.get("/product?limit=0").json()}


def test_a_copy_gets_only_what_has_changed(client: BuiltClient, demo: Demo, tmp_path: Path) -> None:
    file, key = tmp_path / "copy", demo.customer.key
    client.synchronise(file, demo.service.url, key)
    level = client.copied(file)["CV-320P"]["availability"]["available"] + 1
    demo.service.must_load("stock", [{"sku": "CV-320P", "available": level}])
    with lossy_proxy(demo.service.url) as proxy:
        client.synchronise(file, proxy.url, key)
    assert {request.partition("?")[0] for _, request in proxy.requests} == {"GET /catalogue/change"}
    assert client.copied(file)["CV-320P"]["availability"]["available"] == level
