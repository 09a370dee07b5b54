"""Reads the fields and files of a form from a request."""

import hashlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from urllib.parse import parse_qsl

from msgspec import Struct, field
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.parameters import FORM_MEDIA_TYPE, form_decoded
from tradecounter.kit.errors import DomainError, Kind

MULTIPART = "multipart/form-data"
MOST_FIELDS = 5_000
MOST_BYTES = 1024 * 1024  # without files
_PART = 1024 * 1024  # bytes of a file in memory


class Submitted(Struct, frozen=True):
    """A form as it was sent: the values of each field, and the files."""

    values: Mapping[str, Sequence[str]]
    files: Mapping[str, UploadFile] = field(default_factory=dict)

    def one(self, name: str) -> str:
        """Return the last value of a field, stripped; empty if it has none."""
        values = self.values.get(name)
        return values[-1].strip() if values else ""

    def digests(self) -> list[tuple[str, str | None, bytes]]:
        """Return the name of each file's field, its own, and the hash of its content, which is read for it."""
        found = []
        for name, upload in sorted(self.files.items()):
            digest = hashlib.sha256()
            upload.file.seek(0)
            while part := upload.file.read(_PART):
                digest.update(part)
            upload.file.seek(0)
            found.append((name, upload.filename, digest.digest()))
        return found

    def close(self) -> None:
        """Free the space of the files."""
        for file in self.files.values():
            file.file.close()


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
    """Reads forms in parts. Rejects a form without its end: its last part may be incomplete, its file still open."""

    def __init__(self, content_type: str, stream: AsyncGenerator[bytes, None], most_files: int) -> None:
        # As Latin-1 every byte is readable, whatever encoding the client names; then `_text` reads UTF-8.
        headers = Headers({"content-type": f"{content_type}; charset=latin-1"})
        super().__init__(
            headers, self._whole(stream), max_files=most_files, max_fields=MOST_FIELDS, max_part_size=MOST_BYTES
        )
        self._has_ended = False

    def on_end(self) -> None:
        """Record the last boundary; the parser calls this."""
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
            values.setdefault(name, [])  # beside which its error stands
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
