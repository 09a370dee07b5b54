"""Service tokens, stored only as hashes."""

from datetime import datetime

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class TokenRecord(Struct, frozen=True):
    """A service token without its secret; its beginning identifies it."""

    id: int
    name: str
    prefix: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


_COLUMNS = SQL("id, name, prefix, scopes, created_at, expires_at, last_used_at, revoked_at")

_INSERT = Statement(
    SQL(
        "insert into service_token (name, prefix, hash, scopes, created_at, expires_at)"
        " values (:name, :prefix, :hash, :scopes, :now, :expires_at)"
        " on conflict (hash) do update set name = excluded.name returning {}"
    ).format(_COLUMNS),
    TokenRecord,
)


async def insert_token(
    tx: Transaction,
    name: str,
    prefix: str,
    digest: bytes,
    scopes: list[str],
    now: datetime,
    expires_at: datetime | None,
) -> TokenRecord:
    """Store a token; one with the same hash may exist (for reproducible demos)."""
    return await tx.fetch_row(
        _INSERT, name=name, prefix=prefix, hash=digest, scopes=scopes, now=now, expires_at=expires_at
    )


_ALL = Statement(SQL("select {} from service_token order by id").format(_COLUMNS), TokenRecord)


async def list_tokens(tx: Transaction) -> list[TokenRecord]:
    """Return all tokens, revoked ones included, oldest first."""
    return await tx.fetch_all(_ALL)


_BY_HASH = Statement(
    SQL("select {} from service_token where hash = :hash and revoked_at is null").format(_COLUMNS), TokenRecord
)


async def find_token(tx: Transaction, digest: bytes) -> TokenRecord | None:
    """Return the token with a hash unless it is revoked; it may have expired."""
    async with tx.pipeline() as p:
        result = p.fetch(_BY_HASH, hash=digest)
    return result.first


_REVOKE = Statement(
    SQL("update service_token set revoked_at = coalesce(revoked_at, :now) where id = :id returning {}").format(
        _COLUMNS
    ),
    TokenRecord,
)


async def set_revoked(tx: Transaction, token_id: int, now: datetime) -> TokenRecord | None:
    """Revoke a token; the first time counts. Return None when it does not exist."""
    return await tx.find_row(_REVOKE, id=token_id, now=now)


# A request must not wait for a change of the token: its commit may wait for a replica.
_RECORD_USE = Statement(
    """
    update service_token set last_used_at = :now
    where id = (select id from service_token where id = :id for no key update skip locked)
    """
)


async def record_use(tx: Transaction, token_id: int, now: datetime) -> None:
    """Record when a token was last used, unless another request does so."""
    tx.commit_at_once()
    await tx.execute(_RECORD_USE, id=token_id, now=now)
