"""Creates JSON responses, files, and error responses with the status of their kind."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from tradecounter.edge.rest.negotiation import JSON
from tradecounter.kit.error_codes import Code
from tradecounter.kit.errors import MOST_FIELD_ERRORS, USUAL_CODE, FieldError, Kind
from tradecounter.kit.json_text import to_json

Header = tuple[bytes, bytes]


class Error(msgspec.Struct):
    """What is wrong, and how to correct it. Every error but 401 has this body."""

    message: Annotated[str, msgspec.Meta(description="Everything that is wrong, as one sentence to display.")]
    code: Annotated[Code, msgspec.Meta(description="Why the request is rejected, for programs.")]
    errors: Annotated[
        list[FieldError] | msgspec.UnsetType,
        msgspec.Meta(description="Each field that is not valid; `message` says the same."),
    ] = msgspec.UNSET


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(to_json(value), status, headers, JSON)


def file_response(content: bytes | str, name: str, media_type: str) -> Response:
    """Return a file, which browsers save under a name."""
    return Response(content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def error_response(
    message: str,
    code: Code,
    status: int,
    headers: Mapping[str, str] | None = None,
    field_errors: Sequence[FieldError] = (),
) -> Response:
    """Return a response with the general error body."""
    errors = [error for error in field_errors[:MOST_FIELD_ERRORS] if error.field]
    return json_response(Error(message, code, errors or msgspec.UNSET), status, headers)


STATUS = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.PAYMENT_REQUIRED: 402,
    Kind.BLOCKED: 403,
    Kind.FORBIDDEN: 403,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.GONE: 410,
    Kind.PRECONDITION_FAILED: 412,
    Kind.TOO_LARGE: 413,
    Kind.QUERY_TOO_LONG: 414,
    Kind.UNSUPPORTED_MEDIA: 415,
    Kind.TOO_MANY_REQUESTS: 429,
    Kind.UNAVAILABLE: 503,
}

USUAL_CODES = {STATUS[kind]: code for kind, code in USUAL_CODE.items() if kind is not Kind.FORBIDDEN} | {
    500: Code.INTERNAL_ERROR
}
