"""Digests of data, which do not depend on the process; different data has different digests."""

from hashlib import sha256


def digest_of(*parts: bytes) -> bytes:
    """Return the digest of a sequence of parts."""
    digest = sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()
