"""The rules of webhooks: addresses that are allowed, when to try again and to give up, and signatures of deliveries."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Address

from tradecounter.kit.errors import invalid
from tradecounter.kit.web_addresses import WEB, Address, Network, NotAWebAddressError, host_of, may_connect_to

PAUSE_AFTER_FAILING = timedelta(days=5)  # with no success between
DELIVERIES_KEPT_FOR = timedelta(days=30)  # attempts, and successful deliveries
BOTH_SECRETS_FOR = timedelta(hours=24)  # while the old secret signs too
MOST_ENDPOINTS = 20
MOST_REPLAYED = 10_000  # deliveries that a replay makes

_WAITS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
)
_JITTER = 0.2
_GONE = 410
_SUCCESS = range(200, 300)

_LOOPBACK = IPv4Address("127.0.0.1")


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


def check_url(url: str, networks: Iterable[Network], *, allow_http: bool) -> None:
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
        judged: Address = _LOOPBACK
    elif isinstance(host, str):
        return
    else:
        judged = host
    if not may_connect_to(judged, networks):
        raise invalid("url", f"{host} is not a public address")


_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_webhook_secret() -> str:
    """Return a random secret, as the receiver configures it."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signed_headers(event_id: str, timestamp: int, body: bytes, keys: Sequence[str]) -> dict[str, str]:
    """Return the headers of a delivery, with a signature for each secret."""
    content = f"{event_id}.{timestamp}.".encode() + body
    digests = (hmac.digest(base64.b64decode(key.removeprefix(_PREFIX)), content, hashlib.sha256) for key in keys)
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests),
    }
