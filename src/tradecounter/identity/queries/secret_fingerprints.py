"""The fingerprints of the secret keys that data in the database may be encrypted with."""

from collections.abc import Iterable
from datetime import datetime

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


_REGISTERED_FINGERPRINTS = Statement("select fingerprint from secret_key")


async def registered_fingerprints(tx: Transaction) -> set[str]:
    """Return the fingerprints of the registered keys."""
    return {found for (found,) in await tx.fetch_all(_REGISTERED_FINGERPRINTS)}


_REGISTER_FINGERPRINTS = Statement(
    "insert into secret_key (fingerprint, used_since) select unnest(:fingerprints::text[]), :now on conflict do nothing"
)


async def register_fingerprints(tx: Transaction, fingerprints: Iterable[str], now: datetime) -> None:
    """Register keys that are not registered yet."""
    await tx.execute(_REGISTER_FINGERPRINTS, fingerprints=list(fingerprints), now=now)


_FORGET_OTHER_FINGERPRINTS = Statement("delete from secret_key where fingerprint <> :kept")


async def forget_other_fingerprints(tx: Transaction, kept: str) -> None:
    """Remove all keys except one."""
    await tx.execute(_FORGET_OTHER_FINGERPRINTS, kept=kept)
