"""Encrypts configurations, which contain passwords."""

from collections.abc import Callable, Sequence

import msgspec

from tradecounter.db.transaction import Transaction
from tradecounter.identity.vault import Vault
from tradecounter.shipments.wire import ConfigurationRequest


class ProvisioningVault:
    """Encrypts and decrypts configurations; reads the secret keys at the first use."""

    def __init__(self, secret_keys: Callable[[], Sequence[str]]) -> None:
        """Take a function that returns the secret keys: the first encrypts, the others only decrypt."""
        self._vault = Vault("provisioning data", secret_keys)
        self.reseal = self._vault.reseal

    async def seal_all(self, tx: Transaction, configurations: Sequence[ConfigurationRequest]) -> list[bytes]:
        """Encrypt configurations that the transaction stores. Raises DomainError (unavailable)."""
        return await self._vault.seal_all(tx, [msgspec.json.encode(configuration) for configuration in configurations])

    def encrypt(self, configuration: ConfigurationRequest) -> bytes:
        """Encrypt a configuration with the first key, which may have been replaced."""
        return self._vault.encrypt(msgspec.json.encode(configuration))

    def unseal(self, sealed: bytes) -> ConfigurationRequest | None:
        """Decrypt a configuration; return None when no key decrypts it."""
        data = self._vault.unseal(sealed)
        return None if data is None else msgspec.json.decode(data, type=ConfigurationRequest)
