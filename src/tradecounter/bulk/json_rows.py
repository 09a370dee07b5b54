"""Reads rows strictly from JSON Lines files and JSON arrays.

A decimal may be in quotes, as programs write it: `"12.50"`.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Generic

import msgspec
from msgspec import UNSET, Raw

from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.rows import BadRow, Row, Shape, bad_row
from tradecounter.kit.errors import DomainError, FieldError, invalid
from tradecounter.kit.json_text import decode_json
from tradecounter.kit.numbers import UnreadableNumberError, alternatives, read_decimal
from tradecounter.kit.validation_messages import field_error_of


def json_rows(texts: Iterable[tuple[int, bytes]], shape: type[Shape]) -> Iterator[Row[Shape] | BadRow[Shape]]:
    """Yield numbered objects, as they are written, as rows."""
    reader = _RowReader(shape)
    for number, text in texts:
        yield reader.row(number, text)


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


class _RowReader(Generic[Shape]):
    """Reads JSON objects as rows."""

    def __init__(self, shape: type[Shape]) -> None:
        self._shape = shape
        self._decoder = msgspec.json.Decoder(shape)
        self._decimals = [
            field.encode_name for field in msgspec.structs.fields(shape) if Decimal in alternatives(field.type)
        ]
        members: list[tuple[str, Any, Any]] = [(name, Any, UNSET) for name in self._decimals]
        self._amounts = msgspec.json.Decoder(msgspec.defstruct("Amounts", members))

    def row(self, number: int, text: bytes) -> Row[Shape] | BadRow[Shape]:
        """Return an object as a row."""
        try:
            row = Row(number, self._decoder.decode(text))
            amounts = self._amounts.decode(text) if self._decimals else None
        except msgspec.ValidationError as error:
            return self._bad_row(number, text, error)
        except msgspec.DecodeError as error:
            return BadRow(number, (FieldError("", f"not a JSON object: {error}"),))
        except RecursionError:
            return BadRow(number, (FieldError("", "not a JSON object: nested too deeply"),))
        # The decoder takes decimals from strings as Python does: `1_0` too.
        if any(isinstance(getattr(amounts, name), str) for name in self._decimals):
            return self._quoted(number, text)
        return row

    def _bad_row(self, number: int, text: bytes, error: msgspec.ValidationError) -> Row[Shape] | BadRow[Shape]:
        try:
            return self._quoted(number, text)
        except DomainError:  # not an object, or malformed after the first error
            found = field_error_of(error)
            return BadRow(number, (found if found.field else FieldError("", f"the row {found.message}"),))

    def _quoted(self, number: int, text: bytes) -> Row[Shape] | BadRow[Shape]:
        members = decode_json(text)
        unreadable = {}
        if not isinstance(members, dict):
            raise invalid("", "must be an object")
        for name in self._decimals:
            if isinstance(quoted := members.get(name), str):
                try:
                    members[name] = read_decimal(quoted, signed=True, commas=False)
                except UnreadableNumberError as error:
                    unreadable[name] = str(error)
        try:
            if not unreadable:
                return Row(number, msgspec.convert(members, self._shape))
        except msgspec.ValidationError:
            pass
        return bad_row(number, members, self._shape, unreadable)
