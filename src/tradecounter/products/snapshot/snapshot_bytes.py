"""A snapshot as bytes that may come from the database: reading them runs no code but that of the snapshot's classes.

They are a pickle that can name nothing else, where an ordinary pickle runs whatever it says.
"""

import io
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.kit.parts import joined_parts, split_parts
from tradecounter.products.columns.bytes_column import BytesColumn
from tradecounter.products.columns.gapped_column import GappedColumn
from tradecounter.products.columns.inverted_index import InvertedIndex, PostingLists
from tradecounter.products.columns.rows import RowOfId
from tradecounter.products.columns.sorted_keys import SortedKeys
from tradecounter.products.search.fields import FieldIndex, WordOrder
from tradecounter.products.search.index import RecentWords, SearchIndex, Stems
from tradecounter.products.search.nearest import NearestWords
from tradecounter.products.search.synonyms import Synonyms
from tradecounter.products.snapshot.attribute_index import AttributeIndex, NumberValues, TextValues
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.products.snapshot.fragments import Fragments
from tradecounter.products.wire import AttributeValue, Category, Manufacturer, ProductAttribute

_PROTOCOL = 5  # the first with out-of-band buffers
_LEVEL = 1  # of zstd; 100,000 products become a tenth in 0.15 seconds


def to_bytes(snapshot: CatalogueSnapshot) -> bytes:
    """Return a snapshot's compressed bytes. Takes tenths of a second for a large one, mostly in a library."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = io.BytesIO()
    _Pickler(pickled, _PROTOCOL, buffer_callback=buffers.append).dump(snapshot)
    parts = joined_parts([pickled.getbuffer(), *(buffer.raw() for buffer in buffers)])
    compressor = zstandard.ZstdCompressor(level=_LEVEL).compressobj()
    return b"".join([*map(compressor.compress, parts), compressor.flush()])


def from_bytes(data: bytes) -> CatalogueSnapshot:
    """Return the snapshot of such bytes. Raises pickle.UnpicklingError for a name that no snapshot has, and others."""
    pickled, *buffers = split_parts(zstandard.ZstdDecompressor().decompressobj().decompress(data))
    snapshot = _Unpickler(io.BytesIO(pickled), buffers=buffers).load()
    if not isinstance(snapshot, CatalogueSnapshot):
        raise pickle.UnpicklingError("the bytes contain no snapshot")
    return snapshot


def _array(data: Any, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.frombuffer(data, dtype=np.dtype(kind)).reshape(shape)


def _bitmap(data: bytes) -> BitMap:
    return BitMap.deserialize(data)


class _Pickler(pickle.Pickler):
    """Reduces the objects of libraries to their data, because their own way names functions that could do more."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return _array, (pickle.PickleBuffer(np.ascontiguousarray(value).data), value.dtype.str, value.shape)
        if isinstance(value, BitMap):
            return _bitmap, (value.serialize(),)
        return NotImplemented


_ALLOWED: dict[tuple[str, str], Any] = {
    (each.__module__, each.__qualname__): each
    for each in (
        _array, _bitmap, Decimal,
        CatalogueSnapshot, Fragments, AttributeIndex, NumberValues, TextValues,
        SearchIndex, FieldIndex, NearestWords, RecentWords, Stems, Synonyms, WordOrder,
        BytesColumn, GappedColumn, InvertedIndex, PostingLists, RowOfId, SortedKeys,
        ProductAttribute, AttributeValue, Category, Manufacturer,
    )
}  # fmt: skip


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"no snapshot contains {module}.{name}")
        return _ALLOWED[module, name]
