"""Reads an uploaded list of SKUs and quantities as text."""

import io

from tradecounter.bulk.encodings import UnreadableFileError, scan
from tradecounter.kit.errors import invalid


def text_of_file(content: bytes) -> str:
    """Return a file's text: UTF-8, UTF-16 with a byte order mark, or Windows-1252. Raises DomainError (invalid)."""
    try:
        encoding = scan(io.BytesIO(content)).encoding
    except UnreadableFileError as error:
        raise invalid("file", str(error)) from error
    text = content.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" in text:
        raise invalid("file", "must be a text file with the columns sku and quantity, such as CSV")
    return text
