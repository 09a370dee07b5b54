"""What generators of clients stumble over, which no document may have."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.interface import Document, backoffice_document, everything, interface_document, resolve

DOCUMENTS = [
    pytest.param(interface_document(), id="customers"),
    pytest.param(backoffice_document(), id="back office"),
]

# Classes of .NET's namespace System, which every C# client imports.
NAMES_OF_NET = {"Action", "Array", "Attribute", "Boolean", "Buffer", "Char", "Console", "Convert", "Decimal",
                "Delegate", "Double", "Enum", "Environment", "Exception", "Func", "Guid", "Index", "Lazy", "Math",
                "Nullable", "Object", "Random", "Range", "Single", "String", "Tuple", "Type", "Uri",
                "Version"}  # fmt: skip


def choices(part: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    for found in everything(part):
        for kind in ("anyOf", "oneOf"):
            if kind in found:
                yield found[kind]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_nothing_is_a_choice_of_two_objects(document: Document) -> None:
    for options in choices(document):
        objects = [option for option in options if resolve(document, option).get("type") == "object"]
        assert len(objects) <= 1, options


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_name_is_one_that_clients_have(document: Document) -> None:
    """In Go, `OrderRequest` is what makes an `Order`."""
    names = set(document["components"]["schemas"])
    assert [name for name in names if name.startswith("New")] == []
    assert names & NAMES_OF_NET == set()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_patterns_end_where_they_say(document: Document) -> None:
    """Libraries that make examples from patterns reject what comes after `$`."""
    patterns = {found["pattern"] for found in everything(document) if isinstance(found.get("pattern"), str)}
    assert patterns
    assert [pattern for pattern in patterns if "$" in pattern.replace("\\$", "")[:-1]] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_have_no_literal_bodies(document: Document) -> None:
    """OpenAPI allows them; openapi-generator takes only text there."""
    links = [link for found in everything(document) for link in found.get("links", {}).values()]
    assert all("requestBody" not in link for link in links)


def test_an_address_of_an_order_is_one_type_that_takes_an_id_alone() -> None:
    document = interface_document()
    for name in ("billing_address", "shipping_address"):
        address = document["components"]["schemas"]["CreateOrderRequest"]["properties"][name]
        assert address["$ref"] == "#/components/schemas/OrderAddressDetails"
        schema = resolve(document, address)
        assert schema["required"] == []
        assert {"id", "contact_name", "street_one", "city", "zip", "country_code"} <= schema["properties"].keys()
