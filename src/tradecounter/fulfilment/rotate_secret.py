"""Replacing a former secret key: what it encrypted is encrypted with the present one, a batch at a time.

It can be interrupted and repeated at any moment; requests are not held up.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.fulfilment.check_secret import register_secret
from tradecounter.fulfilment.provisioning_vault import ProvisioningVault
from tradecounter.fulfilment.queries.reads import lock_sealed
from tradecounter.fulfilment.queries.writes import replace_sealed
from tradecounter.identity.queries.secret_fingerprints import (
    fingerprint,
    forget_other_fingerprints,
    lock_fingerprints,
    register_fingerprints,
)

_BATCH = 500


@dataclass(slots=True)
class Rotation:
    """How many configurations were re-encrypted, how many did not need it, and how many no key decrypts."""

    rotated: int = 0
    current: int = 0
    unreadable: int = 0

    @property
    def seen(self) -> int:
        """All of them."""
        return self.rotated + self.current + self.unreadable


async def rotate_secret(
    database: Database,
    secret_keys: Sequence[str],
    now: datetime,
    *,
    accept_loss: bool = False,
    progress: Callable[[int], None] = lambda _count: None,
) -> Rotation:
    """Encrypt with the first key what the others encrypted; then that key is the only one that is registered.

    With `accept_loss`, keys that are registered and not given are given up: what they encrypted stays as it is, and
    unreadable. Raises WrongSecretError without it.
    """
    if not accept_loss:
        async with transaction(database) as tx:
            await register_secret(tx, secret_keys, now)
    vault, done, last = ProvisioningVault(lambda: secret_keys), Rotation(), 0
    while True:
        async with transaction(database) as tx:
            ids = await _rotate_batch(tx, vault, last, done)
        if not ids:
            break
        last = ids[-1]
        progress(done.seen)
    async with transaction(database) as tx:
        await lock_fingerprints(tx)
        await register_fingerprints(tx, [fingerprint(secret_keys[0])], now)
        await forget_other_fingerprints(tx, fingerprint(secret_keys[0]))
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
