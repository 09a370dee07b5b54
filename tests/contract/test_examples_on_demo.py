"""The interface documents' examples work unchanged on the demo, the customers' for its first customer."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.demo import Demo, running_demo
from support.interface import Document, backoffice_document, interface_document
from support.service import MORNING
from tradecounter.demo.history.webhooks import add_demo_webhooks
from tradecounter.kit.actor import SYSTEM

DOCUMENT = interface_document()
ELSEWHERE = {"exchangeToken", "requestConsent", "revokeToken"}  # need an application and what it got before
EMPTY = {"listCatalogueChanges"}  # of its `after`, an example would expire; without it, nothing has changed

Request = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def demo(database_url: str) -> Iterator[Demo]:
    with running_demo(database_url) as running:
        running.customer.get("/category")
        running.service.refresh()  # now the request log has an entry
        yield running


@pytest.fixture(scope="module")
def office(demo: Demo) -> Iterator[BackOfficeSite]:
    """The back office, with the endpoints that the demo's history adds."""
    service = demo.service
    service.call(lambda: add_demo_webhooks(service.commands, service.settings, SYSTEM, MORNING))
    with backoffice_of(service) as running:
        yield running


def operations(document: Document = DOCUMENT) -> Iterator[Request]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] not in ELSEWHERE | EMPTY:
                yield path, method, operation


def filled(path: str, operation: dict[str, Any]) -> str:
    values = {p["name"]: p["example"] for p in operation.get("parameters", []) if p["in"] == "path"}
    return path.format(**values)


def text_of(example: Any) -> str:
    return ",".join(example) if isinstance(example, list) else str(example)


def lists(document: Document) -> list[Any]:
    """The operations that list something, with parameters that have examples."""

    def is_list(operation: dict[str, Any]) -> bool:
        success = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
        examples = any("example" in each for each in operation.get("parameters", []) if each["in"] != "path")
        return examples and bool(success.get("schema", {}).get("type") == "array")

    found = [each for each in operations(document) if each[1] == "get" and is_list(each[2])]
    return [pytest.param(path, operation, id=operation["operationId"]) for path, _, operation in found]


def bodies(operation: dict[str, Any]) -> dict[str, Any]:
    contents = operation.get("requestBody", {}).get("content", {})
    return {name: example["value"] for media in contents.values() for name, example in media["examples"].items()}


def is_something(response: httpx2.Response) -> bool:
    """Whether a response contains more than an empty list."""
    return response.status_code == 204 or (response.content != b"" and response.text != "[]")


@pytest.mark.sweep(every=6)
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
    sent = {parameter["name"]: text_of(parameter["example"])}
    arguments: dict[str, Any] = {"params": sent} if parameter["in"] == "query" else {"headers": sent}
    response = demo.customer.get(filled(path, operation), **arguments)
    assert response.status_code == 200, response.text
    assert is_something(response)


@pytest.mark.parametrize(("path", "operation"), lists(DOCUMENT))
def test_the_examples_of_all_parameters_together_find_something(
    demo: Demo, path: str, operation: dict[str, Any]
) -> None:
    found_together(demo.customer.http, path, operation)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(("path", "operation"), lists(backoffice_document()))
def test_those_of_the_back_office_find_something_together(
    office: BackOfficeSite, path: str, operation: dict[str, Any]
) -> None:
    found_together(office.caller(), path, operation)


def found_together(client: httpx2.Client, path: str, operation: dict[str, Any]) -> None:
    """Send every parameter that has an example, as programs do that fill requests from the document."""
    sent: dict[str, dict[str, str]] = {"query": {}, "header": {}}
    for parameter in operation.get("parameters", []):
        if parameter["in"] in sent and "example" in parameter:
            sent[parameter["in"]][parameter["name"]] = text_of(parameter["example"])
    response = client.get(filled(path, operation), params=sent["query"], headers=sent["header"])
    assert response.status_code == 200, response.text
    assert is_something(response), sent


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
