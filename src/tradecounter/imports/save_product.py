"""Saves one product with its prices and its first stock: an import of one row of each kind, with all its rules.

The imports are in the history, so that they can be rolled back. The audit log has the product's changes.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tradecounter.audit.record import audit
from tradecounter.bulk.importing import ImportOptions, ImportReport, lock_records
from tradecounter.bulk.price_figures import GuardedPrice, GuardedPricesError
from tradecounter.bulk.rows import LineMessage, Row
from tradecounter.db.transaction import Transaction
from tradecounter.imports.run import import_in
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid, invalid_fields
from tradecounter.kit.json_text import to_json
from tradecounter.kit.keys import key_form
from tradecounter.kit.money import in_pounds
from tradecounter.prices.importing import PriceRow
from tradecounter.products.import_rows import ProductRow
from tradecounter.products.importing import PRODUCTS
from tradecounter.products.queries.by_sku import product_row
from tradecounter.stock.importing import StockRow

_ABOUT_SKU = re.compile(r" \(sku .*\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedProduct:
    """What a product's form asks for. `prices` are those that change; `stock` is that of a new product, if any.

    `seen` is the digest of the product as the form has shown it, of `version_of`; None for a new one.
    """

    product: ProductRow
    prices: Sequence[PriceRow] = ()
    stock: StockRow | None = None
    seen: str | None = None
    force: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """What was saved: the SKU, whether anything was changed, and how many customers a change of prices concerns."""

    sku: str
    changed: bool
    customers: int


def version_of(row: dict[str, Any]) -> str:
    """Return the digest of a product as it is stored."""
    return hashlib.sha256(to_json(row)).hexdigest()


async def save_product(tx: Transaction, wanted: SavedProduct, now: datetime) -> Saved:
    """Add a product or change it. Raises DomainError.

    Invalid (names the fields, those of a price as `prices[0].single_unit_cost`); conflict: the SKU is taken, someone
    else has changed the product since it was shown, or prices want `force`.
    """
    sku = wanted.product.sku
    await lock_records(tx, PRODUCTS)
    before = await product_row(tx, key_form(sku))
    _require_as_seen(wanted, before)
    report = await _imported(tx, "products", [wanted.product], now, force=False)
    changed = bool(report.added or report.changed)
    customers = 0
    if wanted.prices:
        priced = await _imported(tx, "price-list", wanted.prices, now, force=wanted.force)
        changed = changed or bool(priced.added or priced.changed)
        customers = 0 if priced.prices is None else priced.prices.customers
    if wanted.stock is not None:
        await _imported(tx, "stock", [wanted.stock], now, force=False)
    after = await product_row(tx, key_form(sku)) or {}
    if report.added or report.changed:
        action = "product.create" if before is None else "product.change"
        audit(tx, action, f"product/{after['sku']}", now, before=before, after=after)
    return Saved(after["sku"], changed, customers)


def _require_as_seen(wanted: SavedProduct, before: dict[str, Any] | None) -> None:
    if wanted.seen is None:
        if before is not None:
            raise DomainError(
                Kind.CONFLICT, "the SKU is taken", field_errors=[FieldError("sku", f"{before['sku']} exists already")]
            )
    elif before is None:
        raise invalid("sku", "does not exist")
    elif wanted.seen != version_of(before):
        raise DomainError(
            Kind.CONFLICT, "someone else has changed the product since it was shown: open it again to see the changes"
        )


async def _imported(tx: Transaction, kind: str, rows: Sequence[Any], now: datetime, *, force: bool) -> ImportReport:
    """Import rows of a kind. Raises DomainError: invalid, or conflict in the field `force` (guarded prices)."""
    numbered = iter([Row(number, row) for number, row in enumerate(rows, start=1)])
    try:
        report = await import_in(tx, kind, numbered, ImportOptions(force=force), on_hand=False, now=now)
    except GuardedPricesError as error:
        figures = error.figures
        found = "; ".join([*map(str, figures.new_price_lists), *map(_in_words, figures.guarded_prices)])
        raise DomainError(Kind.CONFLICT, found, field_errors=[FieldError("force", found)]) from error
    if report.errors:
        raise invalid_fields([_field_error(kind, message) for message in report.errors])
    return report


def _in_words(price: GuardedPrice) -> str:
    return f"{in_pounds(price.after)} on the price list {price.price_list} {price.why}"


def _field_error(kind: str, found: LineMessage) -> FieldError:
    field, colon, message = _ABOUT_SKU.sub("", found.message).partition(": ")
    if not colon:
        field, message = "", found.message
    if kind == "price-list" and found.line is not None:
        field = f"prices[{found.line - 1}].{field}"
    return FieldError(field, message)
