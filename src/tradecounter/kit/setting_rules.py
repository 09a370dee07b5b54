"""Rules for the values of settings: bounds on the type, or a condition with a message."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from ipaddress import ip_address, ip_network
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from msgspec import Meta

from tradecounter.kit.email_addresses import parse_mailbox
from tradecounter.kit.money import rounded
from tradecounter.kit.web_addresses import WEB, host_of

LONGEST_LIFETIME = timedelta(days=3650)
SHORTEST_SECRET = 32  # characters

# The decoder enforces the bounds; the description is the message for operators.
Positive = Annotated[int, Meta(ge=1, description="must be at least 1")]
NotNegative = Annotated[int, Meta(ge=0, description="must be at least 0")]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000, description="must be between 0 and 1000000000")]
Connections = Annotated[int, Meta(ge=1, le=1000, description="must be between 1 and 1000")]
# After a prefix that ends in a digit, two orders could have one reference: P1 with 23, and P with 123.
ReferencePrefix = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z]([A-Za-z0-9._-]{0,18}[A-Za-z._-])?\Z",
        description="must start with a letter, must not end with a digit, and have at most 20 letters, digits, dots, "
        "dashes and underscores",
    ),
]

_ORIGIN = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


class Rule(NamedTuple):
    """A condition for a setting's value, the message if the value violates it, and what a value's text is read as."""

    accepts: Callable[[Any], bool]
    wanted: str
    clean: Callable[[str], str] = str


def at_most(longest: timedelta, words: str) -> Rule:
    """Return the rule for a duration of at most `longest`, which is `words` in the message."""
    return Rule(lambda duration: timedelta(0) < duration <= longest, f"must be longer than 0 and at most {words}")


def url_of(*schemes: str) -> Rule:
    """Return the rule for a URL with a host and one of `schemes`."""
    *others, last = (f"{scheme}://" for scheme in schemes)
    named = f"{', '.join(others)} or {last}" if others else last
    return Rule(lambda text: _is_url(text, *schemes), f"must start with {named} and a host", _without_slash)


def _without_slash(address: str) -> str:
    return address.rstrip("/")


def is_safe_url(text: str) -> bool:
    """Return whether a URL's traffic is protected: https, or http to this machine."""
    if not _is_url(text, "http", "https"):
        return False
    parts = urlsplit(text)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback name or address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def comma_separated(text: str | None) -> list[str]:
    """Return the non-empty parts of a list."""
    return [part for item in (text or "").split(",") if (part := item.strip())]


def _is_url(text: str, *schemes: str) -> bool:
    try:
        if set(schemes) <= set(WEB):
            host_of(text, schemes)
            return True
        parts = urlsplit(text)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _is_database_url(text: str) -> bool:
    try:
        return urlsplit(text).scheme in {"postgresql", "postgres"}
    except ValueError:
        return False


def _are_networks(text: str) -> bool:
    try:
        return all(ip_network(part, strict=False) for part in comma_separated(text))
    except ValueError:
        return False


def _are_origins(text: str) -> bool:
    origins = comma_separated(text)
    return origins == ["*"] or all(_ORIGIN.fullmatch(origin) for origin in origins)


def _is_per_cent(rate: Decimal) -> bool:
    # Orders store two decimal places; with more, an order's lines and shipping would get different VAT rates.
    return rate.is_finite() and 0 <= rate <= 100 and rate == rounded(rate)  # noqa: PLR2004 per cent


DATABASE_URL = Rule(_is_database_url, "must be a postgresql:// URL")
HTTPS_URL = Rule(
    is_safe_url, "must start with https:// and a host; http:// is allowed for this machine only", _without_slash
)
DAYS = Rule(
    lambda text: all(re.fullmatch("[1-9][0-9]{0,2}", part) for part in comma_separated(text)),
    "must be whole numbers of days between 1 and 999, comma-separated",
)
MAILBOX = Rule(lambda text: parse_mailbox(text) is not None, "must be an e-mail address; a name may precede it")
CONTACT = Rule(
    lambda text: parse_mailbox(text) is not None or _is_url(text, "https"),
    "must be an e-mail address or an https:// URL",
)
NETWORKS = Rule(_are_networks, "must be addresses or networks, comma-separated")
ORIGINS = Rule(_are_origins, "must be * or origins such as https://shop.example, comma-separated, without a path")
PER_CENT = Rule(_is_per_cent, "must be between 0 and 100 per cent, with at most two decimal places")
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
