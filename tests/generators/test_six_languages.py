"""Clients that openapi-generator makes of both interface documents compile, and the customers' place orders."""

import importlib.metadata
import re
from collections.abc import Iterator

import pytest

from support.demo import Demo, running_demo
from support.guide import section
from support.openapi_generator import DOCUMENTS, LANGUAGES, Workshop, available

pytestmark = pytest.mark.long

AVAILABLE = available()


@pytest.fixture(scope="module")
def demo(database_url: str) -> Iterator[Demo]:
    with running_demo(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    made = Workshop(tmp_path_factory.mktemp("generated"), AVAILABLE)
    made.generate()
    return made


def test_the_generator_finds_no_fault_in_the_documents(workshop: Workshop) -> None:
    assert [line for line in workshop.said.splitlines() if " ERROR " in line] == []


@pytest.mark.parametrize("name", AVAILABLE)
def test_the_back_offices_client_compiles(workshop: Workshop, name: str) -> None:
    workshop.build(DOCUMENTS[1], name)


@pytest.mark.parametrize("name", AVAILABLE)
def test_the_customers_client_compiles_and_places_orders(workshop: Workshop, demo: Demo, name: str) -> None:
    """One is confirmed with a shipping option, one at once; a saved address is given by its id alone."""
    workshop.build(DOCUMENTS[0], name)
    printed = workshop.run(name, BASE=demo.service.url, KEY=demo.customer.key)
    assert (printed["sku"], printed["unknown"]) == ("CV-320P", "404")
    assert printed["listed"] == printed["first"]
    first, second = (demo.customer.get(f"/order/{printed[each]}").json() for each in ("first", "second"))
    assert float(printed["net"]) == pytest.approx(first["cost_net"])
    assert [order["customer_reference"] for order in (first, second)] == [f"PO-{name}", f"PO-{name}-at-once"]
    for order, city in ((first, "Leeds"), (second, saved_city(demo))):
        assert [(item["product"]["sku"], item["quantity"]) for item in order["items"]] == [("CV-320P", 6)]
        assert order["shipping_address"]["city"] == city


def saved_city(demo: Demo) -> str:
    [city, *_] = [address["city"] for address in demo.customer.get("/customer/address").json()]
    return str(city)


def test_the_guide_names_the_tested_version_and_options() -> None:
    said = section("Six languages: openapi-generator")
    assert f"version {importlib.metadata.version('openapi-generator-cli')}." in said
    for name, language in LANGUAGES.items():
        [options] = re.findall(rf"^\| `{name}` \| (.*?) \|", said, re.MULTILINE)
        own = {key: value for key, value in language.options.items() if key != "packageName"}
        assert dict(re.findall(r"(\w+)=(\w+)", options)) == own
