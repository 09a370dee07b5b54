"""Saves a contract price as an import."""

from datetime import date, datetime

from msgspec import Struct

from tradecounter.bulk.import_options import ImportReport
from tradecounter.bulk.importing import lock_records
from tradecounter.bulk.rows import Row
from tradecounter.db.transaction import Transaction
from tradecounter.imports.save_product import import_rows
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, FieldError, Kind
from tradecounter.prices.importing import CONTRACT_PRICES, ContractPriceRow
from tradecounter.prices.queries.prices_of_products import ContractPrice, contract_prices_of
from tradecounter.products.queries.products import fetch_product


class SavedContractPrice(Struct, frozen=True, kw_only=True):
    """A contract price to save. `seen` is `seen_of` the price that the form showed; None for a new one."""

    row: ContractPriceRow
    seen: str | None = None
    force: bool = False


async def save_contract_price(tx: Transaction, wanted: SavedContractPrice, now: datetime) -> ImportReport:
    """Add a contract price or change it.

    Raises DomainError: not found (the product); invalid, naming the fields; conflict (the customer has another price
    from the same day than the one that the form showed, or the price needs `force`).
    """
    await lock_records(tx, CONTRACT_PRICES)
    product = (await fetch_product(tx, wanted.row.sku)).record
    prices = await contract_prices_of(tx, product.id, wanted.row.customer_id)
    before = price_from(prices, wanted.row.valid_from)
    if wanted.seen != (None if before is None else seen_of(before)):
        problem = "the customer has a price from this day already: change that one"
        if wanted.seen is not None:
            problem = "someone else has changed this price since it was shown: open it again for what is new"
        raise DomainError(Kind.CONFLICT, problem, field_errors=[FieldError("valid_from", problem)])
    return await import_rows(tx, "contract-prices", [Row(1, wanted.row)], now, force=wanted.force)


def price_from(prices: list[ContractPrice], valid_from: date | None) -> ContractPrice | None:
    """Return the price among those of one customer that is valid from a day, or None."""
    return next((price for price in prices if price.valid_from == valid_from), None)
