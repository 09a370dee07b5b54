"""Webhooks: whether a request is from the service, and its event (Standard Webhooks, symmetric signatures)."""

import base64
import hmac
import re
import time
from collections.abc import Mapping

import msgspec

from tradecounter_client.base import from_json
from tradecounter_client.errors import NotGenuine
from tradecounter_client.models import Event

_TOLERANCE = 300  # seconds
_PREFIX = "whsec_"
_SHORTEST_KEY = 16  # bytes
_SECONDS = re.compile("[0-9]{1,12}")  # Python converts no number of thousands of digits


def verified_event(secret: str, headers: Mapping[str, str], body: bytes) -> Event:
    """The event of a webhook's request, with the body exactly as received; raises NotGenuine.

    `secret` begins with `whsec_`; raises ValueError for another one. The case of the headers' names does not matter.
    """
    key = _key(secret)
    given = {name.lower(): value for name, value in headers.items()}
    message, moment = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not _SECONDS.fullmatch(moment) or abs(time.time() - int(moment)) > _TOLERANCE:
        raise NotGenuine("the time is missing, or more than five minutes away")
    digest = hmac.digest(key, f"{message}.{moment}.".encode(errors="replace") + body, "sha256")
    expected = b"v1," + base64.b64encode(digest)
    signatures = given.get("webhook-signature", "").split()
    if not any(hmac.compare_digest(expected, signature.encode(errors="replace")) for signature in signatures):
        raise NotGenuine("no signature is right")
    try:
        return from_json(body, Event)
    except msgspec.MsgspecError as error:
        raise NotGenuine("the body is no event") from error


def _key(secret: str) -> bytes:
    """The key of a secret. Anybody can sign with that of an empty one, such as of a variable that is not set."""
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError:
        key = b""
    if not secret.startswith(_PREFIX) or len(key) < _SHORTEST_KEY:
        raise ValueError(f"the secret is not one of a webhook: it begins with {_PREFIX}")
    return key
