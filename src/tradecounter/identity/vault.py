"""Encrypts stored secrets with a key derived from the installation's secret key."""

import asyncio
import base64
from collections.abc import Callable, Sequence
from functools import cached_property

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from tradecounter.db.transaction import Transaction
from tradecounter.identity.installation_secret import derived_key
from tradecounter.identity.queries.secret_fingerprints import fingerprint, hold_key
from tradecounter.kit.errors import DomainError, Kind


class Vault:
    """Encrypts and decrypts data of one purpose; reads the secret keys at the first use."""

    def __init__(self, purpose: str, secret_keys: Callable[[], Sequence[str]]) -> None:
        """Take a function that returns the secret keys: the first encrypts, the others only decrypt."""
        self._purpose = purpose
        self._secret_keys = secret_keys

    @cached_property
    def _keys(self) -> list[Fernet]:
        derived = (bytes.fromhex(derived_key(secret, self._purpose)) for secret in self._secret_keys())
        return [Fernet(base64.urlsafe_b64encode(key)) for key in derived]

    async def seal(self, tx: Transaction, data: bytes) -> bytes:
        """Encrypt data that the transaction stores. Raises DomainError as `seal_all`."""
        [sealed] = await self.seal_all(tx, [data])
        return sealed

    async def seal_all(self, tx: Transaction, data: Sequence[bytes]) -> list[bytes]:
        """Encrypt data that the transaction stores; until it ends, `secret rotate` does not replace the key.

        Raises DomainError (unavailable) when that command has replaced it: soon, nobody could decrypt the data.
        """
        if not await hold_key(tx, fingerprint(self._secret_keys()[0])):
            raise DomainError(Kind.UNAVAILABLE, "the secret key was replaced, and this process has not got the new one")
        return await asyncio.to_thread(lambda: [self.encrypt(each) for each in data])  # thousands take long

    def encrypt(self, data: bytes) -> bytes:
        """Encrypt data with the first key, which may have been replaced."""
        return self._keys[0].encrypt(data)

    def unseal(self, sealed: bytes) -> bytes | None:
        """Decrypt data; return None when no key decrypts it."""
        try:
            return MultiFernet(self._keys).decrypt(sealed)
        except InvalidToken:
            return None

    def reseal(self, sealed: bytes) -> bytes | None:
        """Re-encrypt data with the first key, unless it already is; return None when no key decrypts it."""
        try:
            self._keys[0].decrypt(sealed)
        except InvalidToken:
            try:
                return MultiFernet(self._keys).rotate(sealed)
            except InvalidToken:
                return None
        return sealed
