"""The own issuer and its keys: made when first needed, encrypted in the database, replaced by a rotation."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from joserfc.jwk import ECKey, import_key
from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.consent.queries.keys import (
    find_current_key,
    lock_keys,
    lock_sealed_keys,
    public_keys,
    replace_key,
    store_sealed_key,
)
from tradecounter.consent.rules import KEY_PUBLIC_FOR
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.oauth.issuer_documents import IssuerKeys
from tradecounter.identity.vault import Vault
from tradecounter.kit.clock import Clock
from tradecounter.settings import Settings

ALGORITHM = "ES256"
_CURVE = "P-256"


class LostKeyError(RuntimeError):
    """The key that signs cannot be decrypted with the configured secret keys."""

    def __init__(self) -> None:
        super().__init__("the issuer's key cannot be decrypted: restore the secret key, or run `issuer rotate`")


def issuer_vault(keys: Callable[[], Sequence[str]]) -> Vault:
    """Return the vault with the issuer's private keys."""
    return Vault("issuer keys", keys)


async def signing_key(tx: Transaction, vault: Vault, now: datetime) -> ECKey:
    """Return the key that signs; make it if there is none. Raises LostKeyError.

    Call this before the transaction locks rows: making a key takes an advisory lock.
    """
    found = await key_that_signs(tx, vault)
    if found is None:
        await lock_keys(tx)
        found = await key_that_signs(tx, vault)  # another process may have made it meanwhile
    if found is None:
        found = await _make_key(tx, vault, now)
        audit(tx, "issuer.make_key", "settings/issuer", now, after={"kid": found.kid})
    return found


async def key_that_signs(tx: Transaction, vault: Vault) -> ECKey | None:
    """Return the key that signs, or None before it is made. Raises LostKeyError."""
    sealed = await find_current_key(tx)
    if sealed is None:
        return None
    opened = vault.unseal(sealed)
    if opened is None:
        raise LostKeyError
    return ECKey.import_key(json.loads(opened))


async def published_keys(tx: Transaction, now: datetime) -> list[dict[str, Any]]:
    """Return the public keys as JSON Web Keys: the one that signs, and the retired ones whose tokens may be valid."""
    return [json.loads(text) for text in await public_keys(tx, now - KEY_PUBLIC_FOR)]


async def rotate_key(tx: Transaction, vault: Vault, now: datetime) -> str:
    """Replace the key that signs, in all processes at once, and return the new one's id."""
    await lock_keys(tx)
    made = await _make_key(tx, vault, now)
    audit(tx, "issuer.rotate", "settings/issuer", now, after={"kid": made.kid})
    return str(made.kid)


async def reseal_keys(tx: Transaction, secret_keys: Sequence[str]) -> None:
    """Re-encrypt the keys with the first secret key. Keys that cannot be decrypted are deleted: others are made."""
    vault = issuer_vault(lambda: secret_keys)
    for kid, sealed in await lock_sealed_keys(tx):
        await store_sealed_key(tx, kid, vault.reseal(sealed))


async def _make_key(tx: Transaction, vault: Vault, now: datetime) -> ECKey:
    key = ECKey.generate_key(_CURVE, {"use": "sig", "alg": ALGORITHM}, auto_kid=True)
    private = json.dumps(key.as_dict(private=True)).encode()
    await replace_key(tx, str(key.kid), json.dumps(key.as_dict(private=False)), await vault.seal(tx, private), now)
    return key


PATH = "/auth"  # below the base URL


def issuer_name(base_url: str) -> str:
    """Return the issuer's name for the service at a base URL."""
    return f"{base_url}{PATH}"


class OwnIssuer(Struct, frozen=True):
    """The own issuer. Keys are read from the database each time, so a rotation counts in all processes at once."""

    database: Database
    clock: Clock
    vault: Vault

    @classmethod
    def from_settings(cls, settings: Settings, database: Database, clock: Clock) -> "OwnIssuer":
        """Return the own issuer; the secret keys are read at the first use."""
        return cls(database, clock, issuer_vault(lambda: secret_keys(settings)))

    async def keys(self, kid: str | None, base_url: str) -> IssuerKeys:
        """Return the public keys whose tokens may be valid."""
        async with reading(self.database) as tx:
            found = await published_keys(tx, self.clock.now())
        return IssuerKeys(issuer_name(base_url), tuple(import_key(key) for key in found), own=True)

    async def key_set(self) -> list[dict[str, str]]:
        """Return the public keys as JSON Web Keys; make the first one if there is none."""
        async with reading(self.database) as tx:
            found = await published_keys(tx, self.clock.now())
        if not found:
            async with transaction(self.database) as tx:
                await signing_key(tx, self.vault, self.clock.now())
                found = await published_keys(tx, self.clock.now())
        return found
