"""What the reseller's staff does besides orders: imports, customers, tokens; and a job that fails."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from msgspec import Struct

from tradecounter.access.tokens import add_token, revoke_token
from tradecounter.bulk.importing import ImportOptions, ImportReport
from tradecounter.bulk.rows import BadRow, Row
from tradecounter.customers.change_account import block_customer, change_customer
from tradecounter.customers.settings import CustomerChange
from tradecounter.db.transaction import Transaction
from tradecounter.demo.files import data_file, rows_of
from tradecounter.demo.history.money_steps import account_of
from tradecounter.demo.queries import queue_failed_job
from tradecounter.imports.roll_back import roll_back_import
from tradecounter.imports.run import import_in_transaction
from tradecounter.kit.errors import invalid
from tradecounter.kit.local_time import uk_date
from tradecounter.orders.back_orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.orders.back_orders.expected_dates import update_expected_dates
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.prices.importing import ContractPriceRow, PriceRow
from tradecounter.sandbox.steps import Reseller, lines_of
from tradecounter.stock.importing import IncomingRow

_CHANGED_PRICES = 24


class PricesTakenBack(Struct, frozen=True):
    """The catalogue team imports wrong prices, and rolls the import back."""

    async def __call__(self, tx: Transaction, _code: str, _reseller: Reseller, now: datetime) -> None:
        report = await _import(tx, "price-list", _wrong_prices(), now)
        if report.id is not None:
            await roll_back_import(tx, report.id, now + timedelta(minutes=17))


class Damaged(Struct, frozen=True):
    """The warehouse takes a damaged unit of an order's first product out of the stock."""

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        [line, *_] = await lines_of(tx, code)
        [part, *_] = line.components or (line,)
        await adjust_stock(tx, [Adjustment(sku=part.sku, change=-1, reason="Damaged in the warehouse")], now)


class Agreed(Struct, frozen=True):
    """The customer gets contract prices of an order's products, valid for half a year; the next orders pay them."""

    code: str
    percent: int

    async def __call__(self, tx: Transaction, email: str, _reseller: Reseller, now: datetime) -> None:
        account = await account_of(tx, email)
        lines = await lines_of(tx, self.code)
        day = uk_date(now)
        rows: list[Row[Any] | BadRow[Any]] = [
            Row(
                number,
                ContractPriceRow(
                    customer_id=account.id,
                    sku=line.sku,
                    single_unit_cost=round(line.unit_cost * self.percent / 100, 2),
                    valid_from=day,
                    valid_until=day + timedelta(days=182),
                ),
            )
            for number, line in enumerate(lines, start=2)
        ]
        await _import(tx, "contract-prices", iter(rows), now)


class Promised(Struct, frozen=True):
    """The warehouse imports the expected deliveries of an order's back-ordered products; the order gets a date."""

    in_days: int

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        lines = await lines_of(tx, code)
        skus = {part.sku for line in lines for part in line.components or (line,) if part.back_ordered}
        day = str(uk_date(now) + timedelta(days=self.in_days))
        rows = [Row(number, IncomingRow(sku, 200, day)) for number, sku in enumerate(sorted(skus), start=2)]
        await _import(tx, "incoming", iter(rows), now)
        await update_expected_dates(tx, now)


class Blocked(Struct, frozen=True):
    """Finance blocks a customer."""

    reason: str

    async def __call__(self, tx: Transaction, email: str, _reseller: Reseller, now: datetime) -> None:
        await block_customer(tx, (await account_of(tx, email)).id, self.reason, now)


class LimitRaised(Struct, frozen=True):
    """Finance raises a customer's credit limit."""

    pounds: Decimal

    async def __call__(self, tx: Transaction, email: str, _reseller: Reseller, now: datetime) -> None:
        account = await account_of(tx, email)
        limit = (account.credit_limit or Decimal(0)) + self.pounds
        await change_customer(tx, account.id, CustomerChange(credit_limit=limit), now)


class TokenRevoked(Struct, frozen=True):
    """An administrator adds a service token, and revokes it a few days later."""

    name: str

    async def __call__(self, tx: Transaction, _code: str, _reseller: Reseller, now: datetime) -> None:
        added, _ = await add_token(tx, self.name, ["prices:write", "catalogue:read"], now - timedelta(days=6))
        await revoke_token(tx, added.id, now)


class MailFailed(Struct, frozen=True):
    """The e-mail about an order fails permanently."""

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await queue_failed_job(tx, "mail_order_dispatched", (await fetch_order(tx, code)).id, now)


async def _import(tx: Transaction, kind: str, rows: Iterator[Row[Any] | BadRow[Any]], now: datetime) -> ImportReport:
    """Import rows in the caller's transaction, also prices that are guarded. Raises DomainError (invalid)."""
    report = await import_in_transaction(tx, kind, rows, ImportOptions(force=True), on_hand=False, now=now)
    if report.errors:
        raise invalid(kind, report.errors[0].message)
    return report


def _wrong_prices() -> Iterator[Row[Any] | BadRow[Any]]:
    """Yield the first default prices with a tenth of their value, as after a slip of the decimal point."""
    found = 0
    for row in rows_of("price-list", data_file("price-list.csv")):
        if isinstance(row, Row) and row.values.price_list == "default" and found < _CHANGED_PRICES:
            found += 1
            cost = round(Decimal(str(row.values.single_unit_cost)) / 10, 2)
            yield Row(row.line, PriceRow("default", row.values.sku, cost))
