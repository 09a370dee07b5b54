"""What a setting's value must be: a check and the words that say what would be right."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from email.utils import parseaddr
from ipaddress import ip_address, ip_network
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tradecounter.kit.money import rounded

LONGEST_LIFETIME = timedelta(days=3650)
SHORTEST_SECRET = 32  # characters

_A_BILLION = 1_000_000_000

# A digit at the end would let two orders' references be the same: P1 with 23 and P with 123.
_REFERENCE_PREFIX = re.compile(r"[A-Za-z]([A-Za-z0-9._-]{0,18}[A-Za-z._-])?")
_ORIGIN = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_MAILBOX = re.compile(r"[^@\s]+@[^@\s]+")


class Rule(NamedTuple):
    """A condition that a setting's value meets unless it is None, and how to tell whoever set another one."""

    holds: Callable[[Any], bool]
    wanted: str


def at_least(least: int) -> Rule:
    """Return the rule for a number with a lower bound only."""
    return Rule(lambda number: number >= least, f"must be at least {least}")


def between(least: int, most: int = _A_BILLION) -> Rule:
    """Return the rule for a number with two bounds."""
    return Rule(lambda number: least <= number <= most, f"must be between {least} and {most}")


def at_most(longest: timedelta, words: str) -> Rule:
    """Return the rule for a duration with an upper bound, which `words` name."""
    return Rule(lambda duration: timedelta(0) < duration <= longest, f"must be longer than nothing and at most {words}")


def url_of(*schemes: str) -> Rule:
    """Return the rule for a URL with one of some schemes and a host."""
    *others, last = (f"{scheme}://" for scheme in schemes)
    named = f"{', '.join(others)} or {last}" if others else last
    return Rule(lambda text: _is_url(text, *schemes), f"must start with {named} and a host")


def is_safe_url(text: str) -> bool:
    """Tell whether the traffic to a URL cannot be read or changed: it is https, or plain http to this machine."""
    if not _is_url(text, "http", "https"):
        return False
    parts = urlsplit(text)
    try:
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Tell whether a host's name or address stands for this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def comma_separated(text: str | None) -> list[str]:
    """Return the parts of a list that are not empty."""
    return [part for item in (text or "").split(",") if (part := item.strip())]


def _is_url(text: str, *schemes: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in schemes and bool(parts.hostname)


def _is_database_url(text: str) -> bool:
    try:
        return urlsplit(text).scheme in {"postgresql", "postgres"}
    except ValueError:
        return False


def _is_mailbox(text: str) -> bool:
    return text.isprintable() and _MAILBOX.fullmatch(parseaddr(text)[1]) is not None


def _are_networks(text: str) -> bool:
    try:
        return all(ip_network(part, strict=False) for part in comma_separated(text))
    except ValueError:
        return False


def _are_origins(text: str) -> bool:
    origins = comma_separated(text)
    return origins == ["*"] or all(_ORIGIN.fullmatch(origin) for origin in origins)


def _is_per_cent(rate: Decimal) -> bool:
    # Orders keep two decimal places: with more, an order's lines and its shipping would be taxed at different rates.
    return rate.is_finite() and 0 <= rate <= 100 and rate == rounded(rate)  # noqa: PLR2004 per cent


DATABASE_URL = Rule(_is_database_url, "must be a postgresql:// URL")
HTTPS_URL = Rule(is_safe_url, "must start with https:// and a host; http:// will do on this machine only")
MAILBOX = Rule(_is_mailbox, "must be an e-mail address, with a name before it or not")
NETWORKS = Rule(_are_networks, "must be addresses or networks, comma-separated")
ORIGINS = Rule(_are_origins, "must be * or origins such as https://shop.example, comma-separated, without a path")
PER_CENT = Rule(_is_per_cent, "must be between 0 and 100 per cent, with at most two decimal places")
PREFIX = Rule(
    lambda text: _REFERENCE_PREFIX.fullmatch(text) is not None,
    "must start with a letter, end with none of the digits, and hold at most 20 letters, digits, dots, dashes and "
    "underscores",
)
SECRET = Rule(lambda text: len(text) >= SHORTEST_SECRET, f"must have at least {SHORTEST_SECRET} characters")
SECRETS = Rule(
    lambda text: all(len(part) >= SHORTEST_SECRET for part in comma_separated(text)),
    f"each must have at least {SHORTEST_SECRET} characters",
)
LIFETIME = at_most(LONGEST_LIFETIME, "ten years")
TOKEN_LIFETIME = Rule(
    lambda duration: timedelta(seconds=1) <= duration <= LONGEST_LIFETIME,
    "must be at least a second and at most ten years",
)
