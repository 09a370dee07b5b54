"""The address that a request counts under, with any `X-Forwarded-For`."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from tradecounter.edge.server.client_address import UNKNOWN, ClientAddresses, read_address

PROXIES = ClientAddresses("10.0.0.0/8, 192.0.2.7, 2001:db8:aaaa::/48")

trusted = st.one_of(
    st.integers(0, 2**24 - 1).map(lambda n: str(IPv4Address(0x0A000000 + n))),
    st.just("192.0.2.7"),
    st.just("::ffff:10.1.2.3"),
    st.integers(0, 2**80 - 1).map(lambda n: str(IPv6Address((0x20010DB8AAAA << 80) + n))),
)
outside = st.one_of(
    st.integers(0x0B000000, 0xBFFFFFFF).map(lambda n: str(IPv4Address(n))),
    st.integers(0, 2**80 - 1).map(lambda n: str(IPv6Address((0x20010DB8BBBB << 80) + n))),
)
garbage = st.text(st.characters(codec="latin-1", exclude_characters=",")).filter(lambda t: read_address(t) is None)
anything = st.one_of(trusted, outside, garbage)


def found(addresses: ClientAddresses, peer: str | None, *lines: str) -> str:
    """Return the address of a request with these `X-Forwarded-For` headers."""
    headers = [(b"host", b"shop"), *((b"x-forwarded-for", line.encode("latin-1")) for line in lines)]
    return addresses.of(peer, addresses.hops(headers))


def counted(address: str) -> str:
    return ClientAddresses(None).of(address, None)


@given(outside, st.lists(anything))
def test_forwarding_headers_from_untrusted_peers_are_ignored(peer: str, sent: list[str]) -> None:
    assert found(PROXIES, peer, *sent) == counted(peer)
    assert found(ClientAddresses(None), peer, *sent) == counted(peer)


@given(st.lists(anything), outside, st.lists(trusted, max_size=9), trusted, st.data())
def test_the_last_address_that_is_not_a_trusted_proxy_counts(
    forged: list[str], client: str, hops: list[str], peer: str, data: st.DataObject
) -> None:
    chain = [*forged, client, *hops]
    cut = data.draw(st.integers(0, len(chain)))
    lines = [", ".join(part) for part in (chain[:cut], chain[cut:]) if part]
    assert found(PROXIES, peer, *lines) == counted(client)


@given(st.lists(anything), garbage, st.lists(trusted, min_size=1, max_size=9), trusted)
def test_the_trusted_proxy_counts_if_the_hop_before_it_is_not_an_address(
    forged: list[str], junk: str, hops: list[str], peer: str
) -> None:
    assert found(PROXIES, peer, ",".join([*forged, junk, *hops])) == counted(hops[0])
    assert found(PROXIES, peer, ",".join([*forged, junk])) == counted(peer)


@settings(deadline=None)
@given(st.lists(anything), outside, st.lists(trusted, min_size=10), trusted)
def test_only_the_last_ten_hops_are_read(forged: list[str], client: str, hops: list[str], peer: str) -> None:
    assert found(PROXIES, peer, ",".join([*forged, client, *hops])) == counted(hops[-10])


@given(st.integers(1, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_ipv6_addresses_count_by_their_64_network(network: int, one: int, other: int) -> None:
    address, neighbour = (IPv6Address((network << 64) + host) for host in (one, other))
    assert counted(str(address)) == counted(str(neighbour))
    assert address in IPv6Network(counted(str(address)))


@given(st.ip_addresses(v=4))
def test_ipv4_addresses_with_a_port_or_mapped_to_ipv6_are_equal(address: IPv4Address) -> None:
    for text in (f"::ffff:{address}", f"{address}:443", f"[::ffff:{address}]:443", f" {address}\t"):
        assert counted(text) == str(address)


@pytest.mark.parametrize(
    "text", ["", "unknown", "_hidden", "1.2.3", "1.2.3.4.5", "1.2.3.4:x", "::1::", "[::1", "01.2.3.4"]
)
def test_an_invalid_address_is_none(text: str) -> None:
    assert read_address(text) is None
    assert ClientAddresses(None).of(text, None) == UNKNOWN


def test_zones_and_brackets_are_ignored() -> None:
    assert read_address("fe80::1%eth0") == read_address("[fe80::1]:80") == ip_address("fe80::1")


def test_a_proxy_may_be_configured_by_its_ipv4_mapped_address() -> None:
    for named in ("::ffff:192.0.2.1", "::ffff:192.0.2.0/120", "192.0.2.1"):
        assert found(ClientAddresses(named), "192.0.2.1", "198.51.100.1") == "198.51.100.1"


def test_no_peer_is_trusted_without_the_setting() -> None:
    assert found(ClientAddresses(""), "127.0.0.1", "198.51.100.1") == "127.0.0.1"
    assert found(ClientAddresses("127.0.0.1"), None, "198.51.100.1") == UNKNOWN


@contextmanager
def grows_by_at_most(most_bytes: int) -> Iterator[None]:
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    try:
        yield
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before <= most_bytes


@pytest.mark.parametrize("setting", [None, "192.0.2.7"])
@pytest.mark.parametrize("pattern", ["%dx", "%d,", "203.0.113.9,%d "])
def test_long_headers_are_not_cached(setting: str | None, pattern: str) -> None:
    addresses = ClientAddresses(setting)
    with grows_by_at_most(500_000):
        for number in range(200):
            assert found(addresses, "192.0.2.7", (pattern % number) * 10_000)


def test_the_address_cache_takes_little_memory() -> None:
    addresses, long = ClientAddresses("192.0.2.7"), ",".join([" " * 90 + "192.0.2.7"] * 10)
    with grows_by_at_most(12_000_000):
        for number in range(10_000):
            assert found(addresses, "192.0.2.7", f"{number},{long}") == "192.0.2.7"


def test_hops_are_not_read_without_trusted_proxies() -> None:
    headers = [(b"x-forwarded-for", b"198.51.100.1")]
    assert ClientAddresses(None).hops(headers) == ()
    assert ClientAddresses("192.0.2.7").hops(headers) == ("198.51.100.1",)
    assert ClientAddresses("192.0.2.7").hops([(b"forwarded", b"for=198.51.100.1")]) == ()
    assert ClientAddresses("192.0.2.7").hops([(b"host", b"shop")]) is None


@pytest.mark.parametrize("header", [b"x-forwarded-for", b"forwarded"])
def test_a_forwarding_header_from_an_untrusted_peer_logs_one_warning(header: bytes) -> None:
    addresses = ClientAddresses("192.0.2.7")
    with capture_logs() as logs:
        for peer in ("192.0.2.7", "198.51.100.1"):
            addresses.of(peer, addresses.hops([(b"host", b"shop")]))
        addresses.of("192.0.2.7", addresses.hops([(header, b"198.51.100.1")]))
    assert not addresses.untrusted_forwarding
    assert logs == []
    with capture_logs() as logs:
        for peer in ("198.51.100.1", "198.51.100.1", "198.51.100.2"):
            addresses.of(peer, addresses.hops([(header, b"203.0.113.1")]))
    assert addresses.untrusted_forwarding
    [warning] = logs
    assert (warning["log_level"], warning["peer"]) == ("warning", "198.51.100.1")
    assert warning["setting"] == "TRADECOUNTER_TRUSTED_PROXIES"
