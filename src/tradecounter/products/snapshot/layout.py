"""The layout of a large catalogue, stored by the import that changed it, for all machines (docs/adr/0031)."""

import asyncio
import sys
from functools import cache
from importlib.metadata import version

import structlog

from tradecounter.db.transaction import Transaction
from tradecounter.kit.digest import digest_of
from tradecounter.kit.program_files import own_files
from tradecounter.products.queries.layout import find_layout, replace_layout
from tradecounter.products.queries.records import count_products
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, read_snapshot
from tradecounter.products.snapshot.snapshot_bytes import from_bytes, to_bytes

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
