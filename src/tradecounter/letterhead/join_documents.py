"""Joins printed documents to one PDF file."""

from collections.abc import Sequence
from io import BytesIO


def joined(files: Sequence[bytes]) -> bytes:
    """Return PDF files as one, in their order; a single file stays as it was issued."""
    first, *others = files
    if not others:
        return first
    from pypdf import PdfReader, PdfWriter  # noqa: PLC0415 a large library that processes seldom need

    writer = PdfWriter(clone_from=PdfReader(BytesIO(first)))  # keeps the metadata of an archivable file
    for file in others:
        writer.append(BytesIO(file))
    written = BytesIO()
    writer.write(written)
    return written.getvalue()
