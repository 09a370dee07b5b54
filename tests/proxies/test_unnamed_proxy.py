"""Behind an untrusted proxy, one client's wrong keys block all clients, and the log says why."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import httpx2
import pytest
from structlog.testing import capture_logs

from support.cluster import Cluster
from support.front_proxies import FrontProxy, haproxy, nginx
from support.service import running_service

Starting = Callable[[str], AbstractContextManager[FrontProxy]]

SETTING = "TRADECOUNTER_TRUSTED_PROXIES"


def status(proxy: FrontProxy, key: str) -> int:
    """Return the status of a request from an unused address."""
    with proxy.connect() as connection:
        connection.sendall(
            f"GET /customer HTTP/1.1\r\nHost: shop\r\nX-Api-Key: {key}\r\nConnection: close\r\n\r\n".encode()
        )
        return int(connection.recv(12)[-3:])


@pytest.mark.parametrize("starting", [haproxy, nginx])
def test_a_block_of_the_proxy_is_logged_as_an_error_with_the_setting(postgres: Cluster, starting: Starting) -> None:
    with postgres.database() as url, running_service(url, trusted_proxies=None) as service:
        key = service.customer().key
        with capture_logs() as logs, starting(service.url) as proxy:
            assert status(proxy, key) == httpx2.codes.OK
            [warning] = [line for line in logs if line.get("setting") == SETTING]
            assert (warning["log_level"], warning["peer"]) == ("warning", "127.0.0.1")
            assert [status(proxy, "0" * 64) for _ in range(10)] == [401] * 10
            assert status(proxy, key) == httpx2.codes.FORBIDDEN
        assert service.application.admission.addresses.untrusted_forwarding
    [error] = [line for line in logs if line["log_level"] == "error"]
    assert (error["address"], error["setting"]) == ("127.0.0.1", SETTING)


@pytest.mark.parametrize("starting", [haproxy, nginx])
def test_behind_a_trusted_proxy_only_the_client_is_blocked(postgres: Cluster, starting: Starting) -> None:
    with postgres.database() as url, running_service(url) as service:
        key = service.customer().key
        with capture_logs() as logs, starting(service.url) as proxy:
            noisy = "127.9.9.9"
            for _ in range(10):
                with proxy.connect(noisy) as connection:
                    connection.sendall(
                        b"GET /customer HTTP/1.1\r\nHost: x\r\nX-Api-Key: x\r\nConnection: close\r\n\r\n"
                    )
                    assert connection.recv(12).endswith(b"401")
            assert status(proxy, key) == httpx2.codes.OK
        assert not service.application.admission.addresses.untrusted_forwarding
    blocks = [(line["log_level"], line["address"]) for line in logs if line["event"].startswith("address blocked")]
    assert blocks == [("warning", noisy)]
