"""Several buffers in one: their sizes as a line of JSON, then the buffers, each at a multiple of 64 bytes.

Arrays can use a part where it lies, because it begins at a multiple of the size of their items.
"""

import json
from collections.abc import Iterator, Sequence
from mmap import mmap

_ALIGNMENT = 64  # bytes


def joined_parts(parts: Sequence[memoryview]) -> Iterator[bytes | memoryview]:
    """Yield the pieces of the one buffer, in their order."""
    header = json.dumps([part.nbytes for part in parts]).encode() + b"\n"
    yield header
    end = len(header)
    for part in parts:
        yield bytes(-end % _ALIGNMENT)
        yield part
        end = _aligned(end) + part.nbytes


def split_parts(buffer: bytes | mmap) -> list[memoryview]:
    """Return the parts, which are views of the buffer. Raises ValueError for one that ends too early."""
    end = buffer.find(b"\n") + 1
    parts = []
    for size in json.loads(buffer[:end]):
        start = _aligned(end)
        end = start + size
        if end > len(buffer):
            raise ValueError("the buffer is shorter than its parts")
        parts.append(memoryview(buffer)[start:end])
    return parts


def _aligned(position: int) -> int:
    return position + -position % _ALIGNMENT
