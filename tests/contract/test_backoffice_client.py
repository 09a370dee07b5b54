"""A client generated from the back office's document drives it, as it comes."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import buy
from support.service import Service
from tradecounter.imports.from_stream import FORMS

PACKAGE = "tradecounter_back_office_client"
PARTS = {
    "create_customer": "api.customers.create_customer",
    "change_customer": "api.customers.change_customer",
    "create_key": "api.customers.create_key",
    "list_customers": "api.customers.list_customers",
    "get_order": "api.orders.get_order",
    "dispatch_order": "api.orders.dispatch_order",
    "list_orders": "api.orders.list_orders",
    "get_product": "api.products.get_product",
    "explain_price": "api.products.explain_price",
    "adjust_stock": "api.products.adjust_stock",
    "list_audit_entries": "api.operations.list_audit_entries",
    "models": "models",
    "client": "client",
}
FILES = ("application/pdf", "application/zip", *FORMS)


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture(scope="module")
def generated(office: BackOfficeSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    folder: Path = tmp_path_factory.mktemp("back-office-client")
    (folder / "openapi.json").write_bytes(office.client().get("/api/openapi.json").content)
    overrides = "".join(f"  {name}: application/octet-stream\n" for name in FILES)
    (folder / "config.yml").write_text(f"post_hooks: []\ncontent_type_overrides:\n{overrides}")
    program = Path(sys.executable).with_name("openapi-python-client")
    command = [str(program), "generate", "--path", "openapi.json", "--config", "config.yml", "--meta", "none"]
    done = subprocess.run([*command, "--output-path", PACKAGE], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    warned = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(("WARNING", "ERROR"))]
    assert warned == ["WARNING parsing GET /api/openapi.yaml within service."]
    sys.path.insert(0, str(folder))
    yield SimpleNamespace(**{name: importlib.import_module(f"{PACKAGE}.{path}") for name, path in PARTS.items()})
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
def client(office: BackOfficeSite, generated: SimpleNamespace) -> Iterator[Any]:
    timeout = generated.client.httpx.Timeout(30)
    with generated.client.AuthenticatedClient(base_url=office.url, token=office.token(), timeout=timeout) as opened:
        yield opened


def test_it_makes_a_customer_that_buys_what_it_then_dispatches(
    office: BackOfficeSite, generated: SimpleNamespace, client: Any
) -> None:
    models = generated.models
    body = models.NewCustomer(email_address="erp@shop.example", first_name="E", last_name="RP")
    made = generated.create_customer.sync(client=client, body=body, idempotency_key="erp-1")
    again = generated.create_customer.sync(client=client, body=body, idempotency_key="erp-1")
    assert (made.id, made) == (again.id, again)
    terms = models.CustomerChange(credit_limit=5000, term_days=30)
    changed = generated.change_customer.sync(made.id, client=client, body=terms, x_acting_user="Sam")
    assert changed.credit.available_credit == 5000
    assert made.id in [customer.id for customer in generated.list_customers.sync(client=client)]
    key = generated.create_key.sync(made.id, client=client, body=models.NewKey(name="shop"))
    assert len(key.key) == 64

    placed = buy(office.service.customer())
    order = generated.get_order.sync(placed["order_reference"], client=client)
    dispatch = models.Dispatch(items=[models.DispatchedItem(id=order.items[0].id, quantity=1)])
    shipped = generated.dispatch_order.sync(order.order_reference, client=client, body=dispatch)
    assert [shipment.items[0].quantity for shipment in shipped.shipments] == [1]
    assert order.id in [found.id for found in generated.list_orders.sync(client=client, sku="PHONE")]


def test_it_reads_products_prices_and_the_audit_log(
    office: BackOfficeSite, generated: SimpleNamespace, client: Any
) -> None:
    models, customer = generated.models, office.service.customer()
    price = generated.explain_price.sync(client=client, sku="PHONE", customer_id=customer.id, quantity=10)
    assert (price.unit_cost, price.candidates[0].applies) == (40, True)
    units = models.AdjustedUnits(sku="CABLE", reason="Stocktake", set_=900)
    adjusted = generated.adjust_stock.sync(client=client, body=models.AdjustmentRequest(items=[units]))
    assert adjusted.items[0].on_hand == generated.get_product.sync("CABLE", client=client).stock.on_hand == 900
    [entry] = generated.list_audit_entries.sync(client=client, subject="product/CABLE")
    assert (entry.action, entry.after["reason"]) == ("stock.adjust", "Stocktake")


def test_errors_are_parsed(office: BackOfficeSite, generated: SimpleNamespace, client: Any) -> None:
    missing = generated.get_order.sync("NOTHING", client=client)
    assert missing == generated.models.Error(message="order NOTHING does not exist")
    with generated.client.AuthenticatedClient(base_url=office.url, token=office.token("stock:read")) as poor:
        assert generated.get_order.sync("X", client=poor).message == "this needs the scope orders:read"
