"""A client generated from the served document buys, as it comes, with no HTTP written by hand."""

import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.guide import blocks, filled_in, section
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD

pytestmark = pytest.mark.sweep

HEADING = "Python: openapi-python-client"
PACKAGE = "tradecounter_client"
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
    """What the generator says when the guide's command runs it."""
    folder = tmp_path_factory.mktemp("client")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", blocks(HEADING)["sh"]],
        cwd=folder,
        env={**os.environ, "PATH": programs, "BASE": shop.url},
        capture_output=True,
        text=True,
        check=False,
    )
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
    """The client that the guide's code makes."""
    names: dict[str, Any] = {}
    exec(filled_in(blocks(HEADING)["python"], shop.url, customer.key), names)  # noqa: S102 the guide's own code
    assert isinstance(names["client"], generated.client.AuthenticatedClient)
    with names["client"] as opened:
        yield opened


def test_the_generator_supports_all_but_binary_responses(warnings_of_generator: str) -> None:
    warned = [line for line in warnings_of_generator.splitlines() if line.startswith(("WARNING", "ERROR"))]
    assert warned == [
        "WARNING parsing GET /order/{reference}/invoice within orders.",
        "WARNING parsing GET /openapi.yaml within service.",
    ]


def test_with_the_guides_option_the_client_returns_invoices(shop: Service, tmp_path: Path) -> None:
    option = "content_type_overrides: {application/pdf: application/octet-stream}"
    assert f"`{option}`" in section(HEADING)
    (tmp_path / "config.yml").write_text(f"post_hooks: []\n{option}\n")
    (tmp_path / "openapi.json").write_bytes(shop.client().get("/openapi.json").content)
    program = Path(sys.executable).with_name("openapi-python-client")
    command = [str(program), "generate", "--path", "openapi.json", "--config", "config.yml", "--meta", "none"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "invoice" not in done.stdout + done.stderr


def test_the_guide_names_the_tested_version() -> None:
    assert f"version {importlib.metadata.version('openapi-python-client')}." in section(HEADING)


def test_the_guides_call_lists_products(generated: SimpleNamespace, client: Any, customer: Customer) -> None:
    [call] = re.findall(r"`(list_products\.sync\(.*?\))`", section(HEADING))
    names = {"client": client, "list_products": generated.list_products, **vars(generated.models)}
    listed = [product["sku"] for product in customer.get("/product?inStock=true").json()]
    assert listed
    assert [product.sku for product in eval(call, names)] == listed  # noqa: S307 the guide's own code


@pytest.mark.spec("4 GET /openapi.json, GET /openapi.yaml", "the document is true")
def test_it_lists_creates_confirms_and_reads(generated: SimpleNamespace, client: Any) -> None:
    models = generated.models
    products = generated.list_products.sync(client=client)
    assert [product.sku for product in products] == ["CABLE", "PHONE", "SWITCH"]

    saved = generated.create_address.sync(client=client, body=models.AddressDetails.from_dict(ADDRESS))
    created = generated.create_order.sync(
        client=client,
        body=models.CreateOrderRequest(
            customer_reference="PO-77",
            items=[models.CreateOrderItem(sku=products[1].sku, quantity=5)],
            billing_address=models.OrderAddressDetails(id=saved.id),
            shipping_address=models.OrderAddressDetails.from_dict(ADDRESS),
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


def test_an_error_response_is_parsed_with_its_message_and_its_code(generated: SimpleNamespace, client: Any) -> None:
    response = generated.get_order.sync_detailed("NOTHING", client=client)
    error = generated.models.Error("order NOTHING not found", "not_found")
    assert (response.status_code, response.parsed) == (404, error)


def test_a_code_that_the_generated_client_does_not_know_is_read(generated: SimpleNamespace) -> None:
    assert generated.models.Error.from_dict({"message": "x", "code": "not_yet_known"}).code == "not_yet_known"


def test_a_rejected_key_is_an_empty_object(shop: Service, generated: SimpleNamespace) -> None:
    with generated.client.AuthenticatedClient(
        base_url=shop.url,
        token="x" * 64,
        prefix="",
        auth_header_name="X-Api-Key",
        timeout=generated.client.httpx.Timeout(30),
    ) as stranger:
        assert generated.get_order.sync("NOTHING", client=stranger) == generated.models.EmptyObject()
