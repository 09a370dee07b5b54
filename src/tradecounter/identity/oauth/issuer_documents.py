"""Reads the issuer's documents over HTTP: its metadata (RFC 8414, OpenID discovery) and its keys (RFC 7517)."""

import asyncio
import base64
import binascii
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2
import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey, import_key

from tradecounter.kit.setting_rules import is_loopback, is_safe_url
from tradecounter.kit.trusted_authorities import trusted_authorities

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
        async with (
            asyncio.timeout(_SECONDS),
            httpx2.AsyncClient(
                timeout=_SECONDS, trust_env=urlsplit(url).scheme == "https", verify=trusted_authorities()
            ) as client,
        ):
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
