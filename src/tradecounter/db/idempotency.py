"""Idempotency keys (specification, section 8): what was answered, remembered for ever by the transaction that did it.

While a request with a key is under way, its transaction holds an advisory lock that no other can have. The lock is
tried, never waited for, so it takes part in no deadlock; it ends with the transaction, also when the process dies.
"""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.rows import execute, fetch_one
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind

_RETRY_SECONDS = 1


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request that may be repeated: an account's key, and the hash of what it was used for."""

    customer_id: int
    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Recorded:
    """The response that the first request with a key got, to the byte."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class _Found:
    fingerprint: bytes | None
    status: int | None
    body: bytes | None
    claimed: bool | None


async def claim(tx: Transaction, request: KeyedRequest) -> Recorded | None:
    """Take the key for this transaction, in one statement; return what was recorded if it was used before.

    Raises DomainError: invalid (used for another request), conflict (a request with it is under way).
    """
    found = await fetch_one(
        tx,
        _Found,
        """
        select k.fingerprint, k.status, k.body,
               case when k.key is null then pg_try_advisory_xact_lock(hashtextextended(wanted.key, wanted.customer_id))
               end as claimed
        from (select %s::bigint as customer_id, %s::text as key) as wanted
        left join idempotency_key k using (customer_id, key)
        """,
        [request.customer_id, request.key],
    )
    if found is None:
        raise LookupError("the statement returns one row")
    if found.status is not None and found.body is not None:
        if found.fingerprint != request.fingerprint:
            raise DomainError(
                Kind.INVALID,
                "Idempotency-Key: was used for a request with another method, path or body; use a new key",
            )
        return Recorded(found.status, found.body)
    if not found.claimed:
        raise _under_way()
    return None


async def record(tx: Transaction, request: KeyedRequest, response: Recorded, now: datetime) -> None:
    """Note what the request is answered with; from the commit on, the key replays it.

    Raises DomainError (conflict) when another request with the key was committed after this one had looked for it
    and before it had its lock.
    """
    written = await execute(
        tx,
        """
        insert into idempotency_key (customer_id, key, fingerprint, status, body, created_at)
        values (%s, %s, %s, %s, %s, %s) on conflict do nothing
        """,
        [request.customer_id, request.key, request.fingerprint, response.status, response.body, now],
    )
    if not written:
        raise _under_way()


def _under_way() -> DomainError:
    return DomainError(
        Kind.CONFLICT,
        f"Idempotency-Key: a request with this key is still being processed; retry in {_RETRY_SECONDS} second",
        retry_after=_RETRY_SECONDS,
    )
