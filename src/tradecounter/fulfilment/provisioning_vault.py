"""Encrypts configurations, which contain passwords."""

from collections.abc import Callable, Sequence

import msgspec

from tradecounter.fulfilment.wire import ConfigurationRequest
from tradecounter.identity.vault import Vault


class ProvisioningVault:
    """Encrypts and decrypts configurations; reads the secret keys at the first use."""

    def __init__(self, secret_keys: Callable[[], Sequence[str]]) -> None:
        """Take a function that returns the secret keys: the first encrypts, the others only decrypt."""
        self._vault = Vault("provisioning data", secret_keys)
        self.reseal = self._vault.reseal

    def seal(self, configuration: ConfigurationRequest) -> bytes:
        """Encrypt a configuration with the first key."""
        return self._vault.seal(msgspec.json.encode(configuration))

    def unseal(self, sealed: bytes) -> ConfigurationRequest | None:
        """Decrypt a configuration; return None when no key decrypts it."""
        data = self._vault.unseal(sealed)
        return None if data is None else msgspec.json.decode(data, type=ConfigurationRequest)
