"""Encrypts configurations, which contain passwords, with a key derived from the installation's secret key."""

import base64
from collections.abc import Callable, Sequence
from functools import cached_property

import msgspec
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from tradecounter.fulfilment.wire import NewConfiguration
from tradecounter.identity.installation_secret import derived_key

_PURPOSE = "provisioning data"


class ProvisioningVault:
    """Encrypts and decrypts configurations; reads the secret keys at the first use."""

    def __init__(self, secret_keys: Callable[[], Sequence[str]]) -> None:
        """Take a function that returns the secret keys: the first encrypts, the others only decrypt."""
        self._secret_keys = secret_keys

    @cached_property
    def _keys(self) -> list[Fernet]:
        derived = (bytes.fromhex(derived_key(secret, _PURPOSE)) for secret in self._secret_keys())
        return [Fernet(base64.urlsafe_b64encode(key)) for key in derived]

    def seal(self, configuration: NewConfiguration) -> bytes:
        """Encrypt a configuration with the first key."""
        return self._keys[0].encrypt(msgspec.json.encode(configuration))

    def unseal(self, sealed: bytes) -> NewConfiguration | None:
        """Decrypt a configuration; return None when no key decrypts it."""
        try:
            return msgspec.json.decode(MultiFernet(self._keys).decrypt(sealed), type=NewConfiguration)
        except InvalidToken:
            return None

    def reseal(self, sealed: bytes) -> bytes | None:
        """Re-encrypt a configuration with the first key, unless it already is; return None when no key decrypts it."""
        try:
            self._keys[0].decrypt(sealed)
        except InvalidToken:
            try:
                return MultiFernet(self._keys).rotate(sealed)
            except InvalidToken:
                return None
        return sealed
