"""Every kind of error has a status, and all error responses have the same form."""

import msgspec
import psycopg
import pytest
from psycopg_pool import PoolTimeout
from starlette.requests import Request

from support.error_bodies import error_body
from tradecounter.edge.rest.responses import STATUS
from tradecounter.identity.credentials import InvalidCredentialError, MissingCredentialError
from tradecounter.kit.errors import USUAL_CODE, DomainError, Kind, invalid, not_found
from tradecounter.kit.tasks import Seldom
from tradecounter.sites.http.errors import response_to

REQUEST = Request({"type": "http", "method": "GET", "path": "/x", "headers": [], "query_string": b"", "server": None})


@pytest.mark.spec("7 Errors", "every kind of error has its status")
def test_every_kind_of_error_has_a_status_and_only_403_has_two_kinds() -> None:
    assert set(STATUS) == set(Kind)
    assert STATUS[Kind.BLOCKED] == STATUS[Kind.FORBIDDEN] == 403
    assert len(set(STATUS.values())) == len(Kind) - 1
    assert all(400 <= status < 500 for kind, status in STATUS.items() if kind is not Kind.UNAVAILABLE)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.UNAUTHENTICATED])
def test_an_error_is_its_message_and_its_code(kind: Kind) -> None:
    response = response_to(DomainError(kind, 'what "to" do'), REQUEST, "r1", Seldom())
    assert response.status_code == STATUS[kind]
    assert msgspec.json.decode(response.body) == error_body(USUAL_CODE[kind], 'what "to" do')
    assert response.headers["content-type"] == "application/json"


@pytest.mark.spec("7 401", "missing or invalid key or token")
@pytest.mark.parametrize(
    ("error", "challenge"),
    [(MissingCredentialError(), "Bearer"), (InvalidCredentialError(), 'Bearer error="invalid_token"')],
)
def test_a_rejected_credential_is_an_empty_object_and_a_challenge(error: DomainError, challenge: str) -> None:
    response = response_to(error, REQUEST, "r1", Seldom())
    assert (response.status_code, response.body, response.headers["www-authenticate"]) == (401, b"{}", challenge)


@pytest.mark.spec("7 503", "temporarily unavailable")
@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("connection refused"),
        psycopg.errors.AdminShutdown("terminating connection"),
        psycopg.errors.TooManyConnections("sorry"),
        psycopg.errors.DeadlockDetected("deadlock"),
        PoolTimeout("no connection"),
    ],
)
def test_a_database_that_is_away_is_a_503_that_says_when_to_come_back(error: Exception) -> None:
    response = response_to(error, REQUEST, "r1", Seldom())
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")
    assert str(error).encode() not in response.body


@pytest.mark.parametrize("error", [RuntimeError("secret"), psycopg.errors.UndefinedTable("secret"), KeyError("secret")])
def test_a_fault_of_ours_is_a_500_that_tells_only_the_requests_id(error: Exception) -> None:
    response = response_to(error, REQUEST, "r1", Seldom())
    assert response.status_code == 500
    assert b"r1" in response.body
    assert b"secret" not in response.body


def test_errors_are_worded_the_same_way() -> None:
    assert invalid("items[0].sku", "is unknown").message == "items[0].sku: is unknown"
    assert not_found("order").message == "order not found"
    assert not_found("order", 7).message == "order 7 not found"
    assert not_found("order", " A\x00\u202e B\n").message == "order A B not found"
    assert not_found("order", "9" * 10_000).message == f"order {'9' * 60}\u2026 not found"
