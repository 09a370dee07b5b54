"""The client for PHP: what only PHP gets wrong, its archive, and its models as the generator makes them."""

import json
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from standardwebhooks import Webhook

from support import openapi_generator
from support.built_clients import PhpClient
from support.client_models import PHP, php_models
from support.demo import Demo
from support.lossy_proxy import lossy_proxy
from tradecounter.webhooks.rules import new_webhook_secret, signed_headers

pytestmark = pytest.mark.long

BODY = json.dumps({
    "id": "evt_1", "sequence": 7, "type": "order.dispatched", "occurred_at": "2026-06-17T08:30:00Z",
    "subject": "order/42", "customer_id": 1001, "data": {"note": "£"},
})  # fmt: skip
DIGITS = ["", "-1", "1e9", " 1", "1\n", "0x1", "٣", "²", "9" * 400, "18446744073709551616"]


def test_webhooks_are_verified_whatever_they_are_sent_with(php_client: PhpClient) -> None:
    secret, former, now = new_webhook_secret(), new_webhook_secret(), int(time.time())
    good = signed_headers("evt_1", now, BODY.encode(), [secret, former])
    server = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in good.items()}
    right: list[Mapping[str, object]] = [good, server, {name.title(): [value] for name, value in good.items()}]
    wrong: list[Mapping[str, object]] = [
        {},
        {**good, "webhook-id": "evt_2"},
        {**good, "webhook-signature": good["webhook-signature"].replace("v1,", "v2,")},
        {**good, "webhook-signature": ""},
        {**good, "webhook-timestamp": str(now + 1)},
        *(signed_headers("evt_1", moment, BODY.encode(), [secret]) for moment in (now - 400, now + 400)),
        *({**good, "webhook-timestamp": digits} for digits in DIGITS),
    ]
    assert (
        _verified(php_client, [(key, headers, BODY) for headers in right for key in (secret, former)]) == ["evt_1"] * 6
    )
    assert set(_verified(php_client, [(secret, headers, BODY) for headers in wrong])) == {"NotGenuine"}
    assert _verified(php_client, [(secret, good, BODY + " "), (new_webhook_secret(), good, BODY)]) == ["NotGenuine"] * 2
    no_event = [(secret, signed_headers("evt_1", now, body.encode(), [secret]), body) for body in ("", "[]", "{}", "{")]
    assert _verified(php_client, no_event) == ["NotGenuine"] * 4


def test_webhooks_are_verified_as_the_standards_own_library_signs_them(php_client: PhpClient) -> None:
    secret, now = new_webhook_secret(), datetime.now(UTC)
    headers = {"webhook-id": "evt_1", "webhook-timestamp": str(int(now.timestamp())),
               "webhook-signature": Webhook(secret).sign("evt_1", now, BODY)}  # fmt: skip
    assert _verified(php_client, [(secret, headers, BODY)]) == ["evt_1"]


def test_what_cannot_be_repeated_is_sent_once_on_a_connection_that_was_used(php_client: PhpClient, demo: Demo) -> None:
    customer = demo.service.customer()
    before = len(customer.get("/customer/address").json())
    with lossy_proxy(demo.service.url) as proxy:
        added = int(php_client.program("addresses", BASE=proxy.url, KEY=customer.key))
    assert added == 0
    assert len(customer.get("/customer/address").json()) == before + len(proxy.lost) == before + 4


def test_no_dump_shows_a_secret_and_no_header_has_a_line_break(php_client: PhpClient) -> None:
    printed = php_client.program("secrets", SECRET="never-to-be-seen")
    assert "Tradecounter\\Client\\Auth\\Key Object" in printed
    assert "never-to-be-seen" not in printed
    rejected = [f"{name} has a control character, such as a line break" for name in ("Idempotency-Key", "X-Api-Key")]
    assert printed.splitlines()[-2:] == rejected


def test_a_silent_service_is_given_up_and_a_waiting_request_later(php_client: PhpClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        short, waiting = json.loads(php_client.program("silence", BASE=url))
    assert short >= 1
    assert waiting >= 3
    assert short + 1 < waiting


def test_a_large_catalogue_needs_little_memory(php_client: PhpClient, demo: Demo, tmp_path: Path) -> None:
    products = demo.customer.get("/product?limit=0").json()
    large = [{**products[number % len(products)], "sku": f"{number}"} for number in range(20_000)]
    file = tmp_path / "products.json"
    file.write_text(json.dumps(large))
    with serving({"/product?limit=0": file.read_bytes(), "/catalogue/change?after=c&limit=500": b"[]"}) as url:
        printed = php_client.program("memory", BASE=url)
    assert json.loads(printed) == [{"whole": True, "told": 20_000, "read": [str(number) for number in range(20_000)]},
                                   {"whole": False, "told": 0, "read": []}]  # fmt: skip


@pytest.mark.parametrize("body", ["", "null", "{}", "[", "[{}", "[{},]", "[1]", '[{"sku": "}', "[{}]", "<html>"])
def test_a_response_that_is_no_catalogue_is_an_error(php_client: PhpClient, body: str) -> None:
    with serving({"/product?limit=0": body.encode()}) as url, pytest.raises(AssertionError, match="InvalidResponse"):
        php_client.program("memory", BASE=url)


def test_the_archive_has_the_classes_and_what_people_read(php_client: PhpClient) -> None:
    package = php_client.folder / "vendor" / "tradecounter" / "client"
    assert {file.name for file in package.iterdir()} == {"LICENSE", "README.md", "composer.json", "src"}


@pytest.mark.skipif(bool(openapi_generator.without()), reason="needs Java; the summary says so")
def test_the_models_are_what_the_generator_makes_of_the_document() -> None:
    assert {file.name: file.read_text() for file in Path(PHP, "Model").iterdir()} == php_models(), "run `make docs`"


def _verified(client: PhpClient, requests: Sequence[tuple[str, Mapping[str, object], str]]) -> list[str]:
    printed: list[str] = json.loads(client.program("webhooks", given=json.dumps(requests)))
    return printed


@contextmanager
def serving(bodies: dict[str, bytes]) -> Iterator[str]:
    """A server with these responses, each with a cursor."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("X-Cursor", "c")
            self.end_headers()
            self.wfile.write(bodies[self.path])

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
