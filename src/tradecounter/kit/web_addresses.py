"""Reads web addresses, and says which of them the service may connect to, against SSRF."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

LONGEST = 2000
WEB = ("https", "http")

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a host that ends in one is an IPv4 address, in one of its many spellings
_LONGEST_HOST = 253


class NotAWebAddressError(ValueError):
    """The text is no plain web address; the message says what is right."""


def host_of(text: str, schemes: tuple[str, ...] = WEB) -> str | IPv4Address | IPv6Address:
    """Return the host of a web address: a name in lower case and ASCII, or an address.

    Raises NotAWebAddressError: other schemes, blanks and control characters, a user or a password, a port or a host
    that programs read differently (`0x7f.1`, `2130706433`, `%31.example`, `name.`).
    """
    if len(text) > LONGEST:
        raise NotAWebAddressError(f"must have at most {LONGEST} characters")
    if not text.isprintable() or any(map(str.isspace, text)) or "\\" in text:
        raise NotAWebAddressError("must be a URL without blanks, control characters and backslashes")
    wanted = " or ".join(f"{scheme}://" for scheme in schemes)
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        raise NotAWebAddressError("must be a URL") from None
    if parts.scheme not in schemes or not host or not text[len(parts.scheme) :].startswith("://"):
        raise NotAWebAddressError(f"must start with {wanted} and a host")
    if "@" in parts.netloc:
        raise NotAWebAddressError("must not contain a user or a password")
    if port == 0 or parts.netloc.endswith(":"):
        raise NotAWebAddressError("must have a port from 1 to 65535, or none")
    if "[" not in parts.netloc:
        return _name(host)
    if not parts.netloc.startswith("["):
        raise NotAWebAddressError("must have an IPv6 address alone as its host")
    return _address_6(host)


def _address_6(host: str) -> IPv6Address:
    try:
        address = IPv6Address(host)
    except ValueError:
        raise NotAWebAddressError("must have a valid IPv6 address between [ and ]") from None
    if address.scope_id is not None:
        raise NotAWebAddressError("must have an IPv6 address without a zone")
    return address


def _name(host: str) -> str | IPv4Address:
    try:
        name = host if host.isascii() else host.encode("idna").decode().lower()
    except UnicodeError:
        raise NotAWebAddressError("must have a valid host name") from None
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return IPv4Address(name)
        except ValueError:
            raise NotAWebAddressError(
                "must have a host name, or an IPv4 address as four numbers from 0 to 255"
            ) from None
    if len(name) > _LONGEST_HOST or not all(map(_LABEL.fullmatch, labels)):
        raise NotAWebAddressError("must have a valid host name, without a dot at its end and percent signs")
    return name


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
