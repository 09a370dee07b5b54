"""Bitmaps from NumPy arrays and back; much faster than pyroaring's own conversions."""

from array import array

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap


def bitmap(rows: NDArray[np.integer]) -> BitMap:
    """Return the bitmap of rows that are in ascending order."""
    return BitMap(array("I", rows.astype(np.uint32).tobytes()))


def rows_of(found: BitMap) -> NDArray[np.int32]:
    """Return the rows of a bitmap, in ascending order."""
    return np.frombuffer(found.to_array(), dtype=np.uint32).astype(np.int32)
