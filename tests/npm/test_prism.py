"""Prism, a proxy that holds requests and responses to the interface document, finds no violation."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.applications import GRANT, JWT
from support.consent import CALLBACK, Consenting, add_user, register
from support.demo import Demo, running_demo
from support.interface import interface_document
from support.mail import free_port
from support.node_packages import installed
from support.waiting import wait_for

pytestmark = pytest.mark.long


class Proxied:
    """A customer, all of whose requests pass through Prism."""

    def __init__(self, url: str, demo: Demo) -> None:
        # Prism does not know zstd, which this client would ask for.
        codings = {"Accept-Encoding": "gzip, *"}
        self.http, self.demo = httpx2.Client(base_url=url, timeout=30, headers=codings), demo
        self.key = {"X-Api-Key": demo.customer.key}

    def send(self, method: str, path: str, *, status: int = 200, **given: Any) -> httpx2.Response:
        """Send a request, for which Prism must name no violation."""
        headers = self.key | given.pop("headers", {})
        response = self.http.request(method, path, headers=headers, **given)
        violations = json.loads(response.headers.get("sl-violations", "[]"))
        assert (response.status_code, violations) == (status, []), f"{method} {path}: {response.text[:1000]}"
        return response

    def get(self, path: str, **given: Any) -> Any:
        return self.send("GET", path, headers={"Accept": "application/json"}, **given).json()


@pytest.fixture(scope="module")
def demo(database_url: str) -> Iterator[Demo]:
    with running_demo(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def prism(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    packages, port, folder = installed(), free_port(), tmp_path_factory.mktemp("prism")
    assert packages is not None
    (folder / "openapi.json").write_text(json.dumps(interface_document()))
    program_file = str(packages / "node_modules" / ".bin" / "prism")
    command = [program_file, "proxy", "openapi.json", demo.service.url, "-p", str(port)]
    log = folder / "log"
    with log.open("w") as output, subprocess.Popen(command, cwd=folder, stdout=output, stderr=output) as program:
        try:
            wait_for(lambda: "Prism is listening" in log.read_text() or program.poll() is not None)
            assert program.poll() is None, log.read_text()
            proxied = Proxied(f"http://127.0.0.1:{port}", demo)
            with proxied.http:
                yield proxied
        finally:
            program.terminate()


@pytest.fixture(scope="module")
def examples() -> dict[str, dict[str, Any]]:
    """The example bodies of each operation, by its name."""
    return {
        operation["operationId"]: {name: example["value"] for name, example in media["examples"].items()}
        for methods in interface_document()["paths"].values()
        for operation in methods.values()
        for media in operation.get("requestBody", {}).get("content", {}).values()
    }


def test_prism_notices_a_violation(prism: Proxied) -> None:
    response = prism.http.post("/order", json={"customer_reference": 7}, headers=prism.key)
    assert response.status_code == 400
    assert "sl-violations" in response.headers


def test_the_catalogue_is_read(prism: Proxied) -> None:
    """In CSV as the guide's curl does, in pages, and again with the entity tag."""
    first = prism.send("GET", "/product")
    assert first.headers["content-type"].startswith("text/csv")
    prism.send("GET", "/product", status=304, headers={"If-None-Match": first.headers["ETag"]})
    assert len(prism.get("/product", params={"limit": 5, "page": 2})) == 5
    assert prism.get("/product", params={"category": "desk-phones,switches", "inStock": "true", "sort": "name"})
    assert prism.get("/product/CV-320P", params={"extra": "description,related"})
    prism.send("GET", "/product/NOTHING", status=404)
    for path in ("/category", "/manufacturer", "/attribute", "/check-health", "/ready", "/", "/openapi.json"):
        assert prism.get(path)


def test_an_order_is_placed_confirmed_and_read(prism: Proxied, examples: dict[str, dict[str, Any]]) -> None:
    [address, *_] = examples["createAddress"].values()
    saved = prism.send("POST", "/customer/address", status=201, json=address).json()["id"]
    [wanted, *_] = examples["createOrder"].values()
    wanted |= {"billing_address": {"id": saved}, "shipping_address": address, "customer_reference": "PO-PRISM"}
    for _ in range(2):  # repeated with its key
        created = prism.send("POST", "/order", status=201, json=wanted, headers={"Idempotency-Key": "prism"}).json()
    code, method = created["confirmation_code"], created["shipping_options"][0]["id"]
    confirmed = prism.send("PUT", f"/order/{code}", json={"shipping_method": {"id": method}}).json()
    reference = confirmed["order_reference"]
    assert prism.get(f"/order/{reference}")["order_reference"] == reference
    assert prism.get("/order", params={"customer_reference": "PO-PRISM"})
    prism.send("GET", "/order")
    for body in examples["createOrder"].values():
        prism.send("POST", "/order", status=201, json=body)
    prism.send("POST", "/order", status=400, json={**wanted, "items": [{"sku": "NOTHING", "quantity": 1}]})
    prism.send("DELETE", f"/customer/address/{saved}", status=204)


def test_a_quote_is_requested(prism: Proxied, examples: dict[str, dict[str, Any]]) -> None:
    for body in examples["createQuote"].values():
        code = prism.send("POST", "/quote", status=201, json=body).json()["confirmation_code"]
        assert prism.get(f"/quote/{code}")["status"]


def test_what_comes_after_the_order_is_read(prism: Proxied) -> None:
    paths = {
        operation["operationId"]: path.format(
            **{each["name"]: each["example"] for each in operation.get("parameters", []) if each["in"] == "path"}
        )
        for path, methods in interface_document()["paths"].items()
        for method, operation in methods.items()
        if method == "get"
    }
    for path in paths.values():
        prism.send("GET", path)
    [last, *_] = prism.get("/event", params={"limit": 1})
    assert prism.get("/event", params={"after": last["sequence"], "wait": 1})
    prism.send("GET", "/customer", status=401, headers={"X-Api-Key": "x" * 64})


def test_an_application_gets_a_token_and_uses_it(prism: Proxied) -> None:
    demo = prism.demo
    application, owner = register(demo.service, CALLBACK), add_user(demo.service, demo.customer, "owner")
    code = Consenting(demo.service, demo.customer, owner, application, demo.service.client()).code()
    client = {"client_id": application.client_id, "client_secret": application.client_secret}
    consent = prism.send("POST", "/auth/token", data=code.form(**client)).json()
    refresh = {"grant_type": "refresh_token", "refresh_token": consent["refresh_token"], **client}
    renewed = prism.send("POST", "/auth/token", data=refresh).json()
    exchange = {"grant_type": GRANT, "subject_token_type": JWT, "subject_token": renewed["access_token"], **client}
    token = prism.send("POST", "/oauth/token", data=exchange).json()["access_token"]
    prism.key, key = {}, prism.key
    try:
        prism.send("GET", "/customer", headers={"Authorization": f"Bearer {token}"})
        prism.send("POST", "/auth/revoke", data={"token": renewed["refresh_token"], **client})
    finally:
        prism.key = key
