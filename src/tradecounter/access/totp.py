"""Time-based one-time passwords (RFC 6238) and recovery codes.

Our own few lines instead of a library: the step of a code must be known, so that each code is good only once.
"""

import base64
import hashlib
import hmac
import secrets
from datetime import datetime
from urllib.parse import quote, urlencode

from tradecounter.identity.secret_hash import secret_hash

DIGITS = 6
RECOVERY_CODES = 10
_SECONDS = 30  # of a step
_SECRET_BYTES = 20
_RECOVERY_BYTES = 16
_GROUP = 5  # characters of a recovery code between hyphens


def new_totp_secret() -> bytes:
    """Return 160 random bits, as RFC 4226 recommends."""
    return secrets.token_bytes(_SECRET_BYTES)


def in_base32(secret: bytes) -> str:
    """Return a secret as people type it into an authenticator."""
    return base64.b32encode(secret).decode()


def totp_uri(secret: bytes, issuer: str, account: str) -> str:
    """Return the `otpauth:` address that an authenticator scans."""
    plain_issuer = issuer.replace(":", " ")
    label = quote(f"{plain_issuer}:{account}", safe="@")
    parameters = {"secret": in_base32(secret), "issuer": plain_issuer, "digits": DIGITS, "period": _SECONDS}
    return f"otpauth://totp/{label}?{urlencode(parameters, quote_via=quote)}"


def code_at(secret: bytes, step: int) -> str:
    """Return the code of a step (RFC 4226, section 5.3)."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), hashlib.sha1)
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def step_of(now: datetime) -> int:
    """Return the number of the step at a moment."""
    return int(now.timestamp()) // _SECONDS


def matching_step(secret: bytes, code: str, now: datetime, last_step: int) -> int | None:
    """Return the step whose code was given: the current one or a neighbour, and after `last_step`. Otherwise None."""
    current = step_of(now)
    matches = [s for s in (current - 1, current, current + 1) if hmac.compare_digest(code_at(secret, s), code)]
    return next((step for step in matches if step > last_step), None)


def new_recovery_codes() -> list[str]:
    """Return ten codes of 128 random bits."""
    return [_new_recovery_code() for _ in range(RECOVERY_CODES)]


def recovery_hash(code: str) -> bytes:
    """Return the hash of a recovery code, whose hyphens, spaces and capitals do not matter."""
    return secret_hash("".join(filter(str.isalnum, code.casefold())))


def _new_recovery_code() -> str:
    plain = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().rstrip("=").lower()
    return "-".join(plain[n : n + _GROUP] for n in range(0, len(plain), _GROUP))
