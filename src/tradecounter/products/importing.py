"""Import kinds of the catalogue, and the events of products."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.bulk.kinds import ImportKind, Prepare, Stage, Staged, by_row, deactivation, deactivation_of_added
from tradecounter.bulk.rows import RowNotes
from tradecounter.bulk.statements import (
    merge_statement,
    no_twins,
    required_when_new,
    stored_keys,
    taken_external_ids,
    unknown_reference,
)
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import NewEvent, record_events
from tradecounter.kit.keys import Spellings
from tradecounter.kit.text import fold
from tradecounter.products.import_rows import (
    PRODUCT_DEFAULTS,
    AttributeKeys,
    AttributeRow,
    CatalogueKeys,
    CategoryRow,
    ManufacturerRow,
    ProductRow,
    SynonymsRow,
    staged_categories,
    staged_named,
    staged_product,
    staged_synonyms,
)
from tradecounter.products.queries import importing as sql
from tradecounter.products.queries.importing import ChangedProducts, imported_products, rolled_back_products
from tradecounter.products.snapshot.layout import lay_out_after


async def record_imported_products(tx: Transaction, import_id: int, changed: int, now: datetime) -> None:
    """Record what an import did to products; the table of products must be locked.

    All products of an import share events, so that a file of 100,000 products makes some hundred.
    """
    await lay_out_after(tx, changed)
    _record(tx, await imported_products(tx, import_id), import_id, now)


async def record_rolled_back_products(tx: Transaction, import_id: int, changed: int, now: datetime) -> None:
    """Record what the roll-back of an import did to products; the table of products must be locked."""
    await lay_out_after(tx, changed)
    _record(tx, await rolled_back_products(tx), import_id, now)


def _record(tx: Transaction, changes: list[ChangedProducts], import_id: int, now: datetime) -> None:
    for change in changes:
        data = {
            "import_id": import_id,
            "skus": change.skus,
            "changed": change.fields,
            "external_ids": change.external_ids,
        }
        record_events(tx, change.type, [NewEvent("product", None, data)], now)


Row = TypeVar("Row", bound=Struct)


async def _names_taken(tx: Transaction) -> Iterable[tuple[int, str, str]]:
    """Return the lines whose attribute has another attribute's name, ignoring case: products show values by name."""
    key_of_name: dict[str, str] = {}
    taken = []
    for line, key, name in await tx.fetch_all(sql.ACTIVE_AND_STAGED_NAMES):
        other = key_of_name.setdefault(fold(name), key)
        if other != key and line is not None:
            taken.append((line, "name", f"{name!r} is already the name of the attribute {other!r}"))
    return taken


async def _stage_of_products(tx: Transaction) -> Stage[ProductRow]:
    keys = CatalogueKeys(
        manufacturers=Spellings(await stored_keys(tx, "manufacturer")),
        categories=Spellings(await stored_keys(tx, "category")),
        attributes=AttributeKeys(dict(await tx.fetch_all(sql.ATTRIBUTE_NAMES))),
    )
    return lambda product, notes: staged_product(product, keys, notes)


def _with_spellings(table: str, stage: Callable[[Row, Spellings, RowNotes], Iterable[Staged]]) -> Prepare[Row]:
    """Return the `prepare` function of a kind whose records keep the spelling of their keys."""

    async def prepare(tx: Transaction) -> Stage[Row]:
        keys = Spellings(await stored_keys(tx, table))
        return lambda row, notes: stage(row, keys, notes)

    return prepare


MANUFACTURERS = ImportKind(
    shape=ManufacturerRow,
    area="catalogue",
    hint="Each row is a manufacturer. Products name its key.",
    table="manufacturer",
    key=("key",),
    prepare=_with_spellings("manufacturer", staged_named),
    checks=(no_twins("manufacturer", SQL("s.key"), "key"),),
    merge=merge_statement("manufacturer", "key", ["name", "active"], {}),
    removal=deactivation("manufacturer", "key"),
    undo=deactivation_of_added("manufacturer", "key"),
    view=sql.MANUFACTURER_VIEW,
    topics=("catalogue",),
)

SYNONYMS = ImportKind(
    shape=SynonymsRow,
    area="catalogue",
    hint="Each row is a group of words that mean the same in searches.",
    table="synonym_group",
    key=("words",),
    prepare=by_row(staged_synonyms),
    merge=merge_statement("synonym_group", "key", ["words", "active"], {}),
    removal=deactivation("synonym_group", "key"),
    undo=deactivation_of_added("synonym_group", "key"),
    view=sql.SYNONYMS_VIEW,
    topics=("catalogue",),
)

ATTRIBUTES = ImportKind(
    shape=AttributeRow,
    area="catalogue",
    hint="Each row is a property of products, such as ports, with its type and its values.",
    table="attribute",
    key=("key",),
    prepare=_with_spellings("attribute", staged_named),
    checks=(_names_taken, no_twins("attribute", SQL("s.key"), "key")),
    merge=merge_statement("attribute", "key", ["name", "type", "possible_values", "active"], {"possible_values": []}),
    removal=deactivation("attribute", "key"),
    undo=deactivation_of_added("attribute", "key"),
    view=sql.ATTRIBUTE_VIEW,
    topics=("catalogue",),
)

CATEGORIES = ImportKind(
    shape=CategoryRow,
    area="catalogue",
    hint="Each row is a category. A category with a parent is shown below it.",
    table="category",
    key=("key",),
    prepare=_with_spellings("category", staged_categories),
    checks=(sql.CHECK_CHILDREN, no_twins("category", SQL("s.key"), "key")),
    merge=merge_statement("category", "key", ["name", "parent_key", "position", "active"], {}),
    removal=deactivation("category", "key"),
    undo=sql.UNDO_ADDED_CATEGORIES,
    view=sql.CATEGORY_VIEW,
    topics=("catalogue",),
)

PRODUCTS = ImportKind(
    shape=ProductRow,
    area="catalogue",
    hint="Each row is a product. Columns that the file lacks stay as they are. Prices and stock are other files.",
    table="product",
    key=("sku",),
    prepare=_stage_of_products,
    checks=(
        required_when_new("product", "sku_key", ("name", "manufacturer"), "product"),
        unknown_reference("manufacturer", "manufacturer", "key"),
        sql.CHECK_CATEGORIES,
        sql.CHECK_LINKS,
        sql.CHECK_BUNDLES,
        taken_external_ids("product", "sku_key", "sku"),
    ),
    merge=merge_statement(
        "product", "sku_key", ["sku", "ean", "name", "manufacturer", *PRODUCT_DEFAULTS], PRODUCT_DEFAULTS
    ),
    replaced={"active": True},
    removal=deactivation("product", "sku_key"),
    undo=sql.UNDO_ADDED_PRODUCTS,
    applied=record_imported_products,
    rolled_back=record_rolled_back_products,
    view=sql.PRODUCT_VIEW,
    topics=("catalogue",),
)
