"""The layout of a large catalogue, stored as bytes by the import that changed it, for all machines (docs/adr/0031)."""

import asyncio
import io
import pickle
import sys
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import structlog
import zstandard
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.db.transaction import Transaction
from tradecounter.kit.columns.bytes_column import BytesColumn, GappedColumn
from tradecounter.kit.columns.lookups import InvertedIndex, PostingLists, RowOfId, SortedKeys
from tradecounter.kit.digest import digest_of, own_files
from tradecounter.kit.parts import joined_parts, split_parts
from tradecounter.products.queries.records import count_products, find_layout, replace_layout
from tradecounter.products.search.fields import FieldIndex, NearestWords, WordOrder
from tradecounter.products.search.index import RecentWords, SearchIndex, Stems
from tradecounter.products.search.terms import Synonyms
from tradecounter.products.snapshot.attribute_index import AttributeIndex, NumberValues, TextValues
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, read_snapshot
from tradecounter.products.snapshot.fragments import Fragments
from tradecounter.products.wire import AttributeValue, Category, Manufacturer, ProductAttribute

_PROTOCOL = 5  # the first with out-of-band buffers
_LEVEL = 1  # of zstd; 100,000 products become a tenth in 0.15 seconds


def to_bytes(snapshot: CatalogueSnapshot) -> bytes:
    """Return a snapshot's compressed bytes. Takes tenths of a second for a large one, mostly in a library.

    The bytes are a pickle that can name only the classes of a snapshot; an ordinary pickle runs whatever it names.
    """
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


LARGE_FROM = 5_000  # products

_LIBRARIES = ("numpy", "pyroaring", "msgspec", "pystemmer")  # that determine what is stored
_LARGE_CHANGE = 10  # the fraction of products from which the import takes longer than the layout

log = structlog.get_logger()


async def lay_out_after(tx: Transaction, changed: int, *, large_from: int = LARGE_FROM) -> None:
    """Store the catalogue's layout if an import changed at least a tenth of the products of a large catalogue.

    Call it after the catalogue's version was raised: until the transaction ends, no other one can change the catalogue.
    Takes some 60 microseconds for each product.
    """
    count = await count_products(tx)
    if count >= large_from and changed * _LARGE_CHANGE >= count:
        snapshot = await read_snapshot(tx)
        await replace_layout(tx, laid_out_by(), await asyncio.to_thread(to_bytes, snapshot))


async def read_laid_out(tx: Transaction) -> CatalogueSnapshot:
    """Return the catalogue: the stored layout if there is one of this version by this program, or read the products."""
    if (data := await find_layout(tx, laid_out_by())) is not None:
        try:
            return await asyncio.to_thread(from_bytes, data)
        except Exception:  # whatever is wrong with it, the products are there
            log.exception("a stored layout of the catalogue cannot be read, so the products are read")
    return await read_snapshot(tx)


@cache
def laid_out_by() -> str:
    """Return a name for this program: another release, or an edited one, may lay a catalogue out differently."""
    parts = [sys.version, *(f"{name} {version(name)}" for name in _LIBRARIES)]
    return digest_of("\n".join(parts).encode(), own_files()).hex()
