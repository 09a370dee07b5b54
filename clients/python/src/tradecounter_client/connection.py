"""Requests with credentials, whose responses become models."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from tradecounter_client.base import to_json
from tradecounter_client.credentials import Credentials
from tradecounter_client.transport import Response, Transport

Made = TypeVar("Made")
Parameter = str | int | bool | Sequence[str] | None

_JSON = "application/json"
_UNAUTHORIZED = 401


class Connection:
    """A service, and for whom it is asked."""

    def __init__(self, transport: Transport, credentials: Credentials) -> None:
        self.transport, self._credentials = transport, credentials

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        accept: str = _JSON,
        idempotency_key: str | None = None,
        repeatable: bool = True,
        extra_time: float = 0,
    ) -> Response:
        """A successful response; raises ApiError and NoResponse. A rejected token is renewed once."""
        sent = None if body is None else to_json(body)
        headers = {"Accept": accept}
        if sent is not None:
            headers["Content-Type"] = _JSON
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key

        def attempt() -> Response:
            given = {**headers, **self._credentials.headers(self.transport)}
            return self.transport.send(method, path, given, sent, repeatable=repeatable, extra_time=extra_time)

        response = attempt()
        if response.status == _UNAUTHORIZED and self._credentials.renew():
            response = attempt()
        return response.checked()

    def send(
        self,
        method: str,
        path: str,
        kind: type[Made],
        body: Any,
        *,
        idempotency_key: str | None = None,
        repeatable: bool = True,
    ) -> Made:
        """What the service makes of a body."""
        response = self.request(method, path, body, idempotency_key=idempotency_key, repeatable=repeatable)
        return response.made(kind)

    def get(
        self, path: str, kind: type[Made], parameters: Mapping[str, Parameter] | None = None, *, extra_time: float = 0
    ) -> Made:
        return self.read(path, kind, parameters, extra_time=extra_time)[0]

    def read(
        self, path: str, kind: type[Made], parameters: Mapping[str, Parameter] | None = None, *, extra_time: float = 0
    ) -> tuple[Made, Response]:
        """A value and the response that it came with."""
        response = self.request("GET", path + _query(parameters or {}), extra_time=extra_time)
        return response.made(kind), response


def _query(parameters: Mapping[str, Parameter]) -> str:
    given = {name: value for name, value in parameters.items() if value is not None and value != ()}
    return "?" + "&".join(f"{quote(name)}={_text(value)}" for name, value in given.items()) if given else ""


def _text(value: Parameter) -> str:
    """A value as it stands in a query. The service splits lists at commas before it decodes their values."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str | int):
        return quote(str(value), safe="")
    return ",".join(quote(each, safe="") for each in value)
