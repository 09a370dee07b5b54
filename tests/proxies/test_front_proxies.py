"""The service is reached through each proxy, which tells it who the client is."""

from functools import partial

import pytest

from support.front_proxies import Start, haproxy, nginx, unused_address
from support.service import Service


@pytest.mark.parametrize(
    "start", [haproxy, nginx, partial(nginx, keep_alive=True)], ids=["haproxy", "nginx", "nginx, kept alive"]
)
def test_a_proxy_passes_requests_on_with_the_address_of_their_client(service: Service, start: Start) -> None:
    wrong = b"GET /customer HTTP/1.1\r\nHost: shop\r\nX-Api-Key: wrong\r\nConnection: close\r\n\r\n"
    noisy, quiet = unused_address(), unused_address()
    statuses = []
    with start(service.url) as proxy:
        for address in [noisy] * 11 + [quiet]:
            with proxy.connect(address) as connection:
                connection.sendall(wrong)
                statuses.append(connection.recv(12)[-3:])
    assert statuses == [b"401"] * 10 + [b"403"] + [b"401"]
