"""The 404 response to an unknown path; suggests a similar path."""

import re
from collections.abc import Iterable

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from tradecounter.kit.errors import DomainError, Kind

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


# Whoever has the link can accept the quote, or read the feed.
_SECRETS = re.compile(r"(/quote-link/|^/feed/)[^/]+")


def logged_path(request: Request) -> str:
    """Return a request's path without the secrets of one-time links and feeds."""
    return _SECRETS.sub(r"\1(hidden)", request.scope["path"])
