"""Reads web addresses that people and programs give: plain ones alone, which every program reads in the same way."""

import re
from ipaddress import IPv4Address, IPv6Address
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
        found = IPv6Address(host)
    except ValueError:
        raise NotAWebAddressError("must have a valid IPv6 address between [ and ]") from None
    if found.scope_id is not None:
        raise NotAWebAddressError("must have an IPv6 address without a zone")
    return found


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
