"""Hints for customers' programs: the 404 response suggests a similar path, and messages name routes."""

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace
from starlette.types import ASGIApp, Receive, Scope, Send

from tradecounter.kit.errors import DomainError, FieldError, Kind

_PARAMETER = re.compile(r"\{\w+(:path)?\}")
_LONGEST_NAMED = 200


def unknown_address(paths: Iterable[str]) -> ASGIApp:
    """Return an application that responds to every request with 404; `paths` are the known paths."""
    templates = [path.strip("/").split("/") for path in paths]

    async def not_found(scope: Scope, _receive: Receive, _send: Send) -> None:
        path = scope["path"]
        meant = next((found for template in templates if (found := _meant(path, template)) is not None), None)
        if meant is None or len(path) > _LONGEST_NAMED:
            raise DomainError(Kind.NOT_FOUND, "unknown path")
        raise DomainError(Kind.NOT_FOUND, f"unknown path {path}; did you mean {meant}?")

    return not_found


def _meant(path: str, template: list[str]) -> str | None:
    """Return the known path that differs only in a slash, a suffix or case, or None."""
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) != len(template) or not path.isprintable():
        return None
    meant = [_meant_segment(segment, wanted) for segment, wanted in zip(segments, template, strict=True)]
    return None if None in meant else "/" + "/".join(filter(None, meant))


def _meant_segment(segment: str, wanted: str) -> str | None:
    if _PARAMETER.fullmatch(wanted):
        return segment
    plurals = {wanted + "s", wanted + "es", wanted.removesuffix("y") + "ies"}
    return wanted if segment.lower() in {wanted, *plurals} else None


_OF_STAFF = "/api/"
_MORE = {
    "request a quote instead": " (POST /quote)",
    "is not one of your addresses": "; GET /customer/address lists them",
    "is not an attribute": "; GET /attribute lists them",
}


def with_routes(path: str, message: str, errors: Sequence[FieldError]) -> tuple[str, Sequence[FieldError]]:
    """Return the message of an error response; for requests of customers, with the routes that help."""
    if path.startswith(_OF_STAFF) or not any(phrase in message for phrase in _MORE):
        return message, errors
    return _routed(message), [replace(error, message=_routed(error.message)) for error in errors]


def _routed(message: str) -> str:
    for phrase, more in _MORE.items():
        message = message.replace(phrase, phrase + more)
    return message
