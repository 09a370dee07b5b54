"""The interface document's examples work unchanged for the demo's first customer."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.demo import Demo, running_demo
from support.interface import interface_document

DOCUMENT = interface_document()
ELSEWHERE = {"exchangeToken", "requestConsent", "revokeToken"}  # need an application and what it got before

Request = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def demo(database_url: str) -> Iterator[Demo]:
    with running_demo(database_url) as running:
        yield running


def operations() -> Iterator[Request]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] not in ELSEWHERE:
                yield path, method, operation


def filled(path: str, operation: dict[str, Any]) -> str:
    values = {p["name"]: p["example"] for p in operation.get("parameters", []) if p["in"] == "path"}
    return path.format(**values)


def bodies(operation: dict[str, Any]) -> dict[str, Any]:
    contents = operation.get("requestBody", {}).get("content", {})
    return {name: example["value"] for media in contents.values() for name, example in media["examples"].items()}


def is_something(response: httpx2.Response) -> bool:
    """Whether a response contains more than an empty list."""
    return response.status_code == 204 or (response.content != b"" and response.text != "[]")


@pytest.mark.parametrize(
    ("path", "operation", "parameter"),
    [
        pytest.param(path, operation, parameter, id=f"{operation['operationId']}-{parameter['name']}")
        for path, method, operation in operations()
        for parameter in operation.get("parameters", [])
        if method == "get" and parameter["in"] != "path"
    ],
)
def test_each_optional_parameter_has_an_example_that_finds_something(
    demo: Demo, path: str, operation: dict[str, Any], parameter: dict[str, Any]
) -> None:
    example = parameter["example"]
    value = ",".join(example) if isinstance(example, list) else str(example)
    sent = {parameter["name"]: value}
    arguments: dict[str, Any] = {"params": sent} if parameter["in"] == "query" else {"headers": sent}
    response = demo.customer.get(filled(path, operation), **arguments)
    assert response.status_code == 200, response.text
    assert is_something(response)


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        pytest.param(path, operation, id=operation["operationId"])
        for path, method, operation in operations()
        if method == "get"
    ],
)
def test_each_path_with_its_example_finds_data(demo: Demo, path: str, operation: dict[str, Any]) -> None:
    response = demo.customer.get(filled(path, operation))
    assert response.status_code == 200, response.text
    assert is_something(response)


@pytest.mark.parametrize(
    ("path", "method", "operation", "body"),
    [
        pytest.param(path, method, operation, body, id=f"{operation['operationId']}-{name}")
        for path, method, operation in operations()
        if method != "get"
        for name, body in (bodies(operation) or {"": None}).items()
    ],
)
def test_each_example_body_succeeds(demo: Demo, path: str, method: str, operation: dict[str, Any], body: Any) -> None:
    response = demo.customer.http.request(method, filled(path, operation), json=body)
    assert response.is_success, response.text
