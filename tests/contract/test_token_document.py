"""The token endpoint answers as the interface document says."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from support.applications import Exchange, running_exchange
from support.json_schema import problems, resolve, undescribed


@pytest.fixture(scope="module")
def exchange(database_url: str) -> Iterator[Exchange]:
    with running_exchange(database_url) as running:
        yield running


def answers(exchange: Exchange) -> Iterator[httpx.Response]:
    yield exchange.ask()
    yield exchange.ask(subject_token="x")
    yield exchange.ask(grant_type="x")
    yield exchange.http.post("/oauth/token", data=exchange.form())
    exchange.issuer.publish("/keys", {}, 500)
    exchange.service.clock.advance(exchange.service.settings.access_token_lifetime * 25)
    yield exchange.ask()
    wrong = {"X-Forwarded-For": "198.51.100.7"}
    for _ in range(10):
        exchange.http.get("/customer", headers={**wrong, "X-Api-Key": "x"})
    yield exchange.http.post("/oauth/token", headers=wrong)


def test_the_token_endpoint_is_described(exchange: Exchange) -> None:
    document: dict[str, Any] = exchange.http.get("/openapi.json").json()
    operation = document["paths"]["/oauth/token"]["post"]
    form = operation["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    assert list(problems(exchange.form(), form, document)) == []
    assert list(problems({}, form, document)) != []
    seen = set()
    for answer in answers(exchange):
        seen.add(str(answer.status_code))
        described = operation["responses"][str(answer.status_code)]
        response = resolve(document, described["$ref"]) if "$ref" in described else described
        schema = response["content"]["application/json"]["schema"]
        assert list(problems(answer.json(), schema, document)) == []
        assert list(undescribed(answer.json(), schema, document)) == []
    assert seen == set(operation["responses"]) - {"500"}
