"""The secret keys that something in the database may be encrypted with: it knows them by their fingerprints."""

from collections.abc import Iterable
from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.identity.installation_secret import derived_key


def fingerprint(secret_key: str) -> str:
    """Return 64 hexadecimal characters that tell a secret key from others and do not reveal it."""
    return derived_key(secret_key, "fingerprint")


_LOCK_FINGERPRINTS = Statement("lock table secret_key in share row exclusive mode")


async def lock_fingerprints(tx: Transaction) -> None:
    """Let no other transaction change which keys are registered, or decide on them, until this one ends."""
    await tx.execute(_LOCK_FINGERPRINTS)


_REGISTERED_FINGERPRINTS = Statement("select fingerprint from secret_key")


async def registered_fingerprints(tx: Transaction) -> set[str]:
    """Return the fingerprints of the keys that are registered."""
    return {found for (found,) in await tx.fetch_all(_REGISTERED_FINGERPRINTS)}


_REGISTER_FINGERPRINTS = Statement(
    "insert into secret_key (fingerprint, used_since) select unnest(:fingerprints::text[]), :now on conflict do nothing"
)


async def register_fingerprints(tx: Transaction, fingerprints: Iterable[str], now: datetime) -> None:
    """Register keys; what is registered already stays as it is."""
    await tx.execute(_REGISTER_FINGERPRINTS, fingerprints=list(fingerprints), now=now)


_FORGET_OTHER_FINGERPRINTS = Statement("delete from secret_key where fingerprint <> :kept")


async def forget_other_fingerprints(tx: Transaction, kept: str) -> None:
    """Remove all keys but one."""
    await tx.execute(_FORGET_OTHER_FINGERPRINTS, kept=kept)
