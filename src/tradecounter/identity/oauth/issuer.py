"""The issuer of subject tokens: its name and keys, fetched when they are needed and kept for a while."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from tradecounter.identity.oauth.issuer_documents import IssuerAwayError, IssuerKeys, read_issuer
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.settings import Settings

log = structlog.get_logger()

_FRESH_FOR = timedelta(hours=1)
_GOOD_FOR = timedelta(hours=24)  # while the issuer is away
_BETWEEN_FETCHES = timedelta(seconds=30)
_BETWEEN_ATTEMPTS = timedelta(seconds=5)  # when there are no keys to go on with


class IssuerUnavailableError(DomainError):
    """Whether a subject token is good cannot be told now."""

    def __init__(self) -> None:
        seconds = int(_BETWEEN_ATTEMPTS.total_seconds())
        super().__init__(
            Kind.UNAVAILABLE,
            f"the issuer of subject tokens cannot be reached; try again in {seconds} seconds",
            retry_after=seconds,
        )


@dataclass(slots=True)
class Issuer:
    """An issuer by its URL. Requests that need its keys at the same time share one fetch."""

    url: str
    clock: Clock
    _known: IssuerKeys | None = None
    _fetched: datetime | None = None
    _tried: datetime | None = None
    _fetching: asyncio.Task[None] | None = field(default=None, repr=False)

    @classmethod
    def from_settings(cls, settings: Settings, clock: Clock) -> "Issuer | None":
        """Return the configured issuer, if any."""
        return None if settings.auth_url is None else cls(settings.auth_url, clock)

    async def keys(self, kid: str | None) -> IssuerKeys:
        """Return the issuer's keys, fetched anew when they are older than an hour or lack the one that is asked for.

        Raises IssuerUnavailableError when they cannot be had and those that are known are older than a day, or lack
        the one that is asked for.
        """
        age = self._age()
        if self._known is None or age > _GOOD_FOR:
            await self._fetch(_BETWEEN_ATTEMPTS)
        elif age > _FRESH_FOR or not _holds(self._known, kid):
            await self._fetch(_BETWEEN_FETCHES)
        if self._known is None or self._age() > _GOOD_FOR:
            raise IssuerUnavailableError
        if self._tried != self._fetched and not _holds(self._known, kid):
            raise IssuerUnavailableError  # the key may be among those that could not be fetched
        return self._known

    def _age(self) -> timedelta:
        return timedelta.max if self._fetched is None else self.clock.now() - self._fetched

    async def _fetch(self, pause: timedelta) -> None:
        """Fetch the keys, or wait for a fetch that is under way; do nothing within a pause after the last one."""
        now = self.clock.now()
        if self._fetching is None:
            if self._tried is not None and now - self._tried < pause:
                return
            self._tried = now
            self._fetching = asyncio.create_task(self._load(now))
        await asyncio.shield(self._fetching)  # others wait for it too, should this request be given up

    async def _load(self, now: datetime) -> None:
        try:
            self._known = await read_issuer(self.url)
            self._fetched = now
        except IssuerAwayError as error:
            log.warning("the issuer of subject tokens cannot be used", issuer=self.url, reason=str(error))
        finally:
            self._fetching = None


def _holds(known: IssuerKeys, kid: str | None) -> bool:
    return kid is None or any(key.kid == kid for key in known.keys)
