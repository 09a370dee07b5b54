"""Encrypts stored secrets with the installation's secret key, and checks that a process has the keys in use."""

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import structlog
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from tradecounter.db.changes import Version, Versions
from tradecounter.db.transaction import Transaction
from tradecounter.identity.installation_secret import derived_key
from tradecounter.identity.queries.secret_keys import fingerprint, hold_key, registered_keys
from tradecounter.kit.errors import DomainError, Kind, OperatorError


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


log = structlog.get_logger()

MISSING = (
    "this database uses a key that is neither this key nor in TRADECOUNTER_FORMER_SECRET_KEYS: restore that key; "
    "if it is lost, see `tradecounter secret rotate --help`"
)
REPLACED = (
    "`tradecounter secret rotate` has replaced this key: set the new one, and this one in "
    "TRADECOUNTER_FORMER_SECRET_KEYS until the rotation has ended"
)


def problem_of(registered: Mapping[str, bool], secret_keys: Sequence[str]) -> str | None:
    """Return what is wrong with a process's keys (the first one encrypts); None when they are right.

    `registered` says of each fingerprint whether its key is being replaced. Before the first one is registered, all
    keys are right.
    """
    own = [fingerprint(key) for key in secret_keys]
    if not registered.keys() <= set(own):
        return MISSING
    return REPLACED if registered and registered.get(own[0], True) else None


class RegisteredKeys:
    """Compares a process's secret keys with those of the database whenever these change."""

    def __init__(self, secret_keys: Callable[[], Sequence[str]]) -> None:
        """Take a function that returns the secret keys, or raises SettingsError, at each look."""
        self.problem: str | None = None
        self._secret_keys = secret_keys
        self._version: Version | None = None

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Look again if the registered keys have changed; log what is wrong."""
        version = versions.of("secrets")
        if version == self._version:
            return
        await self.look(tx)
        self._version = version

    async def look(self, tx: Transaction) -> None:
        """Compare the keys, and log once what is wrong."""
        former = self.problem
        registered = await registered_keys(tx)
        try:
            self.problem = problem_of(registered, self._secret_keys())
        except OperatorError as error:  # no key at all
            self.problem = str(error)
        if self.problem is not None and self.problem != former:
            log.error("this process has a wrong secret key", reason=self.problem)
