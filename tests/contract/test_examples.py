"""The interface document's examples: there is one for everything, and each is valid."""

import csv
from collections.abc import Iterator
from typing import Any

import pytest

from support.interface import closed, everything, interface_document, problems_by, resolve
from support.service import Service

DOCUMENT = interface_document()
STRICT = closed(DOCUMENT)


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for methods in STRICT["paths"].values():
        for operation in methods.values():
            yield operation["operationId"], operation


def media_types() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every body there is, by where it stands; the interface document itself is its own example."""
    for name, operation in operations():
        for media_type, media in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{name} {media_type}", media
        for status, given in operation["responses"].items():
            for media_type, media in resolve(STRICT, given).get("content", {}).items():
                if media["schema"] not in ({"type": "object"}, {"type": "string", "format": "binary"}):
                    yield f"{name} {status} {media_type}", media


def values(holder: dict[str, Any]) -> list[Any]:
    """The examples of a body, a parameter or a header."""
    return [holder["example"]] if "example" in holder else [e["value"] for e in holder.get("examples", {}).values()]


@pytest.mark.sweep(every=8)
@pytest.mark.spec("4 GET /openapi.json, GET /openapi.yaml", "the document is true")
@pytest.mark.parametrize("media", [pytest.param(media, id=place) for place, media in media_types()])
def test_every_body_has_examples_that_fit_its_schema(media: dict[str, Any]) -> None:
    assert values(media)
    for value in values(media):
        assert problems_by(STRICT, media["schema"])(value) == []


def test_parameters_and_headers_have_examples_that_fit_their_schemas() -> None:
    holders = [parameter for _, operation in operations() for parameter in operation.get("parameters", [])]
    for holder in [*holders, *STRICT["components"]["headers"].values()]:
        assert values(holder), holder
        for value in values(holder):
            assert problems_by(STRICT, holder["schema"])(value) == [], holder


def test_no_example_of_a_schema_is_wrong() -> None:
    for schema in everything(STRICT["components"]["schemas"]):
        for example in schema["examples"] if isinstance(schema.get("examples"), list) else []:
            assert problems_by(STRICT, schema)(example) == []


@pytest.mark.parametrize(("path", "name"), [("/product", "listProducts"), ("/order", "listOrders")])
def test_a_csv_example_has_the_real_columns(shop: Service, path: str, name: str) -> None:
    [operation] = [operation for known, operation in operations() if known == name]
    [example] = values(operation["responses"]["200"]["content"]["text/csv"])
    real = shop.customer().get(path, headers={"Accept": "text/csv"}).text
    assert example.split("\r\n")[0] == real.split("\r\n")[0]
    header, *rows = csv.reader(example.splitlines())
    assert rows
    assert {len(row) for row in rows} == {len(header)}
