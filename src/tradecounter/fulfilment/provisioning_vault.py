"""Configurations hold passwords: they are kept encrypted, with a key derived from the installation's secret."""

import base64
from collections.abc import Callable
from functools import cached_property

import msgspec
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from tradecounter.fulfilment.wire import NewConfiguration
from tradecounter.identity.installation_secret import derived_key
from tradecounter.kit.errors import OperatorError

_PURPOSE = "provisioning data"


class ProvisioningVault:
    """Encrypts and decrypts configurations; the secret is asked for when it is first needed."""

    def __init__(self, *secrets: Callable[[], str]) -> None:
        """Take where the installation's secrets come from: the first encrypts, former ones still decrypt."""
        self._secrets = secrets

    @cached_property
    def _fernet(self) -> MultiFernet:
        keys = (bytes.fromhex(derived_key(secret(), _PURPOSE)) for secret in self._secrets)
        return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])

    def seal(self, configuration: NewConfiguration) -> bytes:
        """Return a configuration encrypted."""
        return self._fernet.encrypt(msgspec.json.encode(configuration))

    def unseal(self, sealed: bytes) -> NewConfiguration:
        """Return what was sealed. Raises OperatorError when that was done with another secret."""
        try:
            return msgspec.json.decode(self._fernet.decrypt(sealed), type=NewConfiguration)
        except InvalidToken as error:
            raise OperatorError(
                "configurations were encrypted with another secret: restore TRADECOUNTER_SECRET_KEY"
            ) from error
