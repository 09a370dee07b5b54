"""Digests of data: the same in every process, and equal only for equal data."""

from hashlib import sha256


def digest_of(*parts: bytes) -> bytes:
    """Return the digest of a sequence of parts."""
    digest = sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()
