"""What HAProxy itself says, as it is shipped, when no node responds, and what it logs."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest

from support.error_bodies import error_body
from support.rolling import Node, behind_haproxy
from support.waiting import wait_for

DEPLOY = Path(__file__).parents[2] / "deploy"
FILES = ("haproxy.cfg", "haproxy-systemd.cfg", "cluster/public.cfg")
COMMON = ("http-error", "http-request return", "log-format", "logged_path) path")
SECRET = "t0ps3cret"
WITH_SECRETS = (
    f"/set-password?token={SECRET}",
    f"/account/quote-link/{SECRET}/accept",
    f"/quote-link/{SECRET}",
    f"/feed/{SECRET}.csv",
    f"/product?api-key={SECRET}",
)


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


def requests_in(log: Path) -> list[str]:
    """The requests that HAProxy has logged, without those that waited for its start: method, path and version."""
    return re.findall(r"[A-Z]+ /\S* HTTP/1\.1$", log.read_text(), re.MULTILINE)


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
    assert response.json() == error_body(
        "unavailable", "the service is temporarily unavailable; try again in 5 seconds"
    )


def test_without_a_ready_node_people_get_a_page(away: Node) -> None:
    with behind_haproxy([away], away) as (site, _):
        wait_for(lambda: httpx2.get(f"{site.url}/product").status_code == 503)
        response = httpx2.get(f"{site.url}/account", headers={"Accept": "text/html,*/*"})
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "5"
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "<h1" in response.text


@pytest.mark.long  # the back office is given up after a minute
def test_the_log_has_paths_without_queries_and_without_the_secrets_of_links(away: Node) -> None:
    with behind_haproxy([away], away) as (site, backoffice):
        for path in WITH_SECRETS:
            httpx2.get(f"{site.url}{path}")
        httpx2.get(f"{site.url}/product?limit=7")
        with suppress(httpx2.TransportError):  # it waits for the back office
            httpx2.get(f"{backoffice.url}{WITH_SECRETS[0]}", timeout=0.5)
        wait_for(lambda: len(requests_in(site.log)) == len(WITH_SECRETS) + 2)
        logged = requests_in(site.log)
        assert SECRET not in site.log.read_text()
    assert sorted(logged) == [
        "GET /account/quote-link/hidden/accept HTTP/1.1",
        "GET /feed/hidden HTTP/1.1",
        *["GET /product HTTP/1.1"] * 2,
        "GET /quote-link/hidden HTTP/1.1",
        *["GET /set-password HTTP/1.1"] * 2,
    ]


def test_a_node_that_ends_without_a_response_leaves_the_change_in_doubt(away: Node, tmp_path: Path) -> None:
    node = Node("serve", folder=tmp_path, environment={})
    with dying(node), behind_haproxy([node], away) as (site, _):
        response = httpx2.get(f"{site.url}/product")
    assert response.status_code == 502
    assert "may have been carried out; repeat the request with the same Idempotency-Key" in response.json()["message"]
    assert response.json()["code"] == "unavailable"


def test_all_ways_to_deploy_say_the_same() -> None:
    lines = [(DEPLOY / name).read_text().splitlines() for name in FILES]
    found = [[line for line in each if any(word in line for word in COMMON)] for each in lines]
    assert len(found[0]) == 7
    assert [sorted(set(each)) for each in found] == [sorted(set(found[0]))] * len(FILES)
