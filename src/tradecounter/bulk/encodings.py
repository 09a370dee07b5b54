"""Detects a text file's encoding: UTF-8, UTF-16 with a byte order mark, or else Windows-1252."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

from tradecounter.kit.errors import OperatorError

_BLOCK = 1 << 20
_NOT_IN_CP1252 = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

UTF_8 = "utf-8-sig"  # with or without a byte order mark


class UnreadableFileError(OperatorError):
    """A file cannot be read; the message has the reason."""


class Scanned(Struct, frozen=True):
    """A file's encoding and its number of line breaks."""

    encoding: str
    lines: int


def scan(file: BinaryIO) -> Scanned:
    """Read a whole file and detect its encoding. Raises UnreadableFileError.

    A file that is not UTF-8 is read as Windows-1252. If UTF-8 text precedes its first invalid byte, it is damaged.
    """
    file.seek(0)
    marked = file.read(2) in _UTF16_MARKS
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 0
    utf8_until = None
    beyond_ascii = False
    for block in _blocks(file):
        if utf8_until is None:
            try:
                beyond_ascii |= not decoder.decode(block).isascii()
            except UnicodeDecodeError as error:
                good = error.object[: error.start]
                beyond_ascii |= not good.isascii()
                utf8_until = lines + good.count(b"\n") + 1
        lines += block.count(b"\n")
    if utf8_until is None and decoder.getstate()[0]:  # the file ends in the middle of a character
        utf8_until = lines + 1
    if marked:
        return Scanned("utf-16", lines)
    if utf8_until is None:
        return Scanned(UTF_8, lines)
    if beyond_ascii or any(byte in block for block in _blocks(file) for byte in _NOT_IN_CP1252):
        raise UnreadableFileError(
            f"line {utf8_until} is not UTF-8, and the file is not Windows-1252 (cp1252): save the file as UTF-8"
        )
    return Scanned("cp1252", lines)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file's blocks from its start."""
    file.seek(0)
    while block := file.read(_BLOCK):
        yield block
