"""Numbers that no column of the database holds are rejected in every field of every body; none is an internal error."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import invoiced, number_of
from support.interface import backoffice_document, interface_document, resolve
from support.orders import buy, create, dispatch
from support.pages import customer_user
from support.quotes import request_quote
from support.service import Customer, Service

pytestmark = pytest.mark.sweep(every=6)

LARGE = 10**12  # a column for ids may hold it
HUGE = (2**63, 10**20, -(10**30), 10**400)
Place = tuple[str | int, ...]
Operation = tuple[str, str, dict[str, Any]]


def operations(document: dict[str, Any]) -> Iterator[Any]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                yield pytest.param((method, path, content["application/json"]), id=operation["operationId"])


def numbers_in(document: dict[str, Any], schema: dict[str, Any], place: Place = ()) -> Iterator[Place]:
    """The places of the numbers in a body, each list with one element."""
    found = resolve(document, schema)
    kinds = found.get("type")
    if {"integer", "number"} & {*(kinds if isinstance(kinds, list) else [kinds])}:
        yield place
    for each in (*found.get("anyOf", ()), *found.get("oneOf", ()), *found.get("allOf", ())):
        yield from numbers_in(document, each, place)
    if "items" in found:
        yield from numbers_in(document, found["items"], (*place, 0))
    for name, inner in found.get("properties", {}).items():
        yield from numbers_in(document, inner, (*place, name))


def with_number(example: Any, place: Place, number: int) -> Any:
    if not place:
        return number
    first, *rest = place
    if isinstance(first, int):
        return [with_number(example[0] if isinstance(example, list) and example else {}, tuple(rest), number)]
    body = copy.deepcopy(example) if isinstance(example, dict) else {}
    return body | {first: with_number(body.get(first), tuple(rest), number)}


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture(scope="module")
def known(office: BackOfficeSite, customer: Customer) -> dict[str, str]:
    """What stands for the parameters of paths."""
    service = office.service
    placed = buy(customer)
    dispatch(service, placed)
    url = "https://hooks.example/events"
    return {
        "reference": placed["order_reference"],
        "orderItemId": str(placed["items"][0]["id"]),
        "code": request_quote(customer)["confirmation_code"],
        "confirmation_code": request_quote(customer)["confirmation_code"],
        "pending": create(customer)["confirmation_code"],
        "number": str(number_of(service, invoiced(service, customer, ("PHONE", 1)))),
        "webhook": str(office.caller().post("/api/webhook", json={"url": url}).json()["id"]),
        "contact_id": "1",
        "list_id": "1",
        "user_id": str(customer_user(service, customer.id, "buyer").id),
        "id": str(customer.id),
    }


def rejected(http: httpx2.Client, address: str, document: dict[str, Any], operation: Operation) -> list[Any]:
    """The bodies that were not rejected."""
    method, _, media = operation
    example = next(iter(media["examples"].values()))["value"]
    wrong = []
    for place in numbers_in(document, media["schema"]):
        for number in (LARGE, *HUGE):
            body = with_number(example, place, number)
            response = http.request(
                method, address, content=json.dumps(body), headers={"Content-Type": "application/json"}
            )
            if not (200 if number == LARGE else 400) <= response.status_code < 500:
                wrong.append((place, number, response.status_code))
    return wrong


@pytest.mark.parametrize("operation", [*operations(backoffice_document())])
def test_the_back_office_rejects_huge_numbers(
    office: BackOfficeSite, known: dict[str, str], operation: Operation
) -> None:
    ids = known | ({"id": known["webhook"]} if "/webhook/" in operation[1] else {})
    with office.caller() as staff:
        assert rejected(staff, operation[1].format(**ids), backoffice_document(), operation) == []


@pytest.mark.parametrize("operation", [*operations(interface_document())])
def test_the_customers_api_rejects_huge_numbers(
    customer: Customer, known: dict[str, str], operation: Operation
) -> None:
    method, path, _ = operation
    ids = known | ({"reference": known["pending"]} if method == "put" else {})
    assert rejected(customer.http, path.format(**ids), interface_document(), operation) == []
