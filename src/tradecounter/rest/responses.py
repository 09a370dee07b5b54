"""Creates JSON responses, with amounts as numbers, files, and error responses."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from tradecounter.kit.errors import MOST_FIELD_ERRORS, FieldError
from tradecounter.rest.negotiation import JSON

Header = tuple[bytes, bytes]

_encoder = msgspec.json.Encoder(decimal_format="number")
_sorting_encoder = msgspec.json.Encoder(decimal_format="number", order="deterministic")


class Error(msgspec.Struct):
    """What is wrong, and how to correct it. Every error but 401 has this body."""

    message: Annotated[str, msgspec.Meta(description="Everything that is wrong, as one sentence to display.")]
    errors: Annotated[
        list[FieldError] | msgspec.UnsetType,
        msgspec.Meta(description="Each field that is not valid; `message` says the same."),
    ] = msgspec.UNSET


def to_json(value: Any) -> bytes:
    """Return a value as JSON; decimals become numbers with all their decimal places."""
    return _encoder.encode(value)


def to_json_lines(values: Sequence[Any], *, sort_keys: bool = False) -> list[bytes]:
    """Return each value as JSON, as `to_json` does; much faster than a call for each."""
    encoder = _sorting_encoder if sort_keys else _encoder
    return encoder.encode_lines(values).split(b"\n")[:-1]  # within JSON, the encoder writes no line ends


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(to_json(value), status, headers, JSON)


def file_response(content: bytes | str, name: str, media_type: str) -> Response:
    """Return a file, which browsers save under a name."""
    return Response(content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def error_response(
    message: str, status: int, headers: Mapping[str, str] | None = None, field_errors: Sequence[FieldError] = ()
) -> Response:
    """Return a response with the general error body."""
    errors = [error for error in field_errors[:MOST_FIELD_ERRORS] if error.field]
    return json_response(Error(message, errors or msgspec.UNSET), status, headers)
