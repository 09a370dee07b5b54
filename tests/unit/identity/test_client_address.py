"""Which address a request counts under: properties of the walk through `X-Forwarded-For`."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.identity.client_address import UNKNOWN, ClientAddresses, read_address

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


def counted(address: str) -> str:
    return ClientAddresses(None).of(address, [])


@given(outside, st.lists(anything))
def test_whoever_is_no_trusted_proxy_counts_itself_whatever_it_says(peer: str, said: list[str]) -> None:
    assert PROXIES.of(peer, said) == counted(peer)
    assert ClientAddresses(None).of(peer, said) == counted(peer)


@given(st.lists(anything), outside, st.lists(trusted), trusted, st.data())
def test_the_rightmost_address_that_is_no_trusted_proxy_counts_however_the_lines_are_cut(
    forged: list[str], client: str, hops: list[str], peer: str, data: st.DataObject
) -> None:
    chain = [*forged, client, *hops]
    cut = data.draw(st.integers(0, len(chain)))
    lines = [", ".join(part) for part in (chain[:cut], chain[cut:]) if part]
    assert PROXIES.of(peer, lines) == counted(client)


@given(st.lists(anything), garbage, st.lists(trusted, min_size=1), trusted)
def test_where_something_else_stands_the_last_trusted_hop_counts(
    forged: list[str], junk: str, hops: list[str], peer: str
) -> None:
    assert PROXIES.of(peer, [",".join([*forged, junk, *hops])]) == counted(hops[0])
    assert PROXIES.of(peer, [",".join([*forged, junk])]) == counted(peer)


@given(st.integers(1, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_ipv6_counts_by_its_64(network: int, one: int, other: int) -> None:
    address, neighbour = (IPv6Address((network << 64) + host) for host in (one, other))
    assert counted(str(address)) == counted(str(neighbour))
    assert address in IPv6Network(counted(str(address)))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_the_same_inside_ipv6_and_with_a_port(address: IPv4Address) -> None:
    for text in (f"::ffff:{address}", f"{address}:443", f"[::ffff:{address}]:443", f" {address}\t"):
        assert counted(text) == str(address)


@pytest.mark.parametrize(
    "text", ["", "unknown", "_hidden", "1.2.3", "1.2.3.4.5", "1.2.3.4:x", "::1::", "[::1", "01.2.3.4"]
)
def test_what_is_no_address_is_none(text: str) -> None:
    assert read_address(text) is None
    assert ClientAddresses(None).of(text, []) == UNKNOWN


def test_a_zone_and_a_bracket_do_not_matter() -> None:
    assert read_address("fe80::1%eth0") == read_address("[fe80::1]:80") == ip_address("fe80::1")


def test_a_proxy_may_be_named_by_its_mapped_address() -> None:
    for named in ("::ffff:192.0.2.1", "::ffff:192.0.2.0/120", "192.0.2.1"):
        assert ClientAddresses(named).of("192.0.2.1", ["198.51.100.1"]) == "198.51.100.1"


def test_nobody_is_trusted_when_no_proxy_is_named_and_a_missing_peer_is_told() -> None:
    assert ClientAddresses("").of("127.0.0.1", ["198.51.100.1"]) == "127.0.0.1"
    assert ClientAddresses("127.0.0.1").of(None, ["198.51.100.1"]) == UNKNOWN
