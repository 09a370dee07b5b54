"""Makes, lists and disables keys of the sandbox through its back office, for customers of the live site."""

from datetime import datetime
from typing import Any, TypeVar

import httpx2
import msgspec
import structlog
from msgspec import Struct

from tradecounter.kit.errors import DomainError, Kind, not_found
from tradecounter.kit.trusted_authorities import http_client
from tradecounter.settings import Settings

log = structlog.get_logger()
Shape = TypeVar("Shape")

_NOT_YET = "the sandbox does not know your account yet: it learns of new customers every night"
_SECONDS = 5.0
_NOT_FOUND = 404
_ERROR = 400


class RemoteKey(Struct):
    """A key of the sandbox; `key` is the key itself, only when it was just made."""

    id: int
    name: str
    prefix: str
    created_at: datetime
    key: str | None = None
    last_used_at: datetime | None = None
    disabled_at: datetime | None = None


class RemoteSandbox(Struct, frozen=True):
    """A sandbox as the live site knows it: its public URL, its back office and a service token for it."""

    url: str
    backoffice_url: str
    token: str

    @classmethod
    def of(cls, settings: Settings) -> "RemoteSandbox | None":
        """Return the sandbox of the settings, if they name one."""
        url, backoffice_url = settings.sandbox_url, settings.sandbox_backoffice_url
        token = settings.sandbox_token
        return cls(url, backoffice_url, token) if url and backoffice_url and token else None

    async def keys_of(self, customer_id: int) -> list[RemoteKey]:
        """Return a customer's keys.

        Raises DomainError: conflict (the sandbox cannot be reached, or does not know the customer yet).
        """
        return _read(await self._call("GET", customer_id), list[RemoteKey])

    async def make_key(self, customer_id: int, name: str, by: str, once: str) -> RemoteKey:
        """Make a key for a user of a customer.

        Calls with the same `once` return the same key; only the first response contains its text.

        Raises DomainError as `keys_of` does, and invalid.
        """
        content = msgspec.json.encode({"name": name})
        return _read(await self._call("POST", customer_id, by=by, content=content, once=once), RemoteKey)

    async def disable_key(self, customer_id: int, key_id: int, by: str) -> None:
        """Disable a customer's key. Raises DomainError as `keys_of` does, and not found."""
        await self._call("DELETE", customer_id, f"/{key_id}", by=by)

    async def _call(
        self, method: str, customer_id: int, rest: str = "", *, by: str = "", content: bytes = b"", once: str = ""
    ) -> bytes:
        headers = {b"Authorization": f"Bearer {self.token}".encode(), b"Content-Type": b"application/json"}
        if by:
            headers[b"X-Acting-User"] = by.encode()  # an e-mail address, which need not be ASCII
        if once:
            headers[b"Idempotency-Key"] = once.encode()
        address = f"{self.backoffice_url}/api/customer/{customer_id}/key{rest}"
        try:
            async with http_client(address, _SECONDS) as client:
                response = await client.request(method, address, headers=headers, content=content or None)
        except (httpx2.HTTPError, OSError) as error:
            raise _away(str(error) or type(error).__name__) from error
        if response.status_code == _NOT_FOUND:
            raise not_found("key", rest.removeprefix("/")) if rest else DomainError(Kind.CONFLICT, _NOT_YET)
        if not response.is_success:
            raise _rejection(response)
        return response.content


def _read(content: bytes, shape: type[Shape]) -> Shape:
    """Decode a response. Raises DomainError (conflict) for what no sandbox sends, such as a proxy's page."""
    try:
        return msgspec.json.decode(content, type=shape)
    except msgspec.MsgspecError as error:
        raise _away(f"its response cannot be read: {error}") from error


def _away(reason: str) -> DomainError:
    """Return the error of a sandbox that does not work, whose reason only operators read."""
    log.warning("keys of the sandbox cannot be made or listed", reason=reason)
    return DomainError(Kind.CONFLICT, "the sandbox cannot be reached now: try again later")


def _rejection(response: httpx2.Response) -> DomainError:
    """Return the error for a response: what is wrong with the name, or that the sandbox cannot do it now."""
    try:
        body: Any = msgspec.json.decode(response.content)
    except msgspec.DecodeError:
        body = None
    message = body.get("message") if isinstance(body, dict) else None
    if response.status_code == _ERROR and isinstance(message, str):
        return DomainError(Kind.INVALID, message)
    return _away(f"status {response.status_code}, {message or 'without a message'}")
