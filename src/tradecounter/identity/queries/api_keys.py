"""The SQL of API keys."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, LiteralString

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.changes import bump
from tradecounter.db.installation import is_sandbox
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import KEY_SCOPES
from tradecounter.identity.credentials import PREFIX_LENGTH, KeyLimits, limits_of, new_secret, secret_hash
from tradecounter.kit.errors import or_not_found


class NewKey(Struct, frozen=True):
    """The id of a new key, and the key, which cannot be read again."""

    id: int
    key: str


class KeyRecord(Struct, frozen=True):
    """A key without its secret; people identify a key by its first characters.

    `networks` are empty for a key that may be used from anywhere.
    """

    id: int
    customer_id: int
    name: str
    prefix: str
    scopes: list[str]
    networks: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    disabled_at: datetime | None

    @property
    def may_everything(self) -> bool:
        """Whether the key has all scopes."""
        return set(self.scopes) >= set(KEY_SCOPES)

    @property
    def last_moment(self) -> datetime | None:
        """The last second of a key that expires."""
        return None if self.expires_at is None else self.expires_at - timedelta(seconds=1)

    def has_expired(self, now: datetime) -> bool:
        """Return whether the key is no longer valid."""
        return self.expires_at is not None and self.expires_at <= now


_COLUMNS = SQL(
    "id, customer_id, name, prefix, coalesce(scopes, {}) as scopes, networks, created_at, expires_at, last_used_at,"
    " disabled_at"
).format(list(KEY_SCOPES))

_ADD_KEY = Statement(
    SQL(
        """
        insert into api_key (customer_id, name, prefix, hash, created_at, scopes, expires_at, networks)
        values (:customer_id, :name, :prefix, :hash, :now, :scopes, :expires_at, :networks)
        on conflict (hash) do update set name = excluded.name
        returning {}
        """
    ).format(_COLUMNS),
    KeyRecord,
)


async def add_key(
    tx: Transaction,
    customer_id: int,
    name: str,
    now: datetime,
    *,
    scopes: Sequence[str] | None = None,
    expires_at: datetime | None = None,
    networks: Sequence[str] = (),
    key: str | None = None,
) -> NewKey:
    """Create a key for a customer, with all `scopes` by default; a given `key` may exist (for reproducible demos)."""
    key = await _marked(tx, key or new_secret())
    row = await tx.fetch_row(
        _ADD_KEY,
        customer_id=customer_id,
        name=name,
        prefix=key[:PREFIX_LENGTH],
        hash=secret_hash(key),
        now=now,
        scopes=None if scopes is None else list(scopes),
        expires_at=expires_at,
        networks=list(networks),
    )
    return NewKey(row.id, key)


_SANDBOX_PREFIX = "sbx_"  # so that nobody takes a key of the sandbox for a live one, or the other way round


async def _marked(tx: Transaction, key: str) -> str:
    return _SANDBOX_PREFIX + key[len(_SANDBOX_PREFIX) :] if await is_sandbox(tx) else key


def _keys(condition: LiteralString) -> Statement[KeyRecord]:
    return Statement(SQL("select {} from api_key where {}").format(_COLUMNS, SQL(condition)), KeyRecord)


_LIST_KEYS = _keys(
    "customer_id = :customer_id and (:changed_since::timestamptz is null or changed_at >= :changed_since) order by id"
)


async def list_keys(tx: Transaction, customer_id: int, changed_since: datetime | None = None) -> list[KeyRecord]:
    """Return a customer's keys, oldest first."""
    return await tx.fetch_all(_LIST_KEYS, customer_id=customer_id, changed_since=changed_since)


_DISABLE_KEY = Statement(
    SQL("update api_key set disabled_at = coalesce(disabled_at, :now) where id = :key_id returning {}").format(
        _COLUMNS
    ),
    KeyRecord,
)


async def disable_key(tx: Transaction, key_id: int, now: datetime) -> KeyRecord | None:
    """Disable a key, in every process within a few seconds; return the key, or None for an unknown id."""
    key = await tx.find_row(_DISABLE_KEY, now=now, key_id=key_id)
    await bump(tx, "keys")
    return key


class ActiveKey(Struct, frozen=True):
    """An enabled key, which may have expired, and its customer, who is not blocked; None for `limits`: none."""

    id: int
    customer_id: int
    name: str
    limits: KeyLimits | None


def _active_key(
    scopes: list[str] | None, expires_at: datetime | None, networks: list[str], **columns: Any
) -> ActiveKey:
    return ActiveKey(**columns, limits=limits_of(scopes, expires_at, networks))


_FIND_ACTIVE_KEY = Statement(
    "select k.id, k.customer_id, k.name, k.scopes, k.expires_at, k.networks"
    " from api_key k join customer c on c.id = k.customer_id"
    " where k.hash = :hash and k.disabled_at is null and c.blocked_at is null",
    _active_key,
)


_KEY_BY_ID = _keys("id = :key_id")


async def find_key(tx: Transaction, key_id: int) -> KeyRecord | None:
    """Return a key of any customer, or None."""
    return await tx.find_row(_KEY_BY_ID, key_id=key_id)


_KEY_OF = _keys("id = :key_id and customer_id = :customer_id")


async def fetch_key(tx: Transaction, customer_id: int, key_id: int) -> KeyRecord:
    """Return one of a customer's keys. Raises DomainError (not found)."""
    row = await tx.find_row(_KEY_OF, customer_id=customer_id, key_id=key_id)
    return or_not_found(row, "key", key_id)


async def find_active_key(tx: Transaction, digest: bytes) -> ActiveKey | None:
    """Return the enabled key with a hash, or None, also if its customer is blocked; it may have expired."""
    return await tx.find_row(_FIND_ACTIVE_KEY, hash=digest)


_RECORD_USE = Statement("update api_key set last_used_at = :now where id = any(:key_ids)")


async def record_use(tx: Transaction, key_ids: list[int], now: datetime) -> None:
    """Record when keys were last used."""
    await tx.execute(_RECORD_USE, now=now, key_ids=key_ids)
