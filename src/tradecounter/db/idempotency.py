"""Idempotency keys (specification, section 8); a request's transaction records its key with the response.

Keys never expire unless KEEP_IDEMPOTENT_RESPONSES is set.

While a request with a key is being processed, its transaction has an exclusive advisory lock. No transaction waits
for such a lock, so deadlocks are impossible. The lock ends with the transaction, also if the process dies.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import LiteralString, TypeVar

from msgspec import Struct
from psycopg.errors import UniqueViolation
from psycopg.sql import SQL, Identifier

from tradecounter.db.advisory_locks import TRY_KEY
from tradecounter.db.pipeline import Pipeline, Result
from tradecounter.db.pool import Database
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import Code, DomainError, Kind

_RETRY_SECONDS = 1

Made = TypeVar("Made")


class KeyedRequest(Struct, frozen=True):
    """A request with an idempotency key; `fingerprint` is a hash of the request.

    `caller` is the id of the customer, or the name of a caller of the back office, such as `token/3`.
    """

    caller: int | str
    key: str
    fingerprint: bytes


class RecordedResponse(Struct, frozen=True):
    """The response to the first request with a key, byte for byte."""

    status: int
    body: bytes


class Claim(Struct, frozen=True):
    """The result of a claim: the earlier request and response, or whether this transaction has claimed the key."""

    fingerprint: bytes | None
    status: int | None
    body: bytes | None
    claimed: bool | None


class _Keys:
    """The statements on the table of one kind of callers."""

    def __init__(self, table: LiteralString, column: LiteralString, kind: LiteralString, seed: LiteralString) -> None:
        names = {"table": Identifier(table), "column": Identifier(column), "kind": SQL(kind)}
        self.claim = Statement(
            SQL(
                """
                select k.fingerprint, k.status, k.body, case when k.key is null then {try_key} end as claimed
                from (select :caller::{kind} as {column}, :key::text as key) as wanted
                left join {table} k using ({column}, key)
                """
            ).format(**names, try_key=TRY_KEY.format(key=SQL("wanted.key"), customer_id=SQL(seed))),
            Claim,
        )
        self.record = Statement(
            SQL(
                "insert into {table} ({column}, key, fingerprint, status, body, created_at)"
                " values (:caller, :key, :fingerprint, :status, :body, :now)"
            ).format(**names)
        )
        self.forget = Statement(
            SQL(
                """
                delete from {table} where ({column}, key) in (
                    select {column}, key from {table} where created_at < :before
                    order by created_at limit :most for update skip locked
                )
                """
            ).format(**names)
        )


_OF_CUSTOMERS = _Keys("idempotency_key", "customer_id", "bigint", "wanted.customer_id")
_OF_CALLERS = _Keys("caller_idempotency_key", "caller", "text", "hashtextextended(wanted.caller, 0)")


def _keys(request: KeyedRequest) -> _Keys:
    return _OF_CUSTOMERS if isinstance(request.caller, int) else _OF_CALLERS


def pipe_claim(p: Pipeline, request: KeyedRequest) -> Result[Claim]:
    """Claim an unused key for this transaction; `recorded` evaluates the result."""
    return p.fetch(_keys(request).claim, caller=request.caller, key=request.key)


def recorded(tx: Transaction, request: KeyedRequest, claimed: Result[Claim]) -> RecordedResponse | None:
    """Return the recorded response to an earlier request with the key, or None if this transaction has claimed it.

    The response may be sent after the commit, which waits until replicas have the earlier request's changes.

    Raises DomainError: invalid (used for another request), conflict (a request with it is being processed).
    """
    entry = claimed.row
    if entry.status is not None and entry.body is not None:
        if entry.fingerprint != request.fingerprint:
            raise DomainError(
                Kind.INVALID,
                "Idempotency-Key: was used for a request with another method, path or body; use a new key",
                code=Code.IDEMPOTENCY_KEY_REUSED,
            )
        tx.acknowledge_earlier()
        return RecordedResponse(entry.status, entry.body)
    if not entry.claimed:
        raise _under_way()
    return None


def record(tx: Transaction, request: KeyedRequest, response: RecordedResponse, now: datetime) -> None:
    """Record the response; after the commit, requests with the key get it as a replay. Needs `used_once`."""
    tx.queue(
        _keys(request).record,
        caller=request.caller,
        key=request.key,
        fingerprint=request.fingerprint,
        status=response.status,
        body=response.body,
        now=now,
    )


async def once(
    database: Database,
    actor: Actor,
    request: KeyedRequest | None,
    now: datetime,
    work: Callable[[Transaction], Awaitable[Made]],
    response_of: Callable[[Made], RecordedResponse | None],
) -> Made | RecordedResponse:
    """Run a change in its own transaction and return its result, or the recorded response if there is one.

    `response_of` returns the response to record for the result, or None if a repetition may try again. Without a
    request, nothing is claimed or recorded. Raises DomainError as `recorded` and `used_once` do.
    """
    with used_once():
        async with transaction(database, actor) as tx:
            if request is not None:
                async with tx.pipeline() as p:
                    claimed = pipe_claim(p, request)
                if (before := recorded(tx, request, claimed)) is not None:
                    return before
            result = await work(tx)
            if request is not None and (response := response_of(result)) is not None:
                record(tx, request, response, now)
    return result


async def forget_keys(tx: Transaction, before: datetime, most: int) -> int:
    """Delete at most `most` keys of each kind created before a moment, oldest first; return their number."""
    return sum([await tx.execute(keys.forget, before=before, most=most) for keys in (_OF_CUSTOMERS, _OF_CALLERS)])


@contextmanager
def used_once() -> Iterator[None]:
    """Turn a lost race for a key into DomainError (conflict); the transaction must run inside the block.

    Another request can use the key between this transaction's read and its lock.
    """
    try:
        yield
    except UniqueViolation as error:
        if error.diag.table_name not in {"idempotency_key", "caller_idempotency_key"}:
            raise
        raise _under_way() from error


def _under_way() -> DomainError:
    return DomainError(
        Kind.CONFLICT,
        f"Idempotency-Key: a request with this key is still being processed; retry in {_RETRY_SECONDS} second",
        code=Code.IN_PROGRESS,
        retry_after=_RETRY_SECONDS,
    )
