"""Which files are pictures, and what it costs to find out."""

import asyncio
import base64
import random
import struct
import tracemalloc
import zlib

from tradecounter.products.pictures import LARGEST_PICTURE, read_picture

# Of 8 x 8 pixels; its first segment is 20 bytes after the start.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P//////////////////////////////////////////////////////"
    "////wgALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAAAAF//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABBQJ//8QAFBAB"
    "AAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAGPwJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPyF//9oACAEBAAAAEH//xAAUEAEAAAAAAAAAAAAA"
    "AAAAAAAA/9oACAEBAAE/EH//2Q=="
)


def read(content: bytes) -> str:
    return asyncio.run(read_picture(content, "picture")).media_type


def test_a_jpeg_may_have_fill_bytes_before_a_marker() -> None:
    assert read(JPEG[:20] + b"\xff\xff\xff" + JPEG[20:]) == "image/jpeg"


def test_a_picture_of_two_megabytes_is_checked_without_being_written_out() -> None:
    noise = random.Random(1)  # noqa: S311 no secret
    lines = b"".join(b"\0" + noise.randbytes(3 * 820) for _ in range(820))
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", 820, 820, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines)),
        (b"IEND", b""),
    ]
    chunks = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts)
    content = b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
    assert 0.9 < len(content) / LARGEST_PICTURE < 1
    tracemalloc.start()
    assert read(content) == "image/png"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * LARGEST_PICTURE  # numbers in a document take 35 MB, and a second in which no other thread runs
