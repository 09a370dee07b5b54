"""Changes several products in the same way, as one import."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import UNSET, Struct

from tradecounter.audit.record import audit_edit
from tradecounter.bulk.importing import lock_records
from tradecounter.bulk.rows import Row
from tradecounter.db.transaction import Transaction
from tradecounter.imports.save_product import import_rows
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.keys import key_form
from tradecounter.products.import_rows import ProductRow
from tradecounter.products.importing import PRODUCTS
from tradecounter.products.queries.products import find_product_ids, product_rows


class ProductsChange(Struct, frozen=True, kw_only=True, rename={"skus": "sku"}):
    """Products, and the same change of each; None leaves a field as it is. Categories are keys."""

    skus: list[str] = []
    active: bool | None = None
    clearance_product: bool | None = None
    add_category: str | None = None
    remove_category: str | None = None

    def __str__(self) -> str:
        """The change in words."""
        parts = (
            (self.active is not None, "sold" if self.active else "not sold"),
            (self.clearance_product is not None, "clearance" if self.clearance_product else "no clearance"),
            (self.remove_category, f"out of {self.remove_category}"),
            (self.add_category, f"into {self.add_category}"),
        )
        return ", ".join(words for is_said, words in parts if is_said)

    def row_of(self, product: Mapping[str, Any]) -> ProductRow:
        """Return the row of an import that makes the change."""
        kept = [key for key in product["categories"] if key != self.remove_category]
        added = [self.add_category] if self.add_category and self.add_category not in kept else []
        moves = self.add_category or self.remove_category
        return ProductRow(
            sku=product["sku"],
            active=UNSET if self.active is None else self.active,
            clearance_product=UNSET if self.clearance_product is None else self.clearance_product,
            categories=[*kept, *added] if moves else UNSET,
        )


async def change_products(tx: Transaction, wanted: ProductsChange, now: datetime) -> int:
    """Change products, all or none; return how many differ now. Raises DomainError: invalid, not found.

    The change is one import in the history, so it can be rolled back as a whole. The audit log has the changes of each
    product.
    """
    if not str(wanted):
        raise DomainError(Kind.INVALID, "choose what changes")
    if wanted.add_category and wanted.add_category == wanted.remove_category:
        raise invalid("remove_category", "is the category that they come into")
    await lock_records(tx, PRODUCTS)
    await find_product_ids(tx, wanted.skus)
    before = await product_rows(tx, [key_form(sku) for sku in wanted.skus])
    rows = [Row(number, wanted.row_of(product)) for number, product in enumerate(before.values(), start=1)]
    report = await import_rows(tx, "products", rows, now, force=False, rule=str(wanted))
    for key, after in (await product_rows(tx, list(before))).items():
        audit_edit(tx, "product.change", f"product/{after['sku']}", now, before=before[key], after=after)
    return report.changed
