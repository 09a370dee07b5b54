"""Creates something for a customer; with an idempotency key, only once (specification, section 8)."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.idempotency import KeyedRequest, Recorded, once
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.idempotency import HEADER, REPLAY_HEADER, fingerprint, read_key
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.kit.json_text import read_json, to_json

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
    key, raw = read_key(call.request.headers.getlist(HEADER)), await call.json_text()
    keyed = None if key is None else KeyedRequest(call.customer_id, key, fingerprint(*call.target, raw))
    asked = read_json(raw, shape)

    async def made(tx: Transaction) -> tuple[bytes, Recorded]:
        body = to_json(await work(tx, asked))
        return body, Recorded(_CREATED, body)

    found = await once(database, call.actor, keyed, now, made)
    if isinstance(found, Recorded):
        return Response(found.body, found.status, {REPLAY_HEADER: "true"}, JSON)
    return Response(found, _CREATED, media_type=JSON)
