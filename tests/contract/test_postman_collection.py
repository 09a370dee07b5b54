"""The collection for Postman and Bruno is made from the interface document, and its requests work on the demo."""

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from support.consent import Consenting, add_user, register
from support.demo import Demo, running_demo
from support.interface import interface_document
from tradecounter.edge.openapi.postman import postman_collection

COMMITTED = Path(__file__).parents[2] / "docs" / "tradecounter.postman_collection.json"
COLLECTION = json.loads(COMMITTED.read_text())
REQUESTS = [(item["name"], item["request"]) for folder in COLLECTION["item"] for item in folder["item"]]

Variables = dict[str, str]


def test_the_committed_collection_is_up_to_date() -> None:
    made = postman_collection(interface_document())
    assert made == COLLECTION, "docs/tradecounter.postman_collection.json is out of date: run `make docs`"


def test_every_operation_is_in_the_collection_under_a_unique_name() -> None:
    document = interface_document()
    operations = {
        (method.upper(), "{{baseUrl}}" + re.sub(r"\{(\w+)\}", r":\1", path))
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert {(request["method"], request["url"]["raw"]) for _, request in REQUESTS} == operations
    assert len({name for name, _ in REQUESTS}) == len(REQUESTS)


def test_the_collection_contains_no_key_and_declares_its_variables() -> None:
    variables = {variable["key"]: variable["value"] for variable in COLLECTION["variable"]}
    assert set(re.findall(r"\{\{(\w+)\}\}", COMMITTED.read_text())) == set(variables)
    assert {name: value for name, value in variables.items() if value} == {"baseUrl": "https://api.example"}


@pytest.fixture(scope="module")
def demo_and_variables(database_url: str) -> Iterator[tuple[Demo, Variables]]:
    with running_demo(database_url) as demo:
        application = register(demo.service, "https://erp.example/callback")
        owner = add_user(demo.service, demo.customer, "owner")
        consenting = Consenting(demo.service, demo.customer, owner, application, demo.service.client())
        code, given = consenting.code(), consenting.given()
        yield (
            demo,
            {
                "baseUrl": demo.service.url,
                "apiKey": demo.customer.key,
                "clientId": application.client_id,
                "clientSecret": application.client_secret,
                "subjectToken": given["access_token"],
                "code": code.code,
                "codeVerifier": code.verifier,
                "refreshToken": given["refresh_token"],
            },
        )


def sent(demo: Demo, request: dict[str, Any], variables: Variables, *, with_query: bool = False) -> httpx2.Response:
    """The response to a request of the collection, sent as Postman sends it."""

    def put_in(text: str) -> str:
        return re.sub(r"\{\{(\$?\w+)\}\}", lambda found: {**variables, "$guid": str(uuid.uuid4())}[found[1]], text)

    url = request["url"]
    values = {variable["key"]: quote(variable["value"], safe="") for variable in url.get("variable", [])}
    path = [values[part[1:]] if part.startswith(":") else part for part in url["path"]]
    body, auth = request.get("body", {"mode": None}), request.get("auth")
    basic = {entry["key"]: put_in(entry["value"]) for entry in auth["basic"]} if auth else None
    return demo.service.client().request(
        request["method"],
        "/".join([put_in(url["host"][0]), *path]),
        params={pair["key"]: pair["value"] for pair in url.get("query", [])} if with_query else None,
        headers={pair["key"]: put_in(pair["value"]) for pair in request["header"] if not pair.get("disabled")},
        content=put_in(body["raw"]) if body["mode"] == "raw" else None,
        data={p["key"]: put_in(p["value"]) for p in body["urlencoded"]} if body["mode"] == "urlencoded" else None,
        auth=httpx2.BasicAuth(basic["username"], basic["password"]) if basic else None,
    )


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("request_", [pytest.param(request, id=name) for name, request in REQUESTS])
def test_each_request_works_unchanged(demo_and_variables: tuple[Demo, Variables], request_: dict[str, Any]) -> None:
    response = sent(demo_and_variables[0], request_, demo_and_variables[1])
    assert response.is_success, response.text
    accepted = [pair["value"] for pair in request_["header"] if pair["key"] == "Accept"]
    assert response.headers.get("content-type", "").partition(";")[0] == "".join(accepted)


@pytest.mark.parametrize(
    "request_", [pytest.param(request, id=name) for name, request in REQUESTS if "query" in request["url"]]
)
def test_each_query_parameter_can_be_enabled(
    demo_and_variables: tuple[Demo, Variables], request_: dict[str, Any]
) -> None:
    for pair in request_["url"]["query"]:
        one = {**request_, "url": {**request_["url"], "query": [pair]}}
        assert sent(demo_and_variables[0], one, demo_and_variables[1], with_query=True).is_success, pair
