"""Reads JSON from clients, and reports all its errors; writes JSON, with amounts as numbers."""

import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from tradecounter.kit.errors import DomainError, ErrorCollector, FieldError, Kind, invalid_fields
from tradecounter.kit.numbers import EXACT
from tradecounter.kit.validation_messages import decimal_errors, field_error_of, field_errors_of, may_hold_decimals

Shape = TypeVar("Shape", bound=msgspec.Struct)

_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

_LONGEST_INTEGER = 40  # digits; a number with more stays a decimal


def contains_nul(raw: bytes) -> bool:
    """Return whether JSON contains a NUL character, also escaped, which PostgreSQL cannot store."""
    # For a body without NUL, this check is ten times faster than the pattern.
    return b"\x00" in raw or (b"\\u0000" in raw and _ESCAPED_NUL.search(raw) is not None)


def check_text(raw: bytes) -> None:
    """Raise DomainError (invalid) if a body is not UTF-8 or contains a NUL character, also in ignored fields."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise DomainError(Kind.INVALID, f"the body is not UTF-8: byte {error.start} cannot be read") from error
    if contains_nul(raw):
        raise DomainError(Kind.INVALID, "the body contains a NUL character: leave it out")


def read_json(raw: bytes | msgspec.Raw, shape: type[Shape], field: str = "") -> Shape:
    """Return JSON as a struct; `field` is its place in the body. Raises DomainError (invalid) with all errors."""
    read = _decoded(raw, shape, field)
    if may_hold_decimals(bytes(raw), shape):
        collector = ErrorCollector()
        with suppress(DomainError):  # a number has thousands of digits: whoever uses it rejects it
            collector.errors += decimal_errors(decode_json(raw), shape, field)
        collector.check()
    return read


def _decoded(raw: bytes | msgspec.Raw, shape: type[Shape], field: str) -> Shape:
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError as error:
        return _read_leniently(raw, shape, field, error)
    except _WRONG as error:
        raise _body_error(error, field) from error


def _read_leniently(raw: bytes | msgspec.Raw, shape: type[Shape], field: str, first: msgspec.ValidationError) -> Shape:
    """Return JSON as a struct in which `1.0` is a whole number. Raises DomainError (invalid) with all errors."""
    try:
        value = _by_value.decode(raw)
        canonical = _canonical.encode(value)
    except (
        msgspec.ValidationError,
        DomainError,
        OverflowError,
    ):  # a number is too large; only `first` has its place
        raise _body_error(first, field) from first
    except _WRONG as error:  # the typed decoder stopped at a wrong value before the syntax error
        raise _body_error(error, field) from error
    try:
        return msgspec.json.decode(canonical, type=shape)
    except msgspec.ValidationError as error:
        errors = list(field_errors_of(value, shape, field))
        raise (invalid_fields(errors) if errors else _body_error(error, field)) from error


def decode_json(raw: bytes | msgspec.Raw) -> Any:
    """Return any JSON as plain values; `1.0` and `1e0` are 1. Raises DomainError (invalid).

    All JSON from outside is decoded here or by `read_json`: decoders raise several kinds of errors for odd data.
    """
    try:
        return _by_value.decode(raw)
    except _WRONG as error:
        raise _body_error(error) from error


def canonical_json(raw: bytes) -> bytes:
    """Return JSON in its canonical form. Raises DomainError (invalid).

    White space, the order of keys, escapes in strings and the spelling of numbers do not matter: `1.0` and `1e0` are 1.
    The last of repeated keys counts, as in all decoders.
    """
    return _canonical.encode(decode_json(raw))


def _number(text: str) -> int | Decimal:
    try:
        value = Decimal(text).normalize(EXACT)
    except ArithmeticError as error:
        raise DomainError(Kind.INVALID, f"the body contains a number that is out of range: {text[:40]}") from error
    is_whole = value == value.to_integral_value() if value.adjusted() < _LONGEST_INTEGER else False
    return int(value) if is_whole else value


_by_value = msgspec.json.Decoder(float_hook=_number)
_canonical = msgspec.json.Encoder(order="deterministic", decimal_format="number")


_ANYWHERE = "$[...]`"
_WRONG = (msgspec.DecodeError, RecursionError)


def _body_error(error: Exception, field: str = "") -> DomainError:
    if isinstance(error, msgspec.ValidationError):
        if str(error).endswith(_ANYWHERE):  # of data that has no type
            return DomainError(Kind.INVALID, str(FieldError(field, "contains a number that is out of range")))
        return DomainError(Kind.INVALID, str(field_error_of(error, field)))
    if isinstance(error, RecursionError):
        return DomainError(Kind.INVALID, "the body is nested too deeply")
    return DomainError(Kind.INVALID, f"the body is not valid JSON: {error}")


_encoder = msgspec.json.Encoder(decimal_format="number")
_sorting_encoder = msgspec.json.Encoder(decimal_format="number", order="deterministic")


def to_json(value: Any) -> bytes:
    """Return a value as JSON; decimals become numbers with all their decimal places."""
    return _encoder.encode(value)


def to_json_lines(values: Sequence[Any], *, sort_keys: bool = False) -> list[bytes]:
    """Return each value as JSON, as `to_json` does; much faster than a call for each."""
    encoder = _sorting_encoder if sort_keys else _encoder
    return encoder.encode_lines(values).split(b"\n")[:-1]  # within JSON, the encoder writes no line ends
