"""Conversions between bitmaps and NumPy arrays, much faster than pyroaring's own."""

from array import array

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap


def bitmap(rows: NDArray[np.integer]) -> BitMap:
    """Return a bitmap of rows, which must be in ascending order."""
    return BitMap(array("I", rows.astype(np.uint32).tobytes()))


def rows_of(rows: BitMap) -> NDArray[np.int32]:
    """Return the rows of a bitmap, in ascending order."""
    return np.frombuffer(rows.to_array(), dtype=np.uint32).astype(np.int32)
