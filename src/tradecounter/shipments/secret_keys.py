"""Checks that the configured secret keys match the database, and replaces former keys by the current one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict

from tradecounter.audit.record import audit
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.identity.queries.secret_keys import (
    fingerprint,
    forget_retired_keys,
    lock_fingerprints,
    register_keys,
    registered_keys,
    retire_other_keys,
)
from tradecounter.identity.vault import MISSING, problem_of
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import OperatorError
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.queries.fulfilment import lock_sealed, replace_sealed, sample_sealed

_SAMPLE = 50  # first and last configurations to test if no key is registered yet


AUDIT_SUBJECT = "settings/secret_key"


class WrongSecretError(OperatorError):
    """The database uses a secret key that is not configured, or has replaced the one that is.

    A service with a wrong key would encrypt with that key, and could not read the stored configurations.
    """

    def __init__(self, problem: str = MISSING) -> None:
        super().__init__(f"TRADECOUNTER_SECRET_KEY: {problem}")


async def register_secret(tx: Transaction, secret_keys: Sequence[str], now: datetime) -> None:
    """Register the first key, with which this process encrypts. Raises WrongSecretError, also if it was replaced.

    If several processes start together on an empty database, the first process decides the key.
    """
    registered = await registered_keys(tx)
    if fingerprint(secret_keys[0]) in registered:
        if (problem := problem_of(registered, secret_keys)) is not None:
            raise WrongSecretError(problem)
        return
    await lock_fingerprints(tx)
    in_use = await check_secret(tx, secret_keys)
    await register_keys(tx, {fingerprint(secret_keys[0]), *in_use}, now)
    audit(tx, "secret.register", AUDIT_SUBJECT, now, after={"fingerprint": short_fingerprint(secret_keys[0])})


async def check_secret(tx: Transaction, secret_keys: Sequence[str]) -> set[str]:
    """Return the fingerprints of the keys that may have encrypted stored data.

    Raises WrongSecretError unless the keys include all registered keys; if no key is registered, one of the keys must
    decrypt a stored configuration.
    """
    registered = (await registered_keys(tx)).keys()
    if registered:
        if registered <= set(map(fingerprint, secret_keys)):
            return set(registered)
        raise WrongSecretError
    sample = await sample_sealed(tx, _SAMPLE)
    working = {fingerprint(key) for key in secret_keys if _decrypts_some(key, sample)}
    if sample and not working:
        raise WrongSecretError
    return working


def short_fingerprint(secret_key: str) -> str:
    """Return the beginning of a key's fingerprint, by which people can compare keys."""
    return fingerprint(secret_key)[:12]


def _decrypts_some(secret_key: str, sample: Sequence[bytes]) -> bool:
    vault = ProvisioningVault(lambda: [secret_key])
    return any(vault.unseal(sealed) is not None for sealed in sample)


_BATCH = 500


class Rotation(Struct):
    """The numbers of configurations: re-encrypted, already current, and unreadable with every key.

    The rotation can be interrupted and repeated at any time, and does not block requests. It first ends the use of
    former keys for new data: a process that still has one as its current key would add data that nobody re-encrypts.
    """

    rotated: int = 0
    current: int = 0
    unreadable: int = 0

    @property
    def seen(self) -> int:
        """The number of all configurations."""
        return self.rotated + self.current + self.unreadable


async def rotate_secret(
    database: Database,
    secret_keys: Sequence[str],
    now: datetime,
    *,
    actor: Actor,
    others: Callable[[Transaction, Sequence[str]], Awaitable[None]],
    accept_loss: bool = False,
    progress: Callable[[int], None] = lambda _count: None,
) -> Rotation:
    """Re-encrypt all configurations with the first key, after which that key alone is registered.

    `others` re-encrypts the data of other slices, in the last transaction.

    Raises WrongSecretError when a registered key is missing. With `accept_loss`, configurations of missing keys stay
    unreadable instead.
    """
    current = fingerprint(secret_keys[0])
    async with transaction(database, actor) as tx:
        await lock_fingerprints(tx)
        in_use = set() if accept_loss else await check_secret(tx, secret_keys)
        await register_keys(tx, {current, *in_use}, now)
        await retire_other_keys(tx, current, now)
    vault, rotation, last = ProvisioningVault(lambda: secret_keys), Rotation(), 0
    while True:
        async with transaction(database, actor) as tx:
            ids = await _rotate_batch(tx, vault, last, rotation)
        if not ids:
            break
        last = ids[-1]
        progress(rotation.seen)
    async with transaction(database, actor) as tx:
        await lock_fingerprints(tx)
        await others(tx, secret_keys)
        await forget_retired_keys(tx)
        after = {**asdict(rotation), "fingerprint": short_fingerprint(secret_keys[0])}
        audit(tx, "secret.rotate", AUDIT_SUBJECT, now, after=after)
    return rotation


async def _rotate_batch(tx: Transaction, vault: ProvisioningVault, after: int, rotation: Rotation) -> list[int]:
    sealed = await lock_sealed(tx, after, _BATCH)
    resealed = await asyncio.to_thread(lambda: [(id_, data, vault.reseal(data)) for id_, data in sealed])
    changed = {id_: new for id_, old, new in resealed if new is not None and new != old}
    await replace_sealed(tx, changed)
    unreadable = sum(new is None for _, _, new in resealed)
    rotation.rotated += len(changed)
    rotation.unreadable += unreadable
    rotation.current += len(sealed) - len(changed) - unreadable
    return [id_ for id_, _ in sealed]
