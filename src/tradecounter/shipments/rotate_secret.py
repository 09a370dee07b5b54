"""Replaces former secret keys: re-encrypts what they encrypted with the current key; configurations in batches.

The rotation can be interrupted and repeated at any time, and does not block requests. It first ends the use of former
keys for new data: a process that still has one as its current key would add data that nobody re-encrypts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict

from tradecounter.audit.record import audit
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.identity.queries.secret_fingerprints import (
    fingerprint,
    forget_retired_keys,
    lock_fingerprints,
    register_keys,
    retire_other_keys,
)
from tradecounter.kit.actor import Actor
from tradecounter.shipments.check_secret import AUDIT_SUBJECT, check_secret, short_fingerprint
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.queries.reads import lock_sealed
from tradecounter.shipments.queries.writes import replace_sealed

_BATCH = 500


class Rotation(Struct):
    """The numbers of configurations: re-encrypted, already current, and unreadable with every key."""

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
    vault, done, last = ProvisioningVault(lambda: secret_keys), Rotation(), 0
    while True:
        async with transaction(database, actor) as tx:
            ids = await _rotate_batch(tx, vault, last, done)
        if not ids:
            break
        last = ids[-1]
        progress(done.seen)
    async with transaction(database, actor) as tx:
        await lock_fingerprints(tx)
        await others(tx, secret_keys)
        await forget_retired_keys(tx)
        after = {**asdict(done), "fingerprint": short_fingerprint(secret_keys[0])}
        audit(tx, "secret.rotate", AUDIT_SUBJECT, now, after=after)
    return done


async def _rotate_batch(tx: Transaction, vault: ProvisioningVault, after: int, done: Rotation) -> list[int]:
    found = await lock_sealed(tx, after, _BATCH)
    resealed = await asyncio.to_thread(lambda: [(id_, data, vault.reseal(data)) for id_, data in found])
    changed = {id_: new for id_, old, new in resealed if new is not None and new != old}
    await replace_sealed(tx, changed)
    unreadable = sum(new is None for _, _, new in resealed)
    done.rotated += len(changed)
    done.unreadable += unreadable
    done.current += len(found) - len(changed) - unreadable
    return [id_ for id_, _ in found]
