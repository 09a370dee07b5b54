"""Stores API keys, failures and blocked addresses, request counts, and fingerprints of secret keys."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.advisory_locks import COUNT_FAILURES
from tradecounter.db.changes import bump
from tradecounter.db.installation import is_sandbox
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import KEY_SCOPES
from tradecounter.identity.credentials import PREFIX_LENGTH, KeyLimits, limits_of, new_secret, secret_hash
from tradecounter.identity.installation_secret import derived_key


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
    row = await tx.fetch_one(
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
    if row is None:
        raise RuntimeError("the key was not stored")
    return NewKey(row.id, key)


_SANDBOX_PREFIX = "sbx_"  # so that nobody takes a key of the sandbox for a live one, or the other way round


async def _marked(tx: Transaction, key: str) -> str:
    return _SANDBOX_PREFIX + key[len(_SANDBOX_PREFIX) :] if await is_sandbox(tx) else key


_LIST_KEYS = Statement(
    SQL(
        "select {} from api_key where customer_id = :customer_id"
        " and (:changed_since::timestamptz is null or changed_at >= :changed_since) order by id"
    ).format(_COLUMNS),
    KeyRecord,
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
    key = await tx.fetch_one(_DISABLE_KEY, now=now, key_id=key_id)
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


_KEY_BY_ID = Statement(SQL("select {} from api_key where id = :key_id").format(_COLUMNS), KeyRecord)


async def find_key(tx: Transaction, key_id: int) -> KeyRecord | None:
    """Return a key of any customer, or None."""
    return await tx.fetch_one(_KEY_BY_ID, key_id=key_id)


_KEY_OF = Statement(
    SQL("select {} from api_key where id = :key_id and customer_id = :customer_id").format(_COLUMNS), KeyRecord
)


async def find_key_of_customer(tx: Transaction, customer_id: int, key_id: int) -> KeyRecord | None:
    """Return one of a customer's keys, or None."""
    return await tx.fetch_one(_KEY_OF, customer_id=customer_id, key_id=key_id)


async def find_active_key(tx: Transaction, digest: bytes) -> ActiveKey | None:
    """Return the enabled key with a hash, or None, also if its customer is blocked; it may have expired."""
    return await tx.fetch_one(_FIND_ACTIVE_KEY, hash=digest)


_RECORD_USE = Statement("update api_key set last_used_at = :now where id = any(:key_ids)")


async def record_use(tx: Transaction, key_ids: list[int], now: datetime) -> None:
    """Record when keys were last used."""
    await tx.execute(_RECORD_USE, now=now, key_ids=key_ids)


async def lock_address(tx: Transaction, address: str) -> None:
    """Lock the failures of an address until the transaction ends."""
    await tx.execute(COUNT_FAILURES, address=address)


_CURRENT_BLOCKS = Statement("select address, blocked_until from blocked_address where blocked_until > :now")


async def current_blocks(tx: Transaction, now: datetime) -> dict[str, datetime]:
    """Return when each current block ends, by address."""
    return dict(await tx.fetch_all(_CURRENT_BLOCKS, now=now))


_BLOCK_OF = Statement("select blocked_until from blocked_address where address = :address and blocked_until > :now")


async def find_block(tx: Transaction, address: str, now: datetime) -> datetime | None:
    """Return when an address's block ends, or None."""
    found: datetime | None = await tx.fetch_value(_BLOCK_OF, address=address, now=now)
    return found


_INSERT_FAILURE = Statement("insert into credential_failure (address, failed_at) values (:address, :now)")

_COUNT_FAILURES = Statement("select count(*) from credential_failure where address = :address and failed_at > :since")


async def add_failure(tx: Transaction, address: str, now: datetime, since: datetime) -> int:
    """Record a failure; return the number of failures after `since`, including this one."""
    await tx.execute(_INSERT_FAILURE, address=address, now=now)
    count: int = await tx.fetch_value(_COUNT_FAILURES, address=address, since=since)
    return count


_BLOCK = Statement("""
    insert into blocked_address (address, blocked_until) values (:address, :until)
    on conflict (address) do update set blocked_until = excluded.blocked_until
""")

_DELETE_FAILURES_OF = Statement("delete from credential_failure where address = :address")


async def block(tx: Transaction, address: str, until: datetime) -> None:
    """Block an address in every process, and delete its failures."""
    await tx.execute(_BLOCK, address=address, until=until)
    await tx.execute(_DELETE_FAILURES_OF, address=address)
    await bump(tx, "blocks")


_DELETE_FAILURES = Statement("delete from credential_failure where failed_at <= :until")


async def delete_failures(tx: Transaction, until: datetime) -> int:
    """Delete the failures up to a moment; return their number."""
    return await tx.execute(_DELETE_FAILURES, until=until)


_DELETE_ENDED_BLOCKS = Statement("delete from blocked_address where blocked_until <= :now")


async def delete_ended_blocks(tx: Transaction, now: datetime) -> int:
    """Delete ended blocks; return their number."""
    return await tx.execute(_DELETE_ENDED_BLOCKS, now=now)


# Thousands of customers each second, as JSON: psycopg takes 2 µs for each element of an array.
_ADD_REQUESTS = Statement("""
    insert into request_count (customer_id, window_start, requests)
    select customer_id::bigint, :window_start, requests::bigint
    from json_each_text(:requests::json) as more (customer_id, requests)
    on conflict (customer_id, window_start) do update set requests = request_count.requests + excluded.requests
""")


async def add_requests(tx: Transaction, window_start: datetime, requests: Mapping[int, int]) -> None:
    """Add requests to customers' counts, by id; locks the rows in the order of ids."""
    await tx.execute(_ADD_REQUESTS, window_start=window_start, requests=json_of(dict(sorted(requests.items()))))


_READ_REQUESTS = Statement("""
    select customer_id, requests from request_count
    where window_start = :window_start
      and customer_id = any(array(select json_array_elements_text(:customer_ids::json)::bigint))
""")


async def read_requests(tx: Transaction, window_start: datetime, customer_ids: list[int]) -> dict[int, int]:
    """Return the counts of customers, by id."""
    rows = await tx.fetch_all(_READ_REQUESTS, window_start=window_start, customer_ids=json_of(customer_ids))
    return dict(rows)


_DELETE_COUNTS = Statement("delete from request_count where window_start < :before")


async def delete_counts(tx: Transaction, before: datetime) -> int:
    """Delete the counts of windows that started before a moment; return their number."""
    return await tx.execute(_DELETE_COUNTS, before=before)


def fingerprint(secret_key: str) -> str:
    """Return 64 hexadecimal characters that identify a secret key and do not reveal it."""
    return derived_key(secret_key, "fingerprint")


_LOCK_FINGERPRINTS = Statement("lock table secret_key in share row exclusive mode")


async def lock_fingerprints(tx: Transaction) -> None:
    """Lock the registered keys until the transaction ends; other registrations wait."""
    await tx.execute(_LOCK_FINGERPRINTS)


_REGISTERED_KEYS = Statement("select fingerprint, retired_at is not null as retired from secret_key")


async def registered_keys(tx: Transaction) -> dict[str, bool]:
    """Return the fingerprints of the registered keys, and whether `secret rotate` has begun to replace each."""
    return dict(await tx.fetch_all(_REGISTERED_KEYS))


# A rotation that replaces the key waits for the transaction.
_HOLD_KEY = Statement("select retired_at is null from secret_key where fingerprint = :fingerprint for share")
_NONE_REGISTERED = Statement("select not exists (select from secret_key)")


async def hold_key(tx: Transaction, fingerprint: str) -> bool:
    """Return whether a key may encrypt until the transaction ends; any may before the first one is registered."""
    found: bool | None = await tx.fetch_value(_HOLD_KEY, fingerprint=fingerprint)
    return bool(await tx.fetch_value(_NONE_REGISTERED)) if found is None else found


_REGISTER_KEYS = Statement(
    "insert into secret_key (fingerprint, used_since) select unnest(:fingerprints::text[]), :now on conflict do nothing"
)


async def register_keys(tx: Transaction, fingerprints: Iterable[str], now: datetime) -> None:
    """Register keys that are not registered yet, and tell all processes."""
    await tx.execute(_REGISTER_KEYS, fingerprints=list(fingerprints), now=now)
    await bump(tx, "secrets")


_RETIRE_OTHERS = Statement("""
    update secret_key set retired_at = case when fingerprint <> :kept then coalesce(retired_at, :now) end
""")


async def retire_other_keys(tx: Transaction, kept: str, now: datetime) -> None:
    """Let one key alone encrypt from now on; waits for transactions that encrypt with another one."""
    await tx.execute(_RETIRE_OTHERS, kept=kept, now=now)
    await bump(tx, "secrets")


_FORGET_RETIRED = Statement("delete from secret_key where retired_at is not null")


async def forget_retired_keys(tx: Transaction) -> None:
    """Remove the keys that do not encrypt any more, and tell all processes."""
    await tx.execute(_FORGET_RETIRED)
    await bump(tx, "secrets")
