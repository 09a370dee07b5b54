"""The log of rejected credentials and blocked addresses: useful, and without secrets."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from support.applications import Exchange, running_exchange
from support.cluster import Cluster
from support.service import Service, running_service

WRONG = {"X-Api-Key": "0123456789abcdef" * 4}


@pytest.fixture
def direct(database_url: str) -> Iterator[Service]:
    """A server that trusts no proxy."""
    with running_service(database_url, trusted_proxies=None) as running:
        yield running


@pytest.fixture
def proxied(database_url: str) -> Iterator[Service]:
    """A server that trusts the proxy on this machine."""
    with running_service(database_url) as running:
        yield running


def logged(service: Service, *headers: dict[str, str]) -> list[Any]:
    """Return the log lines of requests with these headers; the client's address is this machine's unless forwarded."""
    with capture_logs() as logs:
        for sent in headers:
            service.client().get("/customer", headers={"X-Forwarded-For": "198.51.100.9", **sent})
    return [line for line in logs if line["log_level"] != "debug"]


def test_a_block_is_logged_with_address_and_reason(proxied: Service) -> None:
    lines = logged(proxied, *[WRONG] * 10)
    [block] = [line for line in lines if line["event"].startswith("address blocked")]
    assert block == {
        "event": "address blocked",
        "log_level": "warning",
        "address": "198.51.100.9",
        "reason": "10 invalid credentials within 60 seconds",
        "seconds": 300,
    }
    assert not proxied.application.admission.addresses.untrusted_forwarding


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded"])
def test_a_block_of_an_untrusted_proxy_is_logged_as_an_error_with_the_setting(postgres: Cluster, header: str) -> None:
    with postgres.database() as url, running_service(url, trusted_proxies=None) as service:
        client = service.client()
        client.event_hooks["request"].clear()
        with capture_logs() as logs:
            for _ in range(10):
                client.get("/customer", headers={**WRONG, header: "for=203.0.113.7"})
        assert service.application.admission.addresses.untrusted_forwarding
    errors = [line for line in logs if line["log_level"] == "error"]
    assert [(error["address"], error["setting"]) for error in errors] == [("127.0.0.1", "TRADECOUNTER_TRUSTED_PROXIES")]
    warnings = [line for line in logs if line.get("setting") and line["log_level"] == "warning"]
    assert len(warnings) == 1, "logged once, at the first such request"


def test_a_block_of_a_client_without_a_proxy_is_no_error(direct: Service) -> None:
    client = direct.client()
    client.event_hooks["request"].clear()
    with capture_logs() as logs:
        for _ in range(10):
            client.get("/customer", headers=WRONG)
    assert not direct.application.admission.addresses.untrusted_forwarding
    assert [line["log_level"] for line in logs if "blocked" in line["event"]] == ["warning"]


def test_a_rejected_credential_is_logged_with_address_and_key_prefix(proxied: Service) -> None:
    sent = {"X-Forwarded-For": "198.51.100.10"}
    [line] = logged(proxied, {**sent, **WRONG})
    assert line == {
        "event": "credential rejected",
        "log_level": "warning",
        "address": "198.51.100.10",
        "prefix": "01234567",
    }


@pytest.mark.parametrize(
    "headers",
    [{"X-Api-Key": "my password"}, {"Authorization": "Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"},
     {"X-Api-Key": WRONG["X-Api-Key"] + "0"}],
)  # fmt: skip
def test_a_credential_that_is_not_shaped_like_a_key_is_not_logged(proxied: Service, headers: dict[str, str]) -> None:
    [line] = logged(proxied, {"X-Forwarded-For": "198.51.100.11", **headers})
    assert line == {"event": "credential rejected", "log_level": "warning", "address": "198.51.100.11"}


def test_no_secret_is_ever_logged(proxied: Service) -> None:
    text = json.dumps(logged(proxied, *[{"X-Forwarded-For": "198.51.100.12", **WRONG}] * 12))
    assert "01234567" in text
    assert WRONG["X-Api-Key"][8:16] not in text


def test_a_request_from_a_blocked_address_is_logged(proxied: Service) -> None:
    sent = {"X-Forwarded-For": "198.51.100.13", **WRONG}
    logged(proxied, *[sent] * 10)
    [line] = logged(proxied, sent)
    assert (line["event"], line["address"]) == ("request from a blocked address rejected", "198.51.100.13")


def test_missing_and_valid_credentials_are_not_logged(proxied: Service) -> None:
    there = {"X-Forwarded-For": "198.51.100.15"}
    assert logged(proxied, there, {**there, "X-Api-Key": proxied.customer().key}) == []


def test_rejected_client_credentials_are_logged_without_the_secret(postgres: Cluster) -> None:
    with postgres.database() as url, running_exchange(url) as exchange:
        lines = rejected_exchange(exchange)
    assert [(line["event"], line["address"]) for line in lines] == [("credential rejected", "198.51.100.14")]
    assert "not-the-secret" not in json.dumps(lines)


def rejected_exchange(exchange: Exchange) -> list[Any]:
    client = exchange.service.client(**{"X-Forwarded-For": "198.51.100.14"})
    with capture_logs() as logs:
        response = client.post(
            "/oauth/token", data=exchange.form(), auth=(exchange.application.client_id, "not-the-secret")
        )
    assert response.status_code == 401
    return list(logs)
