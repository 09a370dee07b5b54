"""Writing answers: JSON with amounts as numbers, the general error body."""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from tradecounter.rest.negotiation import JSON

_encoder = msgspec.json.Encoder(decimal_format="number")


class Error(msgspec.Struct):
    """The body of every refusal but 401."""

    message: str


def to_json(value: Any) -> bytes:
    """Return a value as JSON; decimals are numbers and keep their places."""
    return _encoder.encode(value)


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(to_json(value), status, headers, JSON)


def refusal(message: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with the general error body."""
    return answer(Error(message), status, headers)
