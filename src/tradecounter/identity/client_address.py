"""Which address a request counts under (decisions, lockout): the peer's, or what a trusted proxy says of it."""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

UNKNOWN = "unknown"

_WITH_PORT = re.compile(r"(?:\[(?P<v6>[^\[\]]*)\]|(?P<v4>[0-9.]+))(?::[0-9]{1,5})?")
_MAPPED = IPv6Network("::ffff:0:0/96")
_LONGEST = 100  # of an address's text: what is remembered stays small
_SUBNET_BITS = 64  # of IPv6: what one subscriber has at least


class ClientAddresses:
    """Tells requests' addresses apart; `trusted` are the proxies that are believed, comma-separated."""

    def __init__(self, trusted: str | None) -> None:
        parts = (part.strip() for part in (trusted or "").split(","))
        self._trusted = [_plain_network(ip_network(part, strict=False)) for part in parts if part]
        self._found = lru_cache(maxsize=4096)(self._find)
        self.untrusted_forwarding = False

    def of(self, peer: str | None, forwarded: Sequence[str]) -> str:
        """Return the address that a request counts under; IPv6 addresses count by /64.

        `forwarded` are the lines of `X-Forwarded-For`. They are read from the right, past trusted proxies, to the first
        address that is not one; where something else stands, the last trusted one counts.
        """
        return self._found(peer, tuple(forwarded))

    def _find(self, peer: str | None, forwarded: tuple[str, ...]) -> str:
        found = read_address(peer or "")
        if found is None:
            return UNKNOWN
        hops = [hop for line in forwarded for hop in line.split(",")]
        while hops and self._trusts(found):
            hop = read_address(hops.pop())
            if hop is None:
                break
            found = hop
        return counted_as(found)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def read_address(text: str) -> Address | None:
    """Return an address, with or without a port, or None; an IPv4 address inside an IPv6 one is an IPv4 address."""
    text = text.strip()
    return _read(text) if len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)
def _read(text: str) -> Address | None:
    if match := _WITH_PORT.fullmatch(text):
        text = match["v6"] or match["v4"] or ""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=4096)
def counted_as(address: Address) -> str:
    """Return the text under which an address counts."""
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((int(address) >> _SUBNET_BITS << _SUBNET_BITS, _SUBNET_BITS)))


def _plain_network(network: Network) -> Network:
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        inner = int(network.network_address) & (2**32 - 1)
        return IPv4Network((inner, network.prefixlen - _MAPPED.prefixlen))
    return network
