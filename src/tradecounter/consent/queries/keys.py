"""The issuer's keys."""

from datetime import datetime

from tradecounter.db.advisory_locks import CHANGE_ISSUER_KEYS
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


async def lock_keys(tx: Transaction) -> None:
    """Make other changes of the keys wait for this transaction."""
    await tx.execute(CHANGE_ISSUER_KEYS)


_CURRENT = Statement("select private_key from issuer_key where retired_at is null")


async def find_current_key(tx: Transaction) -> bytes | None:
    """Return the encrypted key that signs, or None before the first one is made."""
    found: bytes | None = await tx.fetch_value(_CURRENT)
    return found


_PUBLIC = Statement("""
    select public_key from issuer_key where retired_at is null or retired_at > :since
    order by retired_at desc nulls first
""")


async def public_keys(tx: Transaction, since: datetime) -> list[str]:
    """Return the public keys, the one that signs first, with those that retired after a moment."""
    return [text for (text,) in await tx.fetch_all(_PUBLIC, since=since)]


_RETIRE = Statement("update issuer_key set retired_at = :now where retired_at is null")
_INSERT = Statement(
    "insert into issuer_key (kid, public_key, private_key, created_at) values (:kid, :public_key, :private_key, :now)"
)


async def replace_key(tx: Transaction, kid: str, public_key: str, private_key: bytes, now: datetime) -> None:
    """Retire the key that signs, if any, and store its successor."""
    await tx.execute(_RETIRE, now=now)
    await tx.execute(_INSERT, kid=kid, public_key=public_key, private_key=private_key, now=now)


_SEALED = Statement("select kid, private_key from issuer_key order by kid for no key update")
_RESEAL = Statement("update issuer_key set private_key = :private_key where kid = :kid")
_DELETE = Statement("delete from issuer_key where kid = :kid")
_DELETE_OLD = Statement("delete from issuer_key where retired_at < :before")


async def lock_sealed_keys(tx: Transaction) -> list[tuple[str, bytes]]:
    """Return the ids and encrypted keys of all, with their rows locked."""
    return [(kid, sealed) for kid, sealed in await tx.fetch_all(_SEALED)]


async def store_sealed_key(tx: Transaction, kid: str, private_key: bytes | None) -> None:
    """Store a key that was encrypted again; delete one that cannot be decrypted."""
    if private_key is None:
        await tx.execute(_DELETE, kid=kid)
    else:
        await tx.execute(_RESEAL, kid=kid, private_key=private_key)


async def delete_old_keys(tx: Transaction, before: datetime) -> int:
    """Delete the keys that retired before a moment; return how many."""
    return await tx.execute(_DELETE_OLD, before=before)
