"""Checks and corrects a request's head before the application receives it."""

import string
from collections.abc import Iterable

import httptools

from tradecounter.edge.rest.responses import Header
from tradecounter.edge.server.connection.error_responses import RejectedError

_LONGEST_HOST = 255
_NO_HOST = bytes(_LONGEST_HOST + 1)
_UPGRADING = {b"upgrade", b"http2-settings"}

METHOD_BYTES = b"!#$%&'*+-.^_`|~" + (string.digits + string.ascii_letters).encode()  # RFC 9110, section 5.6.2
LONGEST_METHOD = 40  # bytes; the longest registered one has 17
PLACEHOLDER_METHOD = b"PATCH"  # no resource supports it


def is_method_error(error: httptools.HttpParserError) -> bool:
    """Return whether the parser rejected a method as unknown or as part of another protocol."""
    return isinstance(error, httptools.HttpParserInvalidMethodError) or str(error).startswith("Invalid method")


def check_head(headers: list[Header], parser: httptools.HttpRequestParser) -> None:
    """Check `Host` and `Transfer-Encoding`. Raises RejectedError."""
    found = dict(headers)
    if (
        len(found) == len(headers)
        and b"transfer-encoding" not in found
        and len(found.get(b"host", _NO_HOST)) <= _LONGEST_HOST
    ):
        return  # most requests
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) != 1 and (hosts or parser.get_http_version() == "1.1"):
        raise RejectedError("400 Bad Request", "Host: must be given exactly once")
    if hosts and len(hosts[0]) > _LONGEST_HOST:
        raise RejectedError("400 Bad Request", f"Host: must be at most {_LONGEST_HOST} bytes long")
    codings = b",".join(value for name, value in headers if name == b"transfer-encoding")
    if codings and any(coding.strip().lower() != b"chunked" for coding in codings.split(b",")):
        raise RejectedError("501 Not Implemented", "Transfer-Encoding: only chunked is supported")


def with_path(url: bytes) -> bytes:
    """Return a target with its path, `/` by default (RFC 9112, section 3.2.1). Raises httptools.HttpParserError."""
    parsed = httptools.parse_url(url)
    return url if parsed.path else b"/" + (b"?" + parsed.query if parsed.query else b"")


def head_without_upgrade(method: bytes, url: bytes, version: str, headers: Iterable[Header]) -> bytes:
    """Return a request's head without its upgrade offer."""
    lines = [method, b" ", url, b" HTTP/", version.encode(), b"\r\n"]
    for name, value in headers:
        if name == b"connection":
            options = [option for option in value.split(b",") if option.strip().lower() not in _UPGRADING]
            lines += [name, b": ", b", ".join(options), b"\r\n"]
        elif name not in _UPGRADING:
            lines += [name, b": ", value, b"\r\n"]
    return b"".join([*lines, b"\r\n"])
