"""The issuer of subject tokens: its name and keys, read over HTTP from its documents when needed, and cached."""

import asyncio
import base64
import binascii
from datetime import datetime, timedelta
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import httpx2
import msgspec
import structlog
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey, import_key
from msgspec import Struct

from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.setting_rules import is_loopback, is_safe_url
from tradecounter.kit.trusted_authorities import http_client
from tradecounter.settings import Settings

_SECONDS = 5.0  # for all documents together
_MOST_BYTES = 256 * 1024  # of a document
_MOST_KEYS = 100
_LEAST_RSA_BITS = 2048
_OPENID = "/.well-known/openid-configuration"
_OAUTH = "/.well-known/oauth-authorization-server"


class IssuerAwayError(Exception):
    """The issuer cannot be reached, or its documents cannot be used."""


class IssuerKeys(msgspec.Struct, frozen=True):
    """The issuer's name in its metadata, its public keys, and whether it is this service itself."""

    name: str
    keys: tuple[Key, ...]
    own: bool = False


class _Metadata(msgspec.Struct):
    issuer: str
    jwks_uri: str


class _KeySet(msgspec.Struct):
    keys: list[Any]


async def read_issuer(url: str) -> IssuerKeys:
    """Return the name (`url`, perhaps with a slash at the end) and keys of an issuer. Raises IssuerAwayError."""
    try:
        async with asyncio.timeout(_SECONDS), http_client(url, _SECONDS) as client:
            metadata = await _read_metadata(client, url)
            if metadata.issuer.removesuffix("/") != url.removesuffix("/"):
                raise IssuerAwayError(f"the metadata belongs to the issuer {metadata.issuer[:200]!r}")
            _require_allowed(metadata.jwks_uri, url)
            published = msgspec.json.decode(await _read(client, metadata.jwks_uri), type=_KeySet)
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError, msgspec.DecodeError, RecursionError) as error:
        raise IssuerAwayError(f"{type(error).__name__}: {error}") from error
    keys = tuple(key for data in published.keys[:_MOST_KEYS] if (key := _usable_key(data)) is not None)
    if not keys:
        raise IssuerAwayError("the issuer publishes no usable key")
    return IssuerKeys(metadata.issuer, keys)


def _require_allowed(jwks_uri: str, issuer: str) -> None:
    """Check that keys may be fetched from a URL in the issuer's metadata. Raises IssuerAwayError."""
    if not is_safe_url(jwks_uri):
        raise IssuerAwayError("jwks_uri is not an https URL")
    # A remote issuer must not make this process send requests to services on this machine.
    if urlsplit(jwks_uri).scheme == "http" and not is_loopback(urlsplit(issuer).hostname or ""):
        raise IssuerAwayError("jwks_uri is plain http, which is allowed only for an issuer on this machine")


async def _read_metadata(client: httpx2.AsyncClient, url: str) -> _Metadata:
    parts = urlsplit(url)
    for place in (
        url.removesuffix("/") + _OPENID,
        urlunsplit((parts.scheme, parts.netloc, _OAUTH + parts.path.removesuffix("/"), "", "")),
    ):
        try:
            return msgspec.json.decode(await _read(client, place), type=_Metadata)
        except (httpx2.HTTPStatusError, msgspec.DecodeError, RecursionError) as error:
            problem = error
    raise problem


async def _read(client: httpx2.AsyncClient, url: str) -> bytes:
    # Not compressed: a few bytes could become gigabytes.
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    async with client.stream("GET", url, headers=headers) as response:
        if not response.is_success:
            raise httpx2.HTTPStatusError(f"status {response.status_code}", request=response.request, response=response)
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise IssuerAwayError("a document is compressed although the request does not accept compression")
        body = bytearray()
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > _MOST_BYTES:
                raise IssuerAwayError(f"a document is longer than {_MOST_BYTES} bytes")
        return bytes(body)


def _usable_key(data: Any) -> Key | None:
    """Return a public key for signatures, or None for any other member of a key set."""
    if not isinstance(data, dict) or data.get("kty") not in ("RSA", "EC", "OKP") or data.get("use", "sig") != "sig":
        return None
    try:
        if data["kty"] == "RSA" and _bits(data["n"]) < _LEAST_RSA_BITS:
            return None
        key = import_key(data)
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, binascii.Error):
        return None
    return key if isinstance(key, RSAKey | ECKey | OKPKey) else None


def _bits(number: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(number + "==")).bit_length()


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
        return timedelta.max if self._fetched is None else abs(self.clock.now() - self._fetched)

    async def _fetch(self, pause: timedelta) -> None:
        """Fetch the keys, or await the running fetch; do nothing during the pause after the last fetch."""
        now = self.clock.now()
        if self._fetching is None:
            if self._tried is not None and abs(now - self._tried) < pause:  # the clock may have been set back
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
