"""The rules of webhooks: which addresses are allowed, when to try again, and when to give up."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from tradecounter.kit.errors import invalid
from tradecounter.kit.web_addresses import WEB, NotAWebAddressError, host_of

ATTEMPT_SECONDS = 15.0  # for a request and the beginning of its response
MOST_RESPONSE_BYTES = 2048  # read and kept
PAUSE_AFTER_FAILING = timedelta(days=5)  # with no success between
KEPT_FOR = timedelta(days=30)  # attempts, and successful deliveries
ROTATION = timedelta(hours=24)  # while the old secret signs too
MAX_ENDPOINTS_PER_OWNER = 20

_WAITS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
)
_JITTER = 0.2
_GONE = 410
_SUCCESS = range(200, 300)

_Address = IPv4Address | IPv6Address
_Network = IPv4Network | IPv6Network
_LOOPBACK = IPv4Address("127.0.0.1")
_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC: tuple[_Network, ...] = (  # beside what the standard library knows
    IPv4Network("192.0.0.0/24"),  # protocols, and a metadata service
    IPv4Network("192.88.99.0/24"),  # relays to IPv6
    IPv4Network("168.63.129.16/32"),  # a metadata service
    IPv6Network("::/96"),  # IPv4 addresses, obsolete
    IPv6Network("64:ff9b:1::/48"),  # local translation to IPv4
    IPv6Network("3fff::/20"),  # documentation
)


def succeeded(status: int | None) -> bool:
    """Return whether a delivery has succeeded."""
    return status is not None and status in _SUCCESS


def disables(status: int | None) -> bool:
    """Return whether the receiver asks for no further deliveries."""
    return status == _GONE


def wait_before_retry(retries: int, drawn: float, asked: timedelta | None = None) -> timedelta:
    """Return the wait after a failure that follows `retries` other ones.

    The last wait repeats. `drawn` is a random number from -1 to 1, for jitter. What the receiver asks for with
    `Retry-After` counts if it is longer, up to the longest wait of the schedule.
    """
    wait = _WAITS[min(retries, len(_WAITS) - 1)] * (1 + _JITTER * drawn)
    return wait if asked is None else max(wait, min(asked, _WAITS[-1]))


def retry_after(header: str | None, now: datetime) -> timedelta | None:
    """Return the wait that a `Retry-After` header asks for, as seconds or as a date; None if it is not readable."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:10]), 10**9))
    try:
        return parsedate_to_datetime(text) - now
    except (ValueError, TypeError, OverflowError):  # TypeError: a date without a time zone
        return None


def check_url(url: str, networks: Iterable[_Network], *, allow_http: bool) -> None:
    """Check an endpoint's URL, and its address if the host is one. Raises DomainError (invalid).

    Names are judged by their addresses when a delivery connects; `localhost` is known without that.
    """
    if not url.isascii() or "#" in url:
        raise invalid("url", "must consist of ASCII characters, without a fragment")
    try:
        host = host_of(url, WEB if allow_http else ("https",))
    except NotAWebAddressError as error:
        raise invalid("url", str(error)) from None
    if host == "localhost" or (isinstance(host, str) and host.endswith(".localhost")):
        judged: _Address = _LOOPBACK
    elif isinstance(host, str):
        return
    else:
        judged = host
    if not is_allowed(judged, networks):
        raise invalid("url", f"{host} is not a public address")


def is_allowed(address: _Address, networks: Iterable[_Network] = ()) -> bool:
    """Return whether webhooks may connect to an address: it is public, or in one of the operator's networks.

    An IPv6 address that leads to an IPv4 address is judged by the latter.
    """
    inner = _inner(address)
    return any(address in network or inner in network for network in networks) or _is_public(inner)


def _inner(address: _Address) -> _Address:
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & (2**32 - 1))
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: _Address) -> bool:
    if not address.is_global or any(address in network for network in _NOT_PUBLIC):
        return False
    if address.is_multicast or address.is_reserved or address.is_unspecified:
        return False
    return isinstance(address, IPv4Address) or not (address.is_site_local or address.teredo)
