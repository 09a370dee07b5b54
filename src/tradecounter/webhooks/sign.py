"""Makes the secrets of webhooks and signs deliveries with them, as Standard Webhooks says."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

_PREFIX = "whsec_"
_BYTES = 32


def new_secret() -> str:
    """Return a random secret, as the receiver configures it."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def signed_headers(event_id: str, timestamp: int, body: bytes, keys: Sequence[str]) -> dict[str, str]:
    """Return the headers of a delivery, with a signature for each secret."""
    content = f"{event_id}.{timestamp}.".encode() + body
    digests = (hmac.digest(base64.b64decode(key.removeprefix(_PREFIX)), content, hashlib.sha256) for key in keys)
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests),
    }
