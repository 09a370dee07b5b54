"""The SQL of the secret keys' fingerprints."""

from collections.abc import Iterable
from datetime import datetime

from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.identity.installation_secret import derived_key


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
    is_registered: bool | None = await tx.find_value(_HOLD_KEY, fingerprint=fingerprint)
    return bool(await tx.fetch_value(_NONE_REGISTERED)) if is_registered is None else is_registered


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
