"""Sends requests, and again where that can help: after lost responses, limits and faults that pass."""

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec
import urllib3

from tradecounter_client.base import from_json
from tradecounter_client.errors import InvalidResponse, NoResponse, error_of

Made = TypeVar("Made")

_OK = range(200, 300)
_NO_CONTENT = 204
_NOT_FOUND = 404
_LIMITED = 429
_BUSY = 409  # with Retry-After: a request with the same idempotency key is being processed
_FAULTS = frozenset((500, 502, 503, 504))
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_SECONDS = re.compile("[0-9]{1,9}")
_SENDABLE = re.compile("[ -~]*")


@dataclass(frozen=True, slots=True)
class Response:
    """A response as received."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def retry_after(self) -> float | None:
        """Seconds, if the service says when another attempt makes sense."""
        text = self.headers.get("Retry-After", "")
        return float(text) if _SECONDS.fullmatch(text) else None

    def checked(self) -> "Response":
        """The same response; raises the ApiError that it is."""
        if self.status in _OK:
            return self
        raise error_of(self.status, self.body, self.headers.get("X-Request-Id"), self.retry_after)

    def made(self, kind: type[Made]) -> Made:
        """What its JSON is; raises InvalidResponse."""
        try:
            return from_json(self.body, kind)
        except msgspec.MsgspecError as error:
            raise InvalidResponse(str(error)) from error


class Transport:
    """Connections to one service, for any number of threads."""

    def __init__(self, base_url: str, *, timeout: float, attempts: int, patience: float) -> None:
        self._base_url, self._timeout = base_url.rstrip("/"), timeout
        self._attempts, self._patience = attempts, patience
        parts = urlsplit(base_url)
        proxy = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
        self._pool = _through(proxy) if proxy else urllib3.PoolManager(maxsize=10)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        repeatable: bool,
        extra_time: float = 0,
    ) -> Response:
        """The last response, whatever its status; raises NoResponse, and ValueError for a header that cannot be sent.

        A request that is not repeatable is sent again only where it had no effect. What is not found when it is to be
        deleted again has been deleted. `extra_time` is added to the timeout, in seconds, for requests that wait in the
        service.
        """
        for name, value in headers.items():
            if not _SENDABLE.fullmatch(value):
                raise ValueError(f"{name} has a character that is not printable ASCII")
        ends = time.monotonic() + self._patience
        attempt, was_lost = 1, False
        while True:
            found = self._try(method, path, headers, body, extra_time)
            wait = _wait(found, attempt, repeatable=repeatable)
            if wait is None or attempt == self._attempts or time.monotonic() + wait > ends:
                if isinstance(found, Response):
                    is_deleted = method == "DELETE" and was_lost and found.status == _NOT_FOUND
                    return replace(found, status=_NO_CONTENT) if is_deleted else found
                raise NoResponse(f"{method} {path}: {found}") from found
            was_lost = was_lost or not isinstance(found, Response) or found.status in _FAULTS
            time.sleep(wait)
            attempt += 1

    def _try(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, extra_time: float
    ) -> Response | urllib3.exceptions.HTTPError:
        timeout = urllib3.Timeout(connect=min(self._timeout, 10.0), read=self._timeout + extra_time)
        try:
            found = self._pool.request(
                method,
                self._base_url + path,
                body=body,
                headers={"Accept-Encoding": "gzip", **headers},
                timeout=timeout,
                retries=False,
                redirect=False,
            )
        except urllib3.exceptions.HTTPError as error:
            return error
        return Response(found.status, found.headers, found.data)


def _through(proxy: str) -> urllib3.ProxyManager:
    """Connections through a proxy, such as http://user:password@proxy.example:3128."""
    address = proxy if "://" in proxy else f"http://{proxy}"
    parts = urlsplit(address)
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
    return urllib3.ProxyManager(address, proxy_headers=urllib3.make_headers(proxy_basic_auth=pair), maxsize=10)


def _wait(found: Response | Exception, attempt: int, *, repeatable: bool) -> float | None:
    """Seconds until the next attempt; None where it is of no use."""
    backoff: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1)) * random.uniform(0.5, 1)  # noqa: S311 spreads clients
    if not isinstance(found, Response):
        unsent = isinstance(found, urllib3.exceptions.NewConnectionError | urllib3.exceptions.ConnectTimeoutError)
        return backoff if repeatable or unsent else None
    passing = (
        found.status == _LIMITED
        or (found.status in _FAULTS and repeatable)
        or (found.status == _BUSY and found.retry_after is not None)
    )
    if not passing:
        return None
    return backoff if found.retry_after is None else found.retry_after + backoff / 4
