"""The secret keys that something in the database may be encrypted with: it knows them by their fingerprints."""

from collections.abc import Iterable
from datetime import datetime

from tradecounter.db.rows import execute, fetch_tuples
from tradecounter.db.transaction import Transaction
from tradecounter.identity.installation_secret import derived_key


def fingerprint(secret_key: str) -> str:
    """Return 64 hexadecimal characters that tell a secret key from others and do not reveal it."""
    return derived_key(secret_key, "fingerprint")


async def lock_fingerprints(tx: Transaction) -> None:
    """Let no other transaction change which keys are registered, or decide on them, until this one ends."""
    await execute(tx, "lock table secret_key in share row exclusive mode")


async def registered_fingerprints(tx: Transaction) -> set[str]:
    """Return the fingerprints of the keys that are registered."""
    return {found for (found,) in await fetch_tuples(tx, "select fingerprint from secret_key")}


async def register_fingerprints(tx: Transaction, fingerprints: Iterable[str], now: datetime) -> None:
    """Register keys; what is registered already stays as it is."""
    await execute(
        tx,
        "insert into secret_key (fingerprint, used_since) select unnest(%s::text[]), %s on conflict do nothing",
        [list(fingerprints), now],
    )


async def forget_other_fingerprints(tx: Transaction, kept: str) -> None:
    """Remove all keys but one."""
    await execute(tx, "delete from secret_key where fingerprint <> %s", [kept])
