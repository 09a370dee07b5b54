"""The issuer of subject tokens: its name and keys, fetched when needed and cached."""

import asyncio
from datetime import datetime, timedelta
from typing import Protocol

import structlog
from msgspec import Struct

from tradecounter.identity.oauth.issuer_documents import IssuerAwayError, IssuerKeys, read_issuer
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.settings import Settings

log = structlog.get_logger()

_FRESH_FOR = timedelta(hours=1)
_USABLE_FOR = timedelta(hours=24)  # while the issuer cannot be reached
_BETWEEN_FETCHES = timedelta(seconds=30)
_BETWEEN_ATTEMPTS = timedelta(seconds=5)  # without usable keys


class KeySource(Protocol):
    """The issuer whose consent is trusted."""

    async def keys(self, kid: str | None, base_url: str) -> IssuerKeys:
        """Return the issuer's keys, among them the one with the id, for the service at a base URL."""
        ...


class IssuerUnavailableError(DomainError):
    """The issuer's keys cannot be fetched."""

    def __init__(self) -> None:
        seconds = int(_BETWEEN_ATTEMPTS.total_seconds())
        super().__init__(
            Kind.UNAVAILABLE,
            f"the issuer of subject tokens cannot be reached; try again in {seconds} seconds",
            retry_after=seconds,
        )


class Issuer(Struct):
    """Another service at a URL; requests that need its keys at the same time share one fetch."""

    url: str
    clock: Clock
    _cached: IssuerKeys | None = None
    _fetched: datetime | None = None
    _tried: datetime | None = None
    _fetching: asyncio.Task[None] | None = None

    @classmethod
    def from_settings(cls, settings: Settings, clock: Clock) -> "Issuer | None":
        """Return the configured issuer, if any."""
        return None if settings.auth_url is None else cls(settings.auth_url, clock)

    async def keys(self, kid: str | None, base_url: str = "") -> IssuerKeys:
        """Return the issuer's keys; fetch them again when they are older than an hour or no key has the id `kid`.

        Raises IssuerUnavailableError when the fetch fails and the cached keys are older than a day or lack the id.
        """
        age = self._age()
        if self._cached is None or age > _USABLE_FOR:
            await self._fetch(_BETWEEN_ATTEMPTS)
        elif age > _FRESH_FOR or not _contains(self._cached, kid):
            await self._fetch(_BETWEEN_FETCHES)
        if self._cached is None or self._age() > _USABLE_FOR:
            raise IssuerUnavailableError
        if self._tried != self._fetched and not _contains(self._cached, kid):
            raise IssuerUnavailableError  # the issuer may have published the key since the last fetch
        return self._cached

    def _age(self) -> timedelta:
        return timedelta.max if self._fetched is None else self.clock.now() - self._fetched

    async def _fetch(self, pause: timedelta) -> None:
        """Fetch the keys, or await the running fetch; do nothing during the pause after the last fetch."""
        now = self.clock.now()
        if self._fetching is None:
            if self._tried is not None and now - self._tried < pause:
                return
            self._tried = now
            self._fetching = asyncio.create_task(self._load(now))
        await asyncio.shield(self._fetching)  # other requests may await the fetch when this request is cancelled

    async def _load(self, now: datetime) -> None:
        try:
            self._cached = await read_issuer(self.url)
            self._fetched = now
        except IssuerAwayError as error:
            log.warning("the issuer of subject tokens cannot be used", issuer=self.url, reason=str(error))
        finally:
            self._fetching = None


def _contains(cached: IssuerKeys, kid: str | None) -> bool:
    return kid is None or any(key.kid == kid for key in cached.keys)
