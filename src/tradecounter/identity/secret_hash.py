"""Hashes of keys, tokens and client secrets."""

import hashlib
import secrets

_BYTES = 32


def new_secret() -> str:
    """Return 256 random bits as 64 hexadecimal characters."""
    return secrets.token_hex(_BYTES)


def secret_hash(secret: str) -> bytes:
    """Return the hash to store; a secret of 256 random bits needs no slow hash."""
    return hashlib.sha256(secret.encode()).digest()
