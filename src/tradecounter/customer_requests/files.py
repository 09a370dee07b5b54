"""The files of requests: pictures and PDF files, recognised by what is in them."""

import re
from collections.abc import Mapping
from pathlib import PurePath

from msgspec import Struct

from tradecounter.kit.errors import invalid

MOST_BYTES = 5 * 1024 * 1024  # of a file
FIELDS = ("file_one", "file_two", "file_three")  # of the form
ACCEPTED = ".jpg,.jpeg,.png,.webp,.pdf,image/jpeg,image/png,image/webp,application/pdf"

_SIGNATURES: Mapping[str, re.Pattern[bytes]] = {
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "application/pdf": re.compile(rb"%PDF-"),
}
_EXTENSIONS = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "application/pdf": ".pdf"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80


class RequestFile(Struct, frozen=True):
    """A file: a name that is safe in a header and in a folder, its media type, and its bytes."""

    name: str
    media_type: str
    content: bytes


def checked_file(field: str, name: str, content: bytes) -> RequestFile:
    """Return a file that was uploaded in a field. Raises DomainError (invalid): another kind of file, or too long."""
    if len(content) > MOST_BYTES:
        raise invalid(field, f"is longer than {MOST_BYTES // 1024 // 1024} MB")
    media_type = next((kind for kind, signature in _SIGNATURES.items() if signature.match(content)), None)
    if media_type is None:
        raise invalid(field, "must be a picture (JPEG, PNG or WebP) or a PDF file")
    stem = _UNSAFE.sub("-", PurePath(name).stem).strip("-.")[:_LONGEST_NAME] or "file"
    return RequestFile(f"{stem}{_EXTENSIONS[media_type]}", media_type, content)
