"""Checking credentials (specification, section 5): which one counts, and whose it is.

Verified keys are remembered, and forgotten when any key changes or when the database has not been heard of for a few
seconds, so that a disabled key stops working in every process within five.
"""

import math
import time
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from starlette.requests import Request

from tradecounter.db.changes import Versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.identity.api_keys import KEY_LENGTH, ActiveKey, find_active_key, key_hash, record_use
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind

_TRUSTED_SECONDS = 4.0
_RECORD_EVERY_SECONDS = 60.0
_MOST_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class KeyCaller:
    """A customer who presented an API key."""

    customer_id: int
    key_id: int


class InvalidCredentialError(DomainError):
    """A credential was presented and is not good."""

    def __init__(self) -> None:
        super().__init__(Kind.UNAUTHENTICATED, "the credential is not valid")


class MissingCredentialError(DomainError):
    """No credential was presented."""

    def __init__(self) -> None:
        super().__init__(Kind.UNAUTHENTICATED, "a credential is required")


@dataclass(slots=True)
class Authenticator:
    """Tells whose a request's credential is; remembers keys between requests."""

    database: Database
    clock: Clock
    _known: dict[bytes, ActiveKey] = field(default_factory=dict)
    _version: int = -1
    _heard: float = -math.inf
    _used: set[int] = field(default_factory=set)
    _recorded: float = -math.inf

    async def authenticate(self, request: Request) -> KeyCaller:
        """Return the caller. Raises MissingCredentialError or InvalidCredentialError.

        A bearer token counts alone, then the header `X-Api-Key`, then the parameter `api-key`; a bad credential is
        never made up for by the next.
        """
        digest = key_hash(presented_key(request))
        found = self._known.get(digest) if time.monotonic() - self._heard < _TRUSTED_SECONDS else None
        if found is None:
            found = await self._look_up(digest)
        self._used.add(found.id)
        return KeyCaller(found.customer_id, found.id)

    async def _look_up(self, digest: bytes) -> ActiveKey:
        version = self._version
        async with reading(self.database) as tx:
            found = await find_active_key(tx, digest)
        if found is None:
            self._known.pop(digest, None)
            raise InvalidCredentialError
        if version == self._version and len(self._known) < _MOST_REMEMBERED:
            self._known[digest] = found
        return found

    async def refresh(self, tx: Transaction, versions: Versions) -> None:
        """Forget what was remembered when any key changed."""
        version = versions.get("keys", 0)
        if version != self._version:
            self._known.clear()
            self._version = version
        self._heard = time.monotonic()

    async def record_uses(self) -> None:
        """From time to time, note in the database which keys were used."""
        if self._used and time.monotonic() - self._recorded > _RECORD_EVERY_SECONDS:
            used = sorted(self._used)
            async with transaction(self.database) as tx:
                await record_use(tx, used, self.clock.now())
            self._used.difference_update(used)
            self._recorded = time.monotonic()


def presented_key(request: Request) -> str:
    """Return the API key that counts for a request. Raises when there is none or it cannot be one."""
    for authorization in request.headers.getlist("authorization"):
        scheme, *token = authorization.split(maxsplit=1) or [""]
        if scheme.lower() == "bearer":
            raise InvalidCredentialError if token else MissingCredentialError
    keys = [key for value in request.headers.getlist("x-api-key") if (key := value.strip())]
    if not keys:
        parts = (part.partition("=") for part in request.scope["query_string"].decode("latin-1").split("&"))
        keys = [unquote_plus(value) for name, _, value in parts if unquote_plus(name) == "api-key" and value]
    if not keys:
        raise MissingCredentialError
    if len(keys) > 1 or len(keys[0]) != KEY_LENGTH or not keys[0].isascii():
        raise InvalidCredentialError
    return keys[0]
