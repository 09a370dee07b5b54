"""Idempotency keys of requests, their fingerprints, and what is created only once (specification, section 8)."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.idempotency import KeyedRequest, Recorded, once
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.kit.errors import invalid
from tradecounter.kit.json_text import canonical_json, read_json, to_json

HEADER = "Idempotency-Key"
REPLAY_HEADER = "Idempotent-Replay"
LONGEST_KEY = 255

_KEY = re.compile(rf"[ -~]{{1,{LONGEST_KEY}}}")


def read_key(values: Sequence[str]) -> str | None:
    """Return the key in the header's values, or None. Raises DomainError (invalid), also for different values."""
    if not values:
        return None
    key, *others = {value.strip(" \t") for value in values}
    if others:
        raise invalid(HEADER, "was sent twice with different values: send one")
    if not _KEY.fullmatch(key):
        raise invalid(HEADER, f"must be 1 to {LONGEST_KEY} printable ASCII characters")
    return key


def fingerprint_of_upload(target: str, digest: bytes) -> bytes:
    """Return the hash of method, path and query, and of an uploaded body's hash."""
    return hashlib.sha256(f"{target}\n".encode() + digest).digest()


def fingerprint(method: str, path: str, body: bytes) -> bytes:
    """Return the hash of method, path and canonical body. Raises DomainError (invalid) if the body is not JSON."""
    return hashlib.sha256(f"{method} {path}\n".encode() + canonical_json(body)).digest()


Asked = TypeVar("Asked", bound=Struct)
_CREATED = 201


async def create_once(
    call: Call,
    database: Database,
    shape: type[Asked],
    work: Callable[[Transaction, Asked], Awaitable[Struct]],
    now: datetime,
) -> Response:
    """Respond with what `work` creates of the body, or as the first request with the key did.

    Raises DomainError as the body, the key and `work` do.
    """
    key = read_key(call.request.headers.getlist(HEADER))
    raw = await call.json_text()
    keyed = None if key is None else KeyedRequest(call.customer_id, key, fingerprint(*call.target, raw))
    asked = read_json(raw, shape)

    async def made(tx: Transaction) -> tuple[bytes, Recorded]:
        body = to_json(await work(tx, asked))
        return body, Recorded(_CREATED, body)

    found = await once(database, call.actor, keyed, now, made)
    if isinstance(found, Recorded):
        return Response(found.body, found.status, {REPLAY_HEADER: "true"}, JSON)
    return Response(found, _CREATED, media_type=JSON)
