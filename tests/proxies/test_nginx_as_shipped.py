"""The service behind nginx with the file that is shipped, whose ports, names and certificates are replaced."""

import os
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from support.certificates import make_certificate
from support.front_proxies import FrontProxy, running_proxy
from support.mail import free_port
from support.service import Service
from support.waiting import wait_for

FILE = Path(__file__).parents[2] / "deploy" / "nginx.conf"
SECRET = "t0ps3cret"
NOBODY = "127.0.0.1:9"

_AROUND = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 256; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {file}
}}
"""


@dataclass(frozen=True)
class Sites:
    """Both sites behind nginx, as a client reaches them, and nginx's log."""

    plain: FrontProxy
    port: int
    certificate: Path
    log: Path

    def get(self, path: str, *, host: str = "api.shop.example", **headers: str) -> httpx2.Response:
        context = ssl.create_default_context(cafile=str(self.certificate))
        context.check_hostname = False
        with httpx2.Client(verify=context, trust_env=False) as client:
            return client.get(f"https://127.0.0.1:{self.port}{path}", headers={"Host": host, **headers})


Start = Callable[[str], AbstractContextManager[Sites]]  # with the address of a public process


def configured(folder: Path, *, plain: int, tls: int, service: str, certificate: Path, log: Path) -> str:
    text = FILE.read_text()
    for shipped, replaced in (
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{tls} ssl;"),
        ("127.0.0.1:8000", service),
        ("127.0.0.1:8002", NOBODY),
        ("127.0.0.1:8001", service),
        ("/etc/nginx/tradecounter/api.pem", str(certificate)),
        ("/etc/nginx/tradecounter/backoffice.pem", str(certificate)),
        ("/var/log/nginx/tradecounter.log", str(log)),
    ):
        assert shipped in text
        text = text.replace(shipped, replaced)
    user = "user root;" if os.geteuid() == 0 else ""  # others may not enter the folder
    return _AROUND.format(user=user, folder=folder, file=text)


@pytest.fixture
def behind_nginx(tmp_path: Path) -> Start:
    certificate = make_certificate(tmp_path, "api.shop.example", "backoffice.shop.example")
    tls, log = free_port(), tmp_path / "access.log"

    @contextmanager
    def started(service: str) -> Iterator[Sites]:
        def command(folder: Path, listener: socket.socket) -> list[str]:
            file = folder / "nginx.conf"
            plain = listener.getsockname()[1]
            file.write_text(configured(folder, plain=plain, tls=tls, service=service, certificate=certificate, log=log))
            return ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(file)]

        with running_proxy("nginx", command) as proxy:
            yield Sites(proxy, tls, certificate, log)

    return started


def test_requests_reach_the_service_over_tls_and_plain_ones_are_redirected(shop: Service, behind_nginx: Start) -> None:
    with behind_nginx(urlsplit(shop.url).netloc) as sites:
        plain = httpx2.get(f"{sites.plain.url}/product?limit=1", headers={"Host": "api.shop.example"}, trust_env=False)
        assert plain.status_code == 308
        assert plain.headers["Location"] == "https://api.shop.example/product?limit=1"
        found = sites.get("/product?limit=1", **{"X-Api-Key": shop.customer().key})
        assert found.status_code == 200
        assert sites.get("/check-health", host="backoffice.shop.example").status_code == 200


def test_a_head_of_16_kib_passes_and_a_longer_one_is_414(shop: Service, behind_nginx: Start) -> None:
    with behind_nginx(urlsplit(shop.url).netloc) as sites:
        for length, links in ((3_300, 4), (4_500, 0), (17_000, 0)):
            found = sites.get(f"/product?limit=1&page=2&x={'y' * length}", **{"X-Api-Key": shop.customer().key})
            assert found.status_code == (200 if links else 414), length
            assert found.headers.get("Link", "").count("; rel=") == links
            if not links:
                assert found.headers["Content-Type"] == "application/json"
                assert "16" in found.json()["message"]


def test_without_a_process_programs_get_json_and_people_a_page(behind_nginx: Start) -> None:
    with behind_nginx(NOBODY) as sites:
        program = sites.get("/product")
        assert program.status_code == 503
        assert program.headers["Content-Type"] == "application/json"
        assert program.headers["Retry-After"] == "5"
        assert "repeat the request with the same Idempotency-Key" in program.json()["message"]
        assert program.json()["code"] == "unavailable"
        person = sites.get("/account", Accept="text/html,*/*")
        assert person.status_code == 503
        assert person.headers["Content-Type"] == "text/html; charset=utf-8"
        assert person.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "<h1" in person.text


def test_the_log_has_no_query_and_no_secret_of_a_link(shop: Service, behind_nginx: Start) -> None:
    paths = (
        f"/quote-link/{SECRET}",
        f"/account/quote-link/{SECRET}/accept",
        f"/feed/{SECRET}.csv",
        f"/x?token={SECRET}",
    )
    with behind_nginx(urlsplit(shop.url).netloc) as sites:
        for path in paths:
            sites.get(path)
        wait_for(lambda: sites.log.read_text().count("\n") >= len(paths) + 1)
        logged = sites.log.read_text()
    assert SECRET not in logged
    assert "/account/quote-link/hidden/accept" in logged
    assert "/feed/hidden" in logged
