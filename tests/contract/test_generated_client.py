"""A client generated from the served document buys, as it comes, with no HTTP written by hand."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD

PACKAGE = "generated_tradecounter_client"
# No clean-up of the code's looks; files are handed over as bytes.
CONFIG = "post_hooks: []\ncontent_type_overrides: {application/pdf: application/octet-stream}\n"
PARTS = {
    "list_products": "api.catalogue.list_products",
    "create_order": "api.orders.create_order",
    "confirm_order": "api.orders.confirm_order",
    "get_order": "api.orders.get_order",
    "create_address": "api.account.create_address",
    "models": "models",
    "client": "client",
}


@pytest.fixture(scope="module")
def warnings_of_generator(shop: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("client")
    document, config = folder / "openapi.json", folder / "config.yml"
    document.write_bytes(shop.client().get("/openapi.json").content)
    config.write_text(CONFIG)
    program = Path(sys.executable).with_name("openapi-python-client")
    done = subprocess.run(
        [program, "generate", "--path", document, "--config", config, "--meta", "none",
         "--output-path", folder / PACKAGE],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield done.stdout + done.stderr
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def generated(warnings_of_generator: str) -> SimpleNamespace:
    assert "Generating" in warnings_of_generator
    return SimpleNamespace(**{name: importlib.import_module(f"{PACKAGE}.{path}") for name, path in PARTS.items()})


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def client(shop: Service, generated: SimpleNamespace, customer: Customer) -> Iterator[Any]:
    made = generated.client.AuthenticatedClient(
        base_url=shop.url, token=customer.key, prefix="", auth_header_name="X-Api-Key", raise_on_unexpected_status=True
    )
    with made as opened:
        yield opened


def test_the_generator_understands_all_but_the_document_in_yaml(warnings_of_generator: str) -> None:
    warned = [line for line in warnings_of_generator.splitlines() if line.startswith(("WARNING", "ERROR"))]
    assert warned == ["WARNING parsing GET /openapi.yaml within service."]


def test_it_lists_creates_confirms_and_reads(generated: SimpleNamespace, client: Any) -> None:
    models = generated.models
    products = generated.list_products.sync(client=client, accept=models.ListProductsAccept.APPLICATIONJSON)
    assert [product.sku for product in products] == ["CABLE", "PHONE", "SWITCH"]

    saved = generated.create_address.sync(client=client, body=models.AddressDetails.from_dict(ADDRESS))
    created = generated.create_order.sync(
        client=client,
        body=models.CreateOrderRequest(
            customer_reference="PO-77",
            items=[models.CreateOrderItem(sku=products[1].sku, quantity=5)],
            billing_address=models.AddressReference(id=saved.id),
            shipping_address=models.AddressDetails.from_dict(ADDRESS),
        ),
    )
    assert created.cost_net == products[1].five_plus_unit_cost * 5
    assert STANDARD in [option.id for option in created.shipping_options]

    confirmed = generated.confirm_order.sync(
        created.confirmation_code,
        client=client,
        body=models.ConfirmOrderRequest(shipping_method=models.ShippingChoice(id=STANDARD)),
    )
    order = generated.get_order.sync(confirmed.order_reference, client=client)
    assert (order.id, order.customer_reference) == (confirmed.order_id, "PO-77")
    assert [(item.product.sku, item.quantity) for item in order.items] == [("PHONE", 5)]


def test_a_refusal_is_an_error_with_its_message(generated: SimpleNamespace, client: Any) -> None:
    answer = generated.get_order.sync_detailed("NOTHING", client=client)
    assert (answer.status_code, answer.parsed) == (404, generated.models.Error(message="order not found"))


def test_a_refused_key_is_an_empty_object(shop: Service, generated: SimpleNamespace) -> None:
    with generated.client.AuthenticatedClient(
        base_url=shop.url, token="x" * 64, prefix="", auth_header_name="X-Api-Key", timeout=httpx.Timeout(30)
    ) as stranger:
        assert generated.get_order.sync("NOTHING", client=stranger) == generated.models.EmptyObject()
