"""Catalogue data as a file that processes map into memory instead of reading it (docs/adr/0025).

The file has a header, the pickled data, and the data's large buffers. Buffers of a mapped file belong to the page
cache, so processes that map the same file share its memory.
"""

import json
import mmap
import pickle
from typing import IO

from tradecounter.storefront.catalogue_data import CatalogueData

_PROTOCOL = 5  # the first with out-of-band buffers
_ALIGNMENT = 64  # of each part, in bytes; arrays need at least the size of their items


def write_data(data: CatalogueData, file: IO[bytes]) -> None:
    """Write the sizes of all parts as a line of JSON, then the parts: the pickled data and its buffers."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(data, _PROTOCOL, buffer_callback=buffers.append)
    parts = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
    header = json.dumps([part.nbytes for part in parts]).encode() + b"\n"
    file.write(header)
    end = len(header)
    for part in parts:
        file.write(bytes(-end % _ALIGNMENT))
        file.write(part)
        end = _aligned(end) + part.nbytes
    file.flush()


def map_data(file: IO[bytes]) -> CatalogueData:
    """Map a file that `write_data` wrote; the mapping ends with the last object that uses it."""
    mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header = mapping.readline()
    end, parts = len(header), []
    for size in json.loads(header):
        start = _aligned(end)
        end = start + size
        parts.append(memoryview(mapping)[start:end])
    pickled, *buffers = parts
    data: CatalogueData = pickle.loads(pickled, buffers=buffers)  # noqa: S301 only our own processes can write the file
    return data


def _aligned(position: int) -> int:
    return position + -position % _ALIGNMENT
