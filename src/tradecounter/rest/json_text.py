"""Reading JSON that a client sent: whatever is wrong with it becomes a refusal that says so."""

import re
from typing import TypeVar

import msgspec

from tradecounter.kit.errors import DomainError, Kind
from tradecounter.rest.problems import readable

Struct = TypeVar("Struct", bound=msgspec.Struct)

_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def holds_nul(raw: bytes) -> bool:
    """Tell whether JSON holds a NUL character, as it is or escaped: PostgreSQL's text cannot."""
    return b"\x00" in raw or _ESCAPED_NUL.search(raw) is not None


def check_text(raw: bytes) -> None:
    """Refuse a body that is not UTF-8, or that holds a NUL character, also where nothing reads it."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise DomainError(Kind.INVALID, f"the body is not UTF-8: byte {error.start} cannot be read") from error
    if holds_nul(raw):
        raise DomainError(Kind.INVALID, "the body holds a NUL character: leave it out")


def read_json(raw: bytes | msgspec.Raw, shape: type[Struct], field: str = "") -> Struct:
    """Return JSON as a struct; `field` is where it stands in the body. Raises DomainError (invalid)."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError as error:
        raise DomainError(Kind.INVALID, _placed(readable(error), field)) from error
    except msgspec.DecodeError as error:
        raise DomainError(Kind.INVALID, f"the body is not valid JSON: {error}") from error
    except RecursionError as error:
        raise DomainError(Kind.INVALID, "the body is nested too deeply") from error


def _placed(problem: str, field: str) -> str:
    if not field:
        return problem
    whole = problem.removeprefix("the body ")
    return f"{field}.{problem}" if whole == problem else f"{field}: {whole}"
