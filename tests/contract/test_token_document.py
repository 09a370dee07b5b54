"""The token endpoint responds as the interface document says."""

from collections.abc import Iterator

import httpx2
import pytest

from support.applications import Exchange, running_exchange
from support.interface import interface, interface_document, problems_by


@pytest.fixture(scope="module")
def exchange(database_url: str) -> Iterator[Exchange]:
    with running_exchange(database_url) as running:
        yield running


def responses(exchange: Exchange) -> Iterator[httpx2.Response]:
    yield exchange.request_token()
    yield exchange.request_token(subject_token="x")
    yield exchange.request_token(grant_type="x")
    yield exchange.http.post("/oauth/token", data=exchange.form())
    exchange.issuer.publish("/keys", {}, 500)
    exchange.service.clock.advance(exchange.service.settings.access_token_lifetime * 25)
    yield exchange.request_token()
    wrong = {"X-Forwarded-For": "198.51.100.7"}
    for _ in range(10):
        exchange.http.get("/customer", headers={**wrong, "X-Api-Key": "x"})
    yield exchange.http.post("/oauth/token", headers=wrong)


@pytest.mark.spec("4 POST /oauth/token", "a blocked address is 403")
def test_the_token_endpoint_is_described(exchange: Exchange) -> None:
    document = interface_document()
    operation = document["paths"]["/oauth/token"]["post"]
    problems = problems_by(document, operation["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"])
    assert problems(exchange.form()) == []
    assert problems({}) != []
    seen = set()
    for response in responses(exchange):
        seen.add(str(response.status_code))
        interface().check(response)
    assert seen == set(operation["responses"]) - {"500"}
