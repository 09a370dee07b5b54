"""Which addresses the service may connect to when others name them, against SSRF."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC: tuple[Network, ...] = (  # beside what the standard library knows
    IPv4Network("192.0.0.0/24"),  # protocols, and a metadata service
    IPv4Network("192.88.99.0/24"),  # relays to IPv6
    IPv4Network("168.63.129.16/32"),  # a metadata service
    IPv6Network("::/96"),  # IPv4 addresses, obsolete
    IPv6Network("64:ff9b:1::/48"),  # local translation to IPv4
    IPv6Network("3fff::/20"),  # documentation
)


def may_connect_to(address: Address, networks: Iterable[Network] = ()) -> bool:
    """Return whether an address is public, or in one of the operator's networks.

    An IPv6 address that leads to an IPv4 address is judged by the latter.
    """
    inner = _inner(address)
    return any(address in network or inner in network for network in networks) or _is_public(inner)


def _inner(address: Address) -> Address:
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & (2**32 - 1))
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: Address) -> bool:
    if not address.is_global or any(address in network for network in _NOT_PUBLIC):
        return False
    if address.is_multicast or address.is_reserved or address.is_unspecified:
        return False
    return isinstance(address, IPv4Address) or not (address.is_site_local or address.teredo)
