"""Reads rows strictly from JSON Lines files and JSON arrays."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Raw

from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.row_errors import bad_row
from tradecounter.bulk.rows import BadRow, Row, Shape
from tradecounter.rest.validation_messages import field_error_of

_exact = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)


def json_line_rows(lines: Iterable[bytes], shape: type[Shape]) -> Iterator[Row[Shape] | BadRow[Shape]]:
    """Yield each line's object; blank lines are skipped."""
    decoder = msgspec.json.Decoder(shape)
    for number, text in json_line_texts(lines):
        yield _decoded(number, text, decoder)


def json_array_rows(text: bytes, shape: type[Shape]) -> Iterator[Row[Shape] | BadRow[Shape]]:
    """Yield an array's objects, numbered from 1. Raises UnreadableFileError."""
    decoder = msgspec.json.Decoder(shape)
    for number, element in json_array_texts(text):
        yield _decoded(number, element, decoder)


def json_line_texts(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers."""
    return ((number, text) for number, text in enumerate(lines, start=1) if not text.isspace())


def json_array_texts(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield an array's elements as they are written, numbered from 1. Raises UnreadableFileError."""
    try:
        elements = msgspec.json.decode(text, type=list[Raw])
    except msgspec.DecodeError as error:
        raise UnreadableFileError(f"not a JSON array: {error}") from error
    except RecursionError as error:
        raise UnreadableFileError("not a JSON array: nested too deeply") from error
    return ((number, bytes(element)) for number, element in enumerate(elements, start=1))


def _decoded(number: int, text: bytes, decoder: msgspec.json.Decoder[Shape]) -> Row[Shape] | BadRow[Shape]:
    try:
        return Row(number, decoder.decode(text))
    except msgspec.ValidationError as error:
        return _bad_row(number, text, decoder.type, error)
    except msgspec.DecodeError as error:
        return BadRow(number, (f"not a JSON object: {error}",))
    except RecursionError:
        return BadRow(number, ("not a JSON object: nested too deeply",))


def _bad_row(number: int, text: bytes, shape: type[Shape], error: msgspec.ValidationError) -> BadRow[Shape]:
    try:
        members = _exact.decode(text)
    except (msgspec.DecodeError, RecursionError):  # not an object, or malformed after the first error
        return BadRow(number, (str(field_error_of(error)).replace("the body ", "the row ", 1),))
    return bad_row(number, members, shape, strict=True)
