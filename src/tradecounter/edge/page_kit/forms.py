"""Reads forms into structs, with an error for each field that is not valid.

A repeated group of fields has numbered names: `items-0-quantity` is `items[0].quantity` in the struct and in errors.
An empty field counts as absent. White space around a value is removed. Numbers are read as their types say
(`kit/numbers.py`).
"""

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from types import MappingProxyType
from typing import Any, Generic, TypeVar, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.parameters import FORM_MEDIA_TYPE, form_decoded
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.clock import moment_of
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid_fields
from tradecounter.kit.numbers import UnreadableNumberError, alternatives, number_of
from tradecounter.kit.validation_messages import field_errors_of

Shape = TypeVar("Shape", bound=Struct)

MULTIPART = "multipart/form-data"
MOST_FIELDS = 5_000
MOST_BYTES = 1024 * 1024  # without files
MOST_ROWS = 1_000

_INDEX = re.compile(r"\[(\d+)\]")
_ELEMENT = re.compile(r"(?P<list>\w+)\[(?P<number>\d+)\]\.(?P<field>\w+)")
_TRUE = {"true", "on", "1", "yes"}
_UNREADABLE = object()  # stands for a number that cannot be read; no type accepts it


class Submitted(Struct, frozen=True):
    """A form as it was sent: the values of each field, and its files."""

    values: Mapping[str, Sequence[str]]
    files: Mapping[str, UploadFile] = field(default_factory=dict)

    def one(self, name: str) -> str:
        """Return the last value of a field, stripped; empty without one."""
        values = self.values.get(name)
        return values[-1].strip() if values else ""

    def close(self) -> None:
        """Give the space of the files back."""
        for file in self.files.values():
            file.file.close()


class Filled(Struct, frozen=True):
    """A form to show: what was filled in, and what is wrong. A form that is shown for the first time is empty.

    `labels` are those of the fields that a template has shown so far, for the list of what is wrong; `files` the names
    of the fields whose files were sent: browsers do not keep them.
    """

    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    status: int = 200
    labels: dict[str, str] = field(default_factory=dict)
    files: frozenset[str] = frozenset()

    def named(self, name: str, label: str) -> str:
        """Note a field's label, and return it."""
        self.labels[name] = label
        return label

    def value(self, name: str, default: Any = "") -> str:
        """Return what was filled in; of a form that was not sent yet, the default."""
        values = self.values.get(name)
        if values:
            return values[-1]
        return "" if self.values or default is None else str(default)

    def rows(self, name: str) -> list[int]:
        """Return the numbers of the rows that a group of fields has; none of a form that was not sent yet."""
        return row_numbers(self.values, name)

    def has(self, name: str, value: str, *, default: bool = False) -> bool:
        """Return whether a box or an option was chosen; of a form that was not sent yet, the default."""
        return value in self.values.get(name, ()) if self.values else default

    def error(self, name: str) -> str:
        """Return what is wrong with a field; empty if it is valid."""
        return self.errors.get(name, "")

    @classmethod
    def of(cls, submitted: Submitted, error: DomainError, status: int) -> "Filled":
        """Return a form with an error. Errors of fields that the form does not have are in its message."""
        errors: dict[str, str] = {}
        others = []
        for found in error.field_errors:
            name = form_name(found.field)
            if name not in submitted.values:
                name = name.removesuffix("-id")  # the form has an object's id where JSON has the object
            if name in submitted.values or name in submitted.files:
                errors.setdefault(name, found.message)
            else:
                others.append(str(found))
        if not error.field_errors:
            others.append(error.message)
        return cls(submitted.values, errors, "; ".join(others), status, files=frozenset(submitted.files))

    def with_error(self, error: DomainError, *kinds: Kind) -> "Filled":
        """Return the form of a page's query with an error. Raises it unless it is invalid, or of these kinds."""
        if error.kind not in {Kind.INVALID, *kinds}:
            raise error
        return Filled.of(Submitted(self.values), error, STATUS[error.kind])


def row_numbers(fields: Iterable[str], name: str) -> list[int]:
    """Return the numbers of the rows of a group among the names of fields: 0 for `items-0-sku` of `items`."""
    numbered = re.compile(rf"{re.escape(name)}-(\d{{1,4}})-")
    return sorted({int(found[1]) for field in fields if (found := numbered.match(field))})


def form_name(place: str) -> str:
    """Return the name of a form's field for a place in its struct: `items-0-quantity` for `items[0].quantity`."""
    return _INDEX.sub(r"-\1", place).replace(".", "-")


def in_rows(
    name: str, numbers: Sequence[int], fields: Mapping[str, str] = MappingProxyType({})
) -> Callable[[str], str]:
    """Return how a form names the places of a request that was made of some of its rows, for `named_by`.

    `numbers` are those of the rows that became the list `name`; `fields` are the form's names of an element's fields.
    """

    def place(given: str) -> str:
        found = _ELEMENT.match(given)
        if found is None or found["list"] != name or int(found["number"]) >= len(numbers):
            return given
        own = found["field"]
        return f"{name}[{numbers[int(found['number'])]}].{fields.get(own, own)}"

    return place


@contextmanager
def without_copies(copy: str, original: str, *, copied: bool) -> Iterator[None]:
    """Run a block; where a part of the request was `copied`, leave the errors of the copy out of its DomainError."""
    try:
        yield
    except DomainError as error:
        if not copied or not error.field_errors:
            raise
        own = [found for found in error.field_errors if not found.field.startswith(copy)]
        if not own:
            raise invalid_fields([replace(error.field_errors[0], field=original)]) from error
        raise DomainError(error.kind, "; ".join(map(str, own)), field_errors=own) from error


@contextmanager
def listed_apart(found: list[FieldError]) -> Iterator[None]:
    """Run a block; move the field errors of its DomainError to `found`, for a page that lists them by itself."""
    try:
        yield
    except DomainError as error:
        if not error.field_errors:
            raise
        found.extend(error.field_errors)
        raise DomainError(error.kind, error.message, code=error.code) from error


async def read_submitted(call: Call, *, most_bytes: int = MOST_BYTES, most_files: int = 0) -> Submitted:
    """Return a form. Raises DomainError: invalid, too large, unsupported media."""
    media_type = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == MULTIPART:
        return await _multipart(call, most_bytes, most_files)
    if media_type != FORM_MEDIA_TYPE:
        message = f"Content-Type: must be {FORM_MEDIA_TYPE} or {MULTIPART}, not {media_type[:100]}"
        raise DomainError(Kind.UNSUPPORTED_MEDIA, message)
    raw = bytearray()
    async for chunk in _bounded(call, most_bytes):
        raw += chunk
    if raw.count(b"&") >= MOST_FIELDS:
        raise DomainError(Kind.TOO_LARGE, f"the form has more than {MOST_FIELDS} fields")
    values: dict[str, list[str]] = {}
    for part in bytes(raw).split(b"&"):
        if part:
            name, _, value = part.partition(b"=")
            values.setdefault(form_decoded(name), []).append(_newlines(form_decoded(value)))
    return Submitted(values)


def query_values(raw_query: str) -> dict[str, list[str]]:
    """Return the fields of a form that was sent as a query."""
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(raw_query, keep_blank_values=True, errors="replace"):
        values.setdefault(name, []).append(value)
    return values


async def _multipart(call: Call, most_bytes: int, most_files: int) -> Submitted:
    parser = _WholeForms(call.request.headers["content-type"], _bounded(call, most_bytes), most_files)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise DomainError(Kind.INVALID, f"the form cannot be read: {error.message.rstrip('.')}") from error
    try:
        return _submitted(form)
    except DomainError:
        await form.close()
        raise


class _WholeForms(MultiPartParser):
    """Reads forms in parts; rejects one without its end, whose last part may be incomplete and its file still open."""

    def __init__(self, content_type: str, stream: AsyncGenerator[bytes, None], most_files: int) -> None:
        # As Latin-1 every byte is readable, whatever encoding the client names; then `_text` reads UTF-8.
        headers = Headers({"content-type": f"{content_type}; charset=latin-1"})
        super().__init__(
            headers, self._whole(stream), max_files=most_files, max_fields=MOST_FIELDS, max_part_size=MOST_BYTES
        )
        self._has_ended = False

    def on_end(self) -> None:
        """Note the last boundary; the parser calls this."""
        self._has_ended = True

    async def _whole(self, stream: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async for chunk in stream:
            yield chunk
        if not self._has_ended:
            raise MultiPartException("its end is missing")


def _submitted(form: FormData) -> Submitted:
    values: dict[str, list[str]] = {}
    files: dict[str, UploadFile] = {}
    for raw_name, value in form.multi_items():
        name = _text(raw_name)
        if not isinstance(value, UploadFile):
            values.setdefault(name, []).append(_newlines(_text(value)))
        elif value.filename and name not in files:
            value.filename = _text(value.filename)
            files[name] = value
        else:  # no file was chosen, or a second one
            value.file.close()
    return Submitted(values, files)


def _text(latin: str) -> str:
    """Return the UTF-8 text whose bytes were read as Latin-1. Raises DomainError (invalid)."""
    try:
        text = latin.encode("latin-1").decode()
    except ValueError as error:
        raise DomainError(Kind.INVALID, "the form is not UTF-8") from error
    if "\x00" in text:
        raise DomainError(Kind.INVALID, "the form contains a NUL character: leave it out")
    return text


async def _bounded(call: Call, most_bytes: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in call.request.stream():
        size += len(chunk)
        if size > most_bytes:
            raise DomainError(Kind.TOO_LARGE, f"the form is longer than {most_bytes} bytes")
        yield chunk


def _newlines(value: str) -> str:
    return value.replace("\r\n", "\n")


class _Reading(Struct, Generic[Shape]):
    """Reads a form into a struct.

    Attributes:
        submitted: the form.
        rows: the numbers of the rows of each group, in their order.
        unreadable: why the number of a field cannot be read, by the field's name in the form.
    """

    submitted: Submitted
    rows: dict[str, list[int]] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    def struct(self, shape: type[Struct], prefix: str = "") -> dict[str, Any]:
        members = {}
        for member in msgspec.structs.fields(shape):
            value = self._member(member.type, prefix + member.encode_name)
            if value is not None:
                members[member.encode_name] = value
        return members

    def _member(self, annotation: Any, name: str) -> Any:
        options = alternatives(annotation)
        listed = next((option for option in options if get_origin(option) is list), None)
        if listed is not None:
            [element] = get_args(listed)
            shapes = [o for o in alternatives(element) if isinstance(o, type) and issubclass(o, Struct)]
            if shapes:
                return self._rows(shapes[0], name)
            values = [value.strip() for value in self.submitted.values.get(name, ())]
            return [self._value(element, alternatives(element), name, value) for value in values if value]
        if shapes := [o for o in options if isinstance(o, type) and issubclass(o, Struct)]:
            return self.struct(shapes[0], f"{name}-") or None
        value = self.submitted.one(name)
        return None if value == "" else self._value(annotation, options, name, value)

    def _value(self, annotation: Any, options: Sequence[Any], name: str, value: str) -> Any:
        """Return a value in the form that msgspec reads."""
        if bool in options:
            return value.lower() in _TRUE
        if (number := number_of(annotation)) is not None:
            try:
                return number.read(value)
            except UnreadableNumberError as error:
                self.unreadable[name] = str(error)
                return _UNREADABLE
        if datetime in options and date not in options:
            try:
                return moment_of(value if value.count(":") > 1 else f"{value}:00")
            except ValueError:
                return value
        return value

    def _rows(self, shape: type[Struct], name: str) -> list[dict[str, Any]]:
        numbers = row_numbers(self.submitted.values, name)
        if len(numbers) > MOST_ROWS:
            raise DomainError(Kind.TOO_LARGE, f"{name}: there are more than {MOST_ROWS} rows")
        rows = [(number, self.struct(shape, f"{name}-{number}-")) for number in numbers]
        filled = [(number, row) for number, row in rows if row]
        self.rows[name] = [number for number, _ in filled]
        return [row for _, row in filled]

    def worded(self, errors: Iterable[FieldError]) -> Iterator[FieldError]:
        """Yield errors for people, with the places and the reasons that the form has for them."""
        for error in self.renumbered(errors):
            reason = self.unreadable.get(form_name(error.field))
            yield replace(error, message=_for_people(error.message) if reason is None else reason)

    def renumbered(self, errors: Iterable[FieldError]) -> Iterator[FieldError]:
        """Yield errors with the numbers that the rows have in the form."""
        for error in errors:
            name = error.field.partition("[")[0]
            found = _INDEX.search(error.field)
            numbers = self.rows.get(name)
            if found is None or numbers is None or int(found[1]) >= len(numbers):
                yield error
            else:
                place = error.field.replace(found[0], f"[{numbers[int(found[1])]}]", 1)
                yield replace(error, field=place)


def _for_people(message: str) -> str:
    """Return a message without what is true of JSON only: forms have no null, and all their values are texts."""
    return message.replace(" or null", "").replace(", not text", "")


def parse_form(submitted: Submitted, shape: type[Shape]) -> Shape:
    """Return a form as a struct. Raises DomainError (invalid), which names all invalid fields.

    A time without an offset, such as a browser sends, is UK local time.
    """
    reading: _Reading[Shape] = _Reading(submitted)
    members = reading.struct(shape)
    errors = list(reading.worded(field_errors_of(members, shape)))
    if not errors:
        try:
            return msgspec.convert(members, shape)
        except msgspec.ValidationError as error:
            raise DomainError(Kind.INVALID, str(error)) from error
    message = "; ".join(map(str, errors[:20]))
    raise DomainError(Kind.INVALID, message, field_errors=errors)


def renumbered(error: DomainError, submitted: Submitted, shape: type[Struct]) -> DomainError:
    """Return an error that a parsed form caused, with the numbers that the rows have in the form.

    Rows without values are left out of the struct, so its rows may have other numbers.
    """
    if not error.field_errors:
        return error
    reading: _Reading[Struct] = _Reading(submitted)
    reading.struct(shape)
    errors = list(reading.renumbered(error.field_errors))
    return DomainError(error.kind, error.message, code=error.code, field_errors=errors)
