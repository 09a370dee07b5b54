"""Checks and keeps pictures of products that staff upload, each at an address that never changes."""

import asyncio
import hashlib
import re
import struct
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Final

import typst

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.products.picture_addresses import picture_path
from tradecounter.products.queries.pictures import Picture, store_picture

LARGEST_PICTURE: Final = 2 * 1024 * 1024  # bytes
_MOST_PIXELS: Final = 4096  # of a side
_FEWEST_BYTES: Final = 32
_MEDIA_TYPES: Final = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}
_TRIAL: Final = b'#image("picture", format: sys.inputs.format)'
_DAMAGED: Final = "is damaged, or no picture"
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_MARKER: Final = 0xFF
_JPEG_END, _SCAN = 0xD9, 0xDA
_AFTER_A_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # markers of a frame, which has the size

# A decoded picture takes 64 MB, and a core for a tenth of a second.
_DECODERS = ThreadPoolExecutor(2, "pictures")


async def read_picture(content: bytes, field: str) -> Picture:
    """Return an uploaded picture. Raises DomainError (invalid) for what is no whole PNG, JPEG or WebP of a usual size.

    Nothing may follow the picture, so that the file is no other kind of file too.
    """
    return await asyncio.get_running_loop().run_in_executor(_DECODERS, _decoded, content, field)


def _decoded(content: bytes, field: str) -> Picture:
    if len(content) > LARGEST_PICTURE:
        raise invalid(field, f"is larger than {LARGEST_PICTURE // 1024 // 1024} MB")
    image_format = _format(content) if len(content) >= _FEWEST_BYTES else None
    if image_format is None:
        raise invalid(field, "is not a whole PNG, JPEG or WebP picture")
    size = _size(content, image_format)
    if size is None or 0 in size:
        raise invalid(field, _DAMAGED)
    if max(size) > _MOST_PIXELS:
        raise invalid(field, f"must have at most {_MOST_PIXELS:,} pixels on each side")
    # As a file: to write megabytes into the document takes a second in which no other thread runs.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "picture").write_bytes(content)
        document = Path(folder, "trial.typ")
        document.write_bytes(_TRIAL)
        try:
            typst.compile(document, sys_inputs={"format": image_format}, ignore_system_fonts=True)
        except typst.TypstError as error:
            raise invalid(field, _DAMAGED) from error
    return Picture(_MEDIA_TYPES[image_format], content)


async def keep_picture(tx: Transaction, picture: Picture, now: datetime) -> str:
    """Store a picture; return its path on the customers' site."""
    digest = hashlib.sha256(picture.content).hexdigest()
    await store_picture(tx, digest, picture, now)
    ending = next(ending for ending, media_type in _MEDIA_TYPES.items() if media_type == picture.media_type)
    return picture_path(digest, ending)


def _format(content: bytes) -> str | None:
    """Return the format of a file that ends where its picture does."""
    try:
        if content.startswith(_PNG) and _png_end(content) == len(content):
            return "png"
        if content.startswith(_JPEG) and _jpeg_end(content) == len(content):
            return "jpg"
    except struct.error:  # the file ends within a part
        return None
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP" and _length(content, 4) + 8 == len(content):
        return "webp"
    return None


def _png_end(content: bytes) -> int:
    """Return where the last chunk ends. Raises struct.error."""
    at, kind = len(_PNG), b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", content, at)
        at += 12 + length
    return at


def _jpeg_end(content: bytes) -> int:
    """Return where the picture ends; -1 if it does not. Raises struct.error."""
    return next((at for marker, at in _jpeg_markers(content) if marker == _JPEG_END), -1)


def _jpeg_markers(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield each marker and the place after it, up to the end of the picture. Raises struct.error."""
    at = 2
    while True:
        mark, marker = struct.unpack_from(">BB", content, at)
        if mark != _MARKER:
            return
        if marker == _MARKER:  # fills the space before a marker
            at += 1
            continue
        at += 2
        yield marker, at
        if marker == _JPEG_END:
            return
        at += int(struct.unpack_from(">H", content, at)[0])
        if marker == _SCAN:
            match = _AFTER_A_SCAN.search(content, at)
            if match is None:
                return
            at = match.start()


def _size(content: bytes, image_format: str) -> tuple[int, int] | None:
    try:
        if image_format == "png":
            return struct.unpack(">II", content[16:24])
        return _jpeg_size(content) if image_format == "jpg" else _webp_size(content)
    except struct.error:
        return None


def _jpeg_size(content: bytes) -> tuple[int, int] | None:
    for marker, at in _jpeg_markers(content):
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 3)
            return width, height
    return None


def _webp_size(content: bytes) -> tuple[int, int] | None:
    match content[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
        case b"VP8L":
            bits = _length(content, 21)
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack("<HH", content[26:30])
            return width & 0x3FFF, height & 0x3FFF
    return None


def _length(content: bytes, at: int) -> int:
    return int.from_bytes(content[at : at + 4], "little")
