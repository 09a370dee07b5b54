"""Saves what forms hold as imports, with all their rules: a product, a change of several, a contract price."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from msgspec import UNSET, Struct

from tradecounter.audit.record import audit, audit_edit
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.importing import lock_records
from tradecounter.bulk.price_figures import GuardedPrice, GuardedPricesError
from tradecounter.bulk.rows import Row, RowMessage
from tradecounter.db.transaction import Transaction
from tradecounter.imports.run import end_prices, import_in_transaction
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid, invalid_fields
from tradecounter.kit.keys import ean_problem, key_form
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import Pounds
from tradecounter.kit.wire import made_from
from tradecounter.prices.importing import CONTRACT_PRICES, PRICE_LIST, ContractPriceRow, PriceRow
from tradecounter.prices.queries.prices_of_products import ContractPrice, ListPrice, contract_prices_of, list_prices_of
from tradecounter.prices.rules import Costs
from tradecounter.products.import_rows import ProductRow
from tradecounter.products.importing import PRODUCTS
from tradecounter.products.queries.products import (
    fetch_product,
    fetch_product_rows,
    find_product_ids,
    find_product_row,
    find_sku_with_ean,
)
from tradecounter.stock.importing import StockRow

_NO_PRICE: Costs = (None, None, None)


class PriceFields(Struct):
    """A product's prices on one list. Without the price of a single unit, the product is not on the list."""

    price_list: str
    single_unit_cost: Pounds | None = None
    five_plus_unit_cost: Pounds | None = None
    ten_plus_unit_cost: Pounds | None = None


class SavedProduct(Struct, frozen=True, kw_only=True):
    """The fields of a product's form. `prices` are those of the shown lists; `stock` is that of a new product.

    `seen` is `seen_of` the stored product and its prices on all lists, as the form showed them; None for a new product.
    """

    product: ProductRow
    prices: Sequence[PriceFields] = ()
    stock: StockRow | None = None
    seen: str | None = None
    force: bool = False


class SaveOutcome(Struct, frozen=True):
    """The outcome: the SKU, whether anything differs now, how many customers the prices concern, and its warnings."""

    sku: str
    changed: bool
    customers: int
    warnings: str


async def save_product(tx: Transaction, wanted: SavedProduct, now: datetime) -> SaveOutcome:
    """Add a product or change it.

    The imports are in the history, so they can be rolled back. The audit log has the product's changes.

    Raises DomainError: invalid, naming the fields, such as `prices[0].single_unit_cost`; conflict (the SKU is taken,
    someone else has changed the product or its prices since they were shown, or prices need `force`).
    """
    key = key_form(wanted.product.sku)
    await lock_records(tx, PRODUCTS)
    await lock_records(tx, PRICE_LIST)
    before = await find_product_row(tx, key)
    old_prices: Sequence[ListPrice] = ()
    if before is not None:
        [(product_id, _)] = await find_product_ids(tx, [wanted.product.sku])
        old_prices = await list_prices_of(tx, product_id)
    _require_as_seen(wanted, before, old_prices)
    await _require_own_ean(tx, wanted.product.ean, before)
    prices = _changed_prices(before["sku"] if before else wanted.product.sku, wanted.prices, old_prices)
    ended = _ended(wanted.prices, old_prices)
    _require_force(ended, wanted)
    report = await import_rows(tx, "products", [Row(1, wanted.product)], now, force=False)
    changed = bool(report.added or report.changed)
    customers, warnings = 0, ""
    if prices:
        priced = await import_rows(tx, "price-list", prices, now, force=wanted.force)
        changed = changed or bool(priced.added or priced.changed)
        warnings = warnings_of(priced)
        customers = 0 if priced.prices is None else priced.prices.customers
    if ended:
        removed = await end_prices(tx, key, [price.price_list for price in ended], now)
        changed = True
        # Nobody counts twice: a customer has one price list, which either changes or ends.
        customers += 0 if removed.prices is None else removed.prices.customers
    if wanted.stock is not None:
        await import_rows(tx, "stock", [Row(1, wanted.stock)], now, force=False)
    after = await find_product_row(tx, key) or {}
    if report.added or report.changed:
        action = "product.create" if before is None else "product.change"
        audit(tx, action, f"product/{after['sku']}", now, before=before, after=after)
    if prices or ended:
        _audit_prices(tx, after["sku"], [row.values for row in prices], ended, old_prices, now)
    return SaveOutcome(after["sku"], changed, customers, warnings)


def _require_as_seen(wanted: SavedProduct, before: Mapping[str, Any] | None, prices: Sequence[ListPrice]) -> None:
    if wanted.seen is None:
        if before is not None:
            raise DomainError(
                Kind.CONFLICT, "the SKU is taken", field_errors=[FieldError("sku", f"{before['sku']} exists already")]
            )
    elif before is None:
        raise invalid("sku", "does not exist")
    elif wanted.seen != seen_of([before, prices]):
        raise DomainError(
            Kind.CONFLICT,
            "someone else has changed the product or its prices since they were shown: open it again for what is new",
        )


async def _require_own_ean(tx: Transaction, ean: Any, before: Mapping[str, Any] | None) -> None:
    """Raise DomainError (invalid) for a text that is no EAN, or one that another product has; a stored one may stay."""
    if not isinstance(ean, str) or (before is not None and before["ean"] == ean):
        return
    if problem := ean_problem(ean):  # an import would leave it out with a warning, which a form does not show
        raise invalid("ean", f"{ean[:40]!r} is not an EAN, {problem}")
    owner = await find_sku_with_ean(tx, ean)
    if owner is not None and (before is None or owner != before["sku"]):
        raise invalid("ean", f"is that of {owner}")


def _changed_prices(sku: str, wanted: Sequence[PriceFields], old: Sequence[ListPrice]) -> list[Row[PriceRow]]:
    """Return the prices that differ from the old ones as rows, numbered from 1 as in `wanted`."""
    before = {price.price_list: _costs(price) for price in old}
    changed = []
    for place, price in enumerate(wanted):
        if _costs(price) in {before.get(price.price_list, _NO_PRICE), _NO_PRICE}:
            continue
        if price.single_unit_cost is None:
            raise invalid(f"prices[{place}].single_unit_cost", "is needed with the others")
        changed.append(Row(place + 1, made_from(price, PriceRow, sku=sku)))
    return changed


def _ended(wanted: Sequence[PriceFields], old: Sequence[ListPrice]) -> list[ListPrice]:
    """Return the old prices on the lists whose fields are all empty now."""
    empty = {each.price_list for each in wanted if _costs(each) == _NO_PRICE}
    return [price for price in old if price.price_list in empty]


def _require_force(ended: Sequence[ListPrice], wanted: SavedProduct) -> None:
    """Raise DomainError (conflict) in the field `force` for prices that end, unless `force` is set."""
    if ended and not wanted.force:
        problem = "; ".join(
            f"{in_pounds(price.single_unit_cost)} on the price list {price.price_list} ends" for price in ended
        )
        raise DomainError(Kind.CONFLICT, problem, field_errors=[FieldError("force", problem)])


def _audit_prices(
    tx: Transaction,
    sku: str,
    prices: Sequence[PriceRow],
    ended: Sequence[ListPrice],
    old: Sequence[ListPrice],
    now: datetime,
) -> None:
    """Record the changed and ended prices of each list, for one, five and ten units."""
    lists = {*(price.price_list for price in prices), *(price.price_list for price in ended)}
    before = {price.price_list: _costs(price) for price in old if price.price_list in lists}
    after = {price.price_list: _costs(price) for price in prices}
    audit(tx, "price.change", f"product/{sku}", now, before=before, after=after)


def _costs(price: PriceRow | ListPrice | PriceFields) -> Costs:
    return price.single_unit_cost, price.five_plus_unit_cost, price.ten_plus_unit_cost


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
    before = await fetch_product_rows(tx, wanted.skus)
    rows = [Row(number, wanted.row_of(product)) for number, product in enumerate(before.values(), start=1)]
    report = await import_rows(tx, "products", rows, now, force=False, rule=str(wanted))
    for key, after in (await fetch_product_rows(tx, before)).items():
        audit_edit(tx, "product.change", f"product/{after['sku']}", now, before=before[key], after=after)
    return report.changed


async def save_contract_price(
    tx: Transaction, row: ContractPriceRow, now: datetime, *, seen: str | None, force: bool
) -> ImportReport:
    """Add a contract price or change it. `seen` is `seen_of` the price that the form showed; None for a new one.

    Raises DomainError: not found (the product); invalid, naming the fields; conflict (the customer has another price
    from the same day than the one that the form showed, or the price needs `force`).
    """
    await lock_records(tx, CONTRACT_PRICES)
    product = (await fetch_product(tx, row.sku)).record
    prices = await contract_prices_of(tx, product.id, row.customer_id)
    before = price_from(prices, row.valid_from)
    if seen != (None if before is None else seen_of(before)):
        problem = "the customer has a price from this day already: change that one"
        if seen is not None:
            problem = "someone else has changed this price since it was shown: open it again for what is new"
        raise DomainError(Kind.CONFLICT, problem, field_errors=[FieldError("valid_from", problem)])
    return await import_rows(tx, "contract-prices", [Row(1, row)], now, force=force)


def price_from(prices: list[ContractPrice], valid_from: date | None) -> ContractPrice | None:
    """Return the price among those of one customer that is valid from a day, or None."""
    return next((price for price in prices if price.valid_from == valid_from), None)


async def import_rows(
    tx: Transaction, kind: str, rows: Sequence[Row[Any]], now: datetime, *, force: bool, rule: str = ""
) -> ImportReport:
    """Import the rows of a form. Raises DomainError: invalid, or conflict in the field `force` (guarded prices)."""
    options = ImportOptions(force=force, rule=rule)
    try:
        report = await import_in_transaction(tx, kind, iter(rows), options, now=now)
    except GuardedPricesError as error:
        figures = error.figures
        problem = "; ".join([*map(str, figures.new_price_lists), *map(_in_words, figures.guarded_prices)])
        raise DomainError(Kind.CONFLICT, problem, field_errors=[FieldError("force", problem)]) from error
    if report.errors:
        raise invalid_fields([_field_error(kind, message) for message in report.errors])
    return report


def warnings_of(report: ImportReport) -> str:
    """Return the warnings of an import, for the message of the form that saved its rows."""
    return "".join(f" Note: {warning.problem}." for warning in report.warnings)


def _in_words(price: GuardedPrice) -> str:
    where = "" if price.price_list is None else f" on the price list {price.price_list}"
    return f"{in_pounds(price.after)}{where} {price.why}"


def _field_error(kind: str, error: RowMessage) -> FieldError:
    of_list = f"prices[{error.line - 1}]." if kind == "price-list" and error.line is not None else ""
    return FieldError(f"{of_list}{error.field}", error.problem)
