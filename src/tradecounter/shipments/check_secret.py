"""Checks that the configured secret keys match the database.

A service with a wrong key would encrypt with that key, and could not read the stored configurations.
"""

from collections.abc import Sequence
from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.identity.queries.secret_fingerprints import (
    fingerprint,
    lock_fingerprints,
    register_keys,
    registered_keys,
)
from tradecounter.identity.registered_keys import MISSING, problem_of
from tradecounter.kit.errors import OperatorError
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.queries.reads import sample_sealed

_SAMPLE = 50  # first and last configurations to test if no key is registered yet


AUDIT_SUBJECT = "settings/secret_key"


class WrongSecretError(OperatorError):
    """The database uses a secret key that is not configured, or has replaced the one that is."""

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
