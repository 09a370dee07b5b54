"""What customers' programs get from HAProxy itself, as it is shipped, when no node responds."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest

from support.rolling import Node, behind_haproxy
from support.waiting import wait_for

DEPLOY = Path(__file__).parents[2] / "deploy"
FILES = ("haproxy.cfg", "haproxy-systemd.cfg", "cluster/public.cfg")


class Dying(BaseHTTPRequestHandler):
    """Says that it is ready, and closes the connection in the middle of every other request."""

    def do_GET(self) -> None:
        if self.path == "/ready":
            self.send_response(200)
            self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def away(tmp_path: Path) -> Node:
    """A node that nothing runs."""
    node = Node("serve", folder=tmp_path, environment={})
    node.url = "http://127.0.0.1:9"
    return node


@contextmanager
def dying(node: Node) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Dying) as server:
        node.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def test_without_a_ready_node_programs_learn_when_to_try_again(away: Node) -> None:
    with behind_haproxy([away], away) as (site, _):
        wait_for(lambda: httpx2.get(f"{site.url}/product").status_code == 503)
        response = httpx2.get(f"{site.url}/product")
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "5"
    assert response.headers["Content-Type"] == "application/json"
    assert response.json() == {"message": "the service is temporarily unavailable; try again in 5 seconds"}


def test_a_node_that_ends_without_a_response_leaves_the_change_in_doubt(away: Node, tmp_path: Path) -> None:
    node = Node("serve", folder=tmp_path, environment={})
    with dying(node), behind_haproxy([node], away) as (site, _):
        response = httpx2.get(f"{site.url}/product")
    assert response.status_code == 502
    assert "may have been carried out; repeat the request with the same Idempotency-Key" in response.json()["message"]


def test_all_ways_to_deploy_say_the_same() -> None:
    found = [[line for line in (DEPLOY / name).read_text().splitlines() if "http-error" in line] for name in FILES]
    assert len(found[0]) == 3
    assert found == [found[0]] * len(FILES)
