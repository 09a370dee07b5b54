"""An agent's client id may be the address of a document that describes it, which is fetched with care."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from support.agent_consent import CALLBACK, Connecting, OfficialClient, call_list
from support.certificates import make_certificate, server_side
from support.pages import browser, customer_user, text_of
from support.service import Service, running_service
from support.shop import stock_shop
from tradecounter.kit.trusted_authorities import trusted_authorities

pytestmark = pytest.mark.sweep  # seconds for each of its stories


@dataclass
class Publisher:
    """A site with an agent's document; it counts requests."""

    url: str
    document: dict[str, Any] | bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    requests: int = 0

    @property
    def address(self) -> str:
        return f"{self.url}/agent.json"


@contextmanager
def publishing(certificate: Path) -> Iterator[Publisher]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.requests += 1
            body = found.document if isinstance(found.document, bytes) else json.dumps(found.document).encode()
            self.send_response(found.status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = server_side(certificate).wrap_socket(server.socket, server_side=True)
    found = Publisher(f"https://127.0.0.1:{server.server_port}", {})
    found.document = {"client_id": found.address, "client_name": "Described", "redirect_uris": [CALLBACK]}
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def publisher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    """A site that this process trusts."""
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    trusted_authorities.cache_clear()
    with publishing(certificate) as found:
        yield found
    trusted_authorities.cache_clear()


@pytest.fixture
def trusting(database_url: str) -> Iterator[Service]:
    """A service that may fetch from this machine."""
    with running_service(database_url, webhook_networks="127.0.0.0/8") as service:
        stock_shop(service)
        yield service


@pytest.fixture
def program(trusting: Service, publisher: Publisher) -> Connecting:
    owner = customer_user(trusting, trusting.customer().id, "owner")
    return Connecting(trusting, owner, publisher.address)


def test_the_official_client_orders_with_its_document(trusting: Service, publisher: Publisher) -> None:
    owner = customer_user(trusting, trusting.customer().id, "owner")
    client = OfficialClient(trusting, owner, document=publisher.address)
    assert not client.use(lambda mcp: mcp.call_tool("search_products", {"query": "phone"})).is_error
    assert client.client is not None
    assert client.client.client_id == publisher.address


def test_a_document_is_read_once_an_hour(program: Connecting, publisher: Publisher) -> None:
    said = text_of(program.page())
    assert "calls itself Described" in said
    assert f"It is described at {publisher.address}" in said
    tokens = program.tokens()
    assert publisher.requests == 1
    program.service.clock.advance(timedelta(hours=1, seconds=1))
    publisher.document = {**publisher.document, "redirect_uris": ["https://agent.example/callback"]}  # type: ignore[dict-item]
    assert program.page().status_code == 400
    assert publisher.requests == 2
    assert program.refresh(tokens["refresh_token"]).status_code == 200


def test_two_devices_of_a_person_have_a_consent_each(program: Connecting) -> None:
    first, second = program.tokens(), program.tokens()
    assert [call_list(program.service, each["access_token"]).status_code for each in (first, second)] == [200, 200]


def test_a_document_is_read_for_people_who_have_signed_in_only(program: Connecting, publisher: Publisher) -> None:
    response = browser(program.service.url).get("/auth/authorize", params=program.request())
    assert response.status_code == 303
    assert publisher.requests == 0


def test_a_user_has_ten_documents_read_in_ten_minutes_and_then_one_every_half_minute(
    program: Connecting, publisher: Publisher
) -> None:
    publisher.status = 404
    assert [program.page().status_code for _ in range(12)] == [400] * 10 + [429] * 2
    assert publisher.requests == 10
    colleague = customer_user(program.service, program.service.customer().id, "owner")
    publisher.status = 200
    assert Connecting(program.service, colleague, publisher.address).page().status_code == 200
    assert program.page().status_code == 200, "it was read for the colleague"
    program.service.clock.advance(timedelta(hours=1, seconds=1))
    assert program.page().status_code == 200
    assert publisher.requests == 12


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"document": b"{"}, "JSON"),
        ({"document": b"[]"}, "object"),
        ({"document": b"{" + b" " * 20_000 + b"}"}, "longer than 10240 bytes"),
        ({"document": {"client_id": "https://other.example/x", "redirect_uris": [CALLBACK]}}, "another address"),
        ({"status": 404}, "the status is 404"),
        ({"status": 302, "headers": {"Location": "https://127.0.0.1/x"}}, "the status is 302"),
        ({"headers": {"Content-Encoding": "gzip"}}, "compressed"),
    ],
)
def test_what_is_no_document_is_rejected(
    program: Connecting, publisher: Publisher, change: dict[str, Any], problem: str
) -> None:
    for name, value in change.items():
        setattr(publisher, name, value)
    response = program.page()
    assert response.status_code == 400
    assert problem in text_of(response)


@pytest.mark.parametrize(
    "fields",
    [
        {"redirect_uris": []},
        {"redirect_uris": ["http://evil.example/x"]},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"client_name": " "},
    ],
)
def test_a_document_says_what_a_registration_may(
    program: Connecting, publisher: Publisher, fields: dict[str, Any]
) -> None:
    publisher.document = {**publisher.document, **fields}  # type: ignore[dict-item]
    assert program.page().status_code == 400


def test_documents_at_private_addresses_are_not_fetched(shop: Service, publisher: Publisher) -> None:
    owner = customer_user(shop, shop.customer().id, "owner")
    response = Connecting(shop, owner, publisher.address).page()
    assert response.status_code == 400
    assert "does not have a public address" in text_of(response)
    assert publisher.requests == 0


@pytest.mark.parametrize(
    "client_id",
    ["http://127.0.0.1/x", "https://agent.example", "https://agent.example/", "https://a@agent.example/x",
     "https://agent.example/x#y", "https://agent.example/a/../b", "https://AGENT.example/x", "file:///etc/passwd"],
)  # fmt: skip
def test_other_addresses_are_no_client_ids(shop: Service, client_id: str) -> None:
    owner = customer_user(shop, shop.customer().id, "owner")
    response = Connecting(shop, owner, client_id).page()
    assert response.status_code == 400
    assert "not registered here" in text_of(response)
