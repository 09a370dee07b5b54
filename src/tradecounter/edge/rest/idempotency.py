"""Reads idempotency keys, and hashes requests to compare them (specification, idempotency)."""

import hashlib
import re
from collections.abc import Sequence

from tradecounter.kit.errors import invalid
from tradecounter.kit.json_text import canonical_json

IDEMPOTENCY_HEADER = "Idempotency-Key"
REPLAY_HEADER = "Idempotent-Replay"
LONGEST_KEY = 255

_KEY = re.compile(rf"[ -~]{{1,{LONGEST_KEY}}}")


def read_key(values: Sequence[str]) -> str | None:
    """Return the key in the header's values, or None. Raises DomainError (invalid), also for different values."""
    if not values:
        return None
    key, *others = {value.strip(" \t") for value in values}
    if others:
        raise invalid(IDEMPOTENCY_HEADER, "was sent twice with different values: send one")
    if not _KEY.fullmatch(key):
        raise invalid(IDEMPOTENCY_HEADER, f"must be 1 to {LONGEST_KEY} printable ASCII characters")
    return key


def fingerprint_of_upload(target: str, digest: bytes) -> bytes:
    """Return the hash of method, path and query, and of an uploaded body's hash."""
    return hashlib.sha256(f"{target}\n".encode() + digest).digest()


def fingerprint(method: str, path: str, body: bytes) -> bytes:
    """Return the hash of method, path and canonical body. Raises DomainError (invalid) if the body is not JSON."""
    return hashlib.sha256(f"{method} {path}\n".encode() + canonical_json(body)).digest()
