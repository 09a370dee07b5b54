"""Each built client where its network, its settings or the other side are not as they should be."""

import base64
import hashlib
import hmac
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import pytest

from support.built_clients import BuiltClient, PythonClient
from support.cluster import Cluster
from support.consent import running_consent
from support.demo import Demo
from support.lossy_proxy import lossy_proxy
from support.quotes import request_quote
from tradecounter.webhooks.rules import new_webhook_secret, signed_headers

pytestmark = pytest.mark.long

EVENT = json.dumps({
    "id": "evt_1", "sequence": 7, "type": "order.dispatched", "occurred_at": "2026-06-17T08:30:00Z",
    "subject": "order/42", "customer_id": 1001, "data": {},
})  # fmt: skip
ADDRESS = {
    "id": 7, "contact_name": "Ada Example", "street_one": "1 Test Street", "city": "York", "zip": "YO1 1AA",
    "country_code": "GB",
}  # fmt: skip
NOWHERE = "http://127.0.0.1:9"


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_c2hvcnQ=", "whsec_!", "c2VjcmV0IG9mIGEgd2ViaG9vaywgZm9y"])
def test_a_secret_that_is_none_verifies_nothing(client: BuiltClient, secret: str) -> None:
    key = b"short" if "c2hvcnQ" in secret else base64.b64decode(secret) if secret.startswith("c2V") else b""
    assert _verified(client, secret, _signed(key, EVENT), EVENT) in {
        "ValueError",
        "TypeError",
        "InvalidArgumentException",
    }


@pytest.mark.parametrize("body", ["[]", "{}", "{", "null", "1"])
def test_a_signed_body_that_is_no_event_is_not_genuine(client: BuiltClient, body: str) -> None:
    secret = new_webhook_secret()
    assert _verified(client, secret, signed_headers("evt_1", int(time.time()), body.encode(), [secret]), body) == (
        "NotGenuine"
    )


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_headers_that_are_no_text_are_not_genuine(client: BuiltClient, name: str) -> None:
    secret = new_webhook_secret()
    headers = signed_headers("evt_1", int(time.time()), EVENT.encode(), [secret])
    assert _verified(client, secret, headers, EVENT) == "none"
    odd = os.fsdecode(headers[name].encode() + b"\xff")
    assert _verified(client, secret, {**headers, name: odd}, EVENT) == "NotGenuine"


def test_what_found_no_service_is_sent_again_even_if_it_cannot_be_repeated(client: BuiltClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    begun: list[ThreadingHTTPServer] = []
    timer = Timer(1.5, lambda: begun.append(_server(_Addresses, port)))
    timer.start()
    try:
        assert json.loads(client.program("trouble", "address", BASE=f"http://127.0.0.1:{port}")) == 7
    finally:
        timer.join()
        begun[0].shutdown()
        begun[0].server_close()


def test_a_quote_is_declined_although_the_response_is_lost(client: BuiltClient, demo: Demo) -> None:
    customer = demo.service.customer()
    code = request_quote(customer, [("CV-320P", 1)])["confirmation_code"]
    with lossy_proxy(demo.service.url) as proxy:
        printed = client.program("trouble", "decline", code, BASE=proxy.url, KEY=customer.key)
    assert json.loads(printed) == ["Declined"] * 3
    assert proxy.lost == [f"POST /quote/{code}/decline"]


def test_an_address_is_deleted_although_the_response_is_lost(client: BuiltClient, demo: Demo) -> None:
    customer = demo.service.customer()
    address_id = customer.post("/customer/address", {k: v for k, v in ADDRESS.items() if k != "id"}).json()["id"]
    with lossy_proxy(demo.service.url) as proxy:
        for _ in range(2):
            customer.get(f"{proxy.url}/customer")
        printed = client.program("trouble", "delete", str(address_id), BASE=proxy.url, KEY=customer.key)
    assert json.loads(printed) == ["none", "NotFound"]
    assert proxy.lost == [f"DELETE /customer/address/{address_id}"]


def test_a_slow_response_is_read_to_its_end_and_a_silent_one_is_given_up(client: BuiltClient) -> None:
    with serving(_Slow) as url:
        assert json.loads(client.program("trouble", "slow", BASE=url, ATTEMPTS="1")) == [1, "NoResponse"]


def test_an_empty_cursor_begins_with_the_whole_catalogue(client: BuiltClient, demo: Demo) -> None:
    printed = json.loads(client.program("trouble", "first", BASE=demo.service.url, KEY=demo.customer.key))
    assert printed == [True, len(demo.customer.get("/product?limit=0").json())]


def test_blank_skus_are_no_products(client: BuiltClient, demo: Demo) -> None:
    assert json.loads(client.program("trouble", "blank", BASE=demo.service.url, KEY=demo.customer.key)) == []


def test_dots_are_no_steps_in_a_path(client: BuiltClient, demo: Demo) -> None:
    printed = json.loads(client.program("trouble", "dots", BASE=demo.service.url, KEY=demo.customer.key))
    assert printed == ["NotFound"] * 4


def test_a_consent_survives_a_token_that_cannot_be_stored(
    client: BuiltClient, postgres: Cluster, tmp_path: Path
) -> None:
    with postgres.database() as url, running_consent(url) as consenting:
        file = tmp_path / "token"
        file.write_text(consenting.given()["refresh_token"])
        application = consenting.application
        environment = {"CLIENT_ID": application.client_id, "CLIENT_SECRET": application.client_secret}
        for _ in range(2):  # the second time with the token that was stored then
            printed = json.loads(client.program("trouble", "unsaved", file, BASE=consenting.service.url, **environment))
            assert printed[0] in {"OSError", "Error", "RuntimeException"}
            assert printed[1] == "none"


@pytest.mark.parametrize(("right", "error"), [(True, "ConsentEnded"), (False, "Unauthorized")])
def test_a_wrong_client_secret_ends_no_consent(
    client: BuiltClient, postgres: Cluster, tmp_path: Path, right: bool, error: str
) -> None:
    with postgres.database() as url, running_consent(url) as consenting:
        application = consenting.application
        environment = {"CLIENT_ID": application.client_id, "CLIENT_SECRET": application.client_secret if right else "x"}
        printed = client.program("trouble", "issuer", tmp_path / "token", BASE=consenting.service.url, **environment)
    assert json.loads(printed) == error


def test_a_page_in_place_of_a_token_is_an_invalid_response(client: BuiltClient, tmp_path: Path) -> None:
    with serving(_Portal) as url:
        assert json.loads(client.program("trouble", "issuer", tmp_path / "token", BASE=url)) == "InvalidResponse"


def test_a_key_with_a_line_break_is_named_and_neither_sent_nor_shown(client: BuiltClient) -> None:
    begun = time.monotonic()
    said = json.loads(client.program("trouble", "mistake", BASE=NOWHERE))
    assert said.startswith("X-Api-Key has a ")
    assert "secret" not in said
    assert time.monotonic() - begun < 10


def test_a_proxy_gets_the_password_in_its_address(python_client: PythonClient) -> None:
    with serving(_Proxy) as url:
        named = url.replace("//", "//ada:p%40ss@")
        for address in (named, named.removeprefix("http://")):
            printed = python_client.program(
                "trouble", "proxy", BASE="http://api.example", http_proxy=address, no_proxy=""
            )
            assert json.loads(printed) == f"Basic {base64.b64encode(b'ada:p@ss').decode()}"


def _verified(client: BuiltClient, secret: str, headers: dict[str, str], body: str) -> str:
    given = json.dumps(headers, ensure_ascii=False)
    printed: str = json.loads(
        client.program("trouble", "webhook", BASE=NOWHERE, SECRET=secret, HEADERS=given, BODY=body)
    )
    return printed


def _signed(key: bytes, body: str) -> dict[str, str]:
    moment = str(int(time.time()))
    digest = hmac.digest(key, f"evt_1.{moment}.{body}".encode(), hashlib.sha256)
    signature = f"v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": "evt_1", "webhook-timestamp": moment, "webhook-signature": signature}


class _Handler(BaseHTTPRequestHandler):
    def respond(self, status: int, body: bytes, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class _Addresses(_Handler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.respond(201, json.dumps(ADDRESS).encode())


class _Slow(_Handler):
    """Categories come in pieces, in three seconds; of manufacturers, the beginning alone."""

    def do_GET(self) -> None:
        body = b'[{"key": "phones", "name": "Phones", "children": null}]'
        half = len(body) // 2
        self.respond(200, body[:half], len(body))
        if self.path == "/manufacturer":
            time.sleep(4)
            return
        for number in range(half, len(body)):
            self.wfile.flush()
            time.sleep(3 / half)
            self.wfile.write(body[number : number + 1])


class _Portal(_Handler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.respond(200, b"<html>Sign in to the hotel's network</html>")


class _Proxy(_Handler):
    """Responds with the proxy's credentials as the customer's name."""

    def do_GET(self) -> None:
        assert self.path == "http://api.example/customer"
        given = self.headers.get("Proxy-Authorization", "")
        customer = {
            "first_name": "",
            "last_name": given,
            "email_address": "",
            "trade_account": False,
            "credit_terms": None,
        }
        self.respond(200, json.dumps(customer).encode())


def _server(handler: type[_Handler], port: int = 0) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    return server


@contextmanager
def serving(handler: type[_Handler]) -> Iterator[str]:
    """A server whose requests the handler responds to."""
    server = _server(handler)
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
