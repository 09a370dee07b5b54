"""Catalogue data as a file that processes map into memory instead of reading it (docs/adr/0025).

The file's parts are the pickled data and the data's large buffers. Buffers of a mapped file belong to the page cache,
so processes that map the same file share its memory.
"""

import mmap
import pickle
from typing import IO

from tradecounter.kit.parts import joined_parts, split_parts
from tradecounter.storefront.catalogue_data import CatalogueData

_PROTOCOL = 5  # the first with out-of-band buffers


def write_data(data: CatalogueData, file: IO[bytes]) -> None:
    """Write the data to a file."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(data, _PROTOCOL, buffer_callback=buffers.append)
    file.writelines(joined_parts([memoryview(pickled), *(buffer.raw() for buffer in buffers)]))
    file.flush()


def map_data(file: IO[bytes]) -> CatalogueData:
    """Map a file that `write_data` wrote; the mapping ends with the last object that uses it."""
    pickled, *buffers = split_parts(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    data: CatalogueData = pickle.loads(pickled, buffers=buffers)  # noqa: S301 only our own processes can write the file
    return data
