"""Each proxy passes requests and the client's address to the service."""

from functools import partial

import pytest

from support.front_proxies import Start, haproxy, nginx, unused_address
from support.service import Service


@pytest.mark.parametrize(
    "start", [haproxy, nginx, partial(nginx, keep_alive=True)], ids=["haproxy", "nginx", "nginx, kept alive"]
)
def test_a_proxy_forwards_requests_with_the_clients_address(service: Service, start: Start) -> None:
    wrong = b"GET /customer HTTP/1.1\r\nHost: shop\r\nX-Api-Key: wrong\r\nConnection: close\r\n\r\n"
    noisy, quiet = unused_address(), unused_address()
    statuses = []
    with start(service.url) as proxy:
        for address in [noisy] * 11 + [quiet]:
            with proxy.connect(address) as connection:
                connection.sendall(wrong)
                statuses.append(connection.recv(12)[-3:])
    assert statuses == [b"401"] * 10 + [b"403"] + [b"401"]
