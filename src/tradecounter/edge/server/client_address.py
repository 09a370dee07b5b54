"""Finds the IP address of a request (specification, lockout): the peer's, or the one that a trusted proxy names."""

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import structlog

from tradecounter.settings import PREFIX

log = structlog.get_logger()

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Hops = tuple[str, ...]

UNKNOWN = "unknown"
TRUSTED_PROXIES = f"{PREFIX}TRUSTED_PROXIES"

_WITH_PORT = re.compile(r"(?:\[(?P<v6>[^\[\]]*)\]|(?P<v4>[0-9.]+))(?::[0-9]{1,5})?")
_MAPPED = IPv6Network("::ffff:0:0/96")
_LONGEST = 100  # characters of an address, so that cached ones stay small
_MOST_HOPS = 10  # more proxies in a row are not ours
_SUBNET_BITS = 64  # of IPv6: one subscriber has at least a /64
_FORWARDED_FOR = b"x-forwarded-for"
FORWARDING = frozenset({_FORWARDED_FOR, b"forwarded"})  # headers in which proxies name the client


class ClientAddresses:
    """Resolves the addresses that requests count under; `trusted` names the trusted proxies, comma-separated.

    `untrusted_forwarding` is whether another peer has sent `X-Forwarded-For` or `Forwarded`. That peer may be a proxy
    that the setting does not name.
    """

    def __init__(self, trusted: str | None) -> None:
        self._trusted = read_networks(trusted)
        self._found = lru_cache(maxsize=4096)(self._find)
        self.untrusted_forwarding = False

    def hops(self, headers: Iterable[tuple[bytes, bytes]]) -> Hops | None:
        """Return the hops in `X-Forwarded-For`, the nearest last; None without a forwarding header.

        Reads at most the last ten hops; without trusted proxies, no hops. A hop that is too long for an address becomes
        an empty string. `Forwarded` (RFC 7239) is not read.
        """
        forwarded = [(name, value) for name, value in headers if name in FORWARDING]
        if not forwarded:
            return None
        return _last_hops([value for name, value in forwarded if name == _FORWARDED_FOR]) if self._trusted else ()

    def of(self, peer: str | None, hops: Hops | None) -> str:
        """Return the address that a request counts under; IPv6 addresses count by /64.

        Reads the hops from the last to the first. The first address that is no trusted proxy counts. If a hop is not
        an address, the trusted proxy after it counts.
        """
        return self._found(peer, hops)

    def trusts(self, peer: str | None) -> bool:
        """Return whether a peer is a trusted proxy."""
        address = read_address(peer or "")
        return address is not None and self._trusts(address)

    def _find(self, peer: str | None, hops: Hops | None) -> str:
        address = self.client(peer, hops)
        return UNKNOWN if address is None else counted_as(address)

    def client(self, peer: str | None, hops: Hops | None) -> Address | None:
        """Return the client's own address, which `of` chooses; None without any."""
        if hops is not None and not self.untrusted_forwarding and not self.trusts(peer):
            self._warn(peer)
        address = read_address(peer or "")
        if address is None:
            return None
        left = list(hops or ())
        while left and self._trusts(address):
            hop = read_address(left.pop())
            if hop is None:
                break
            address = hop
        return address

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)

    def _warn(self, peer: str | None) -> None:
        self.untrusted_forwarding = True
        log.warning(
            "ignored X-Forwarded-For or Forwarded: the peer is not a trusted proxy. If the peer is your proxy, name it "
            "in the setting; until then, all its clients count as one address",
            peer=peer,
            setting=TRUSTED_PROXIES,
        )


def read_networks(text: str | None) -> list[Network]:
    """Return the networks of a setting, comma-separated."""
    parts = (part.strip() for part in (text or "").split(","))
    return [_plain_network(ip_network(part, strict=False)) for part in parts if part]


def _last_hops(lines: list[bytes]) -> Hops:
    hops: list[bytes] = []
    for line in reversed(lines):
        hops[:0] = line.rsplit(b",", _MOST_HOPS)
        if len(hops) >= _MOST_HOPS:
            break
    return tuple(hop.decode("latin-1") if len(hop) <= _LONGEST else "" for hop in hops[-_MOST_HOPS:])


def read_address(text: str) -> Address | None:
    """Parse an address with or without a port; return None if invalid. IPv4-mapped IPv6 addresses become IPv4."""
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
    """Return the string that an address counts under: itself, or the /64 network of an IPv6 address."""
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((int(address) >> _SUBNET_BITS << _SUBNET_BITS, _SUBNET_BITS)))


def _plain_network(network: Network) -> Network:
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        inner = int(network.network_address) & (2**32 - 1)
        return IPv4Network((inner, network.prefixlen - _MAPPED.prefixlen))
    return network
