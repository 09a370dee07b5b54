"""Rules of codes, refresh tokens and keys, and of PKCE (RFC 7636)."""

import base64
import hashlib
import hmac
import re
from datetime import timedelta

CODE_LIFETIME = timedelta(minutes=1)
CONSENT_LIFETIME = timedelta(minutes=10)  # of the signed consent
REFRESH_LIFETIME = timedelta(days=90)  # of a refresh token that is not used
KEY_PUBLIC_FOR = timedelta(minutes=15)  # after its retirement: the longest life of a signed consent, and some minutes
KEPT_FOR = timedelta(days=30)  # what has ended, so that support can see what became of it

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def is_challenge(text: str) -> bool:
    """Return whether a text can be a challenge of the method S256."""
    return bool(_CHALLENGE.fullmatch(text))


def fits(verifier: str, challenge: str) -> bool:
    """Return whether a text can be a code verifier, and has a challenge of the method S256."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(digest, challenge.encode())
