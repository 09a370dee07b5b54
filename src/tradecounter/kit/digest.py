"""Digests of data: what is equal has equal ones, in every process, and nothing else has."""

from hashlib import sha256


def digest_of(*parts: bytes) -> bytes:
    """Return the digest of a sequence of parts."""
    found = sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.digest()
