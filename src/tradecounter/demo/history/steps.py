"""Steps of the demo's history: of orders, quotes and returns, of payments, and of the staff's other work."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from msgspec import Struct

from tradecounter.access.tokens import add_token, revoke_token
from tradecounter.billing.queries.ledger import open_invoices
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.rows import BadRow, Row
from tradecounter.credit_notes.credit_return import receive_and_credit
from tradecounter.customers.change_account import block_customer
from tradecounter.customers.operations.changes import change_customer
from tradecounter.customers.queries.accounts import list_accounts
from tradecounter.customers.settings import Account, CustomerChange
from tradecounter.db.transaction import Transaction
from tradecounter.demo.load import data_file, rows_of
from tradecounter.demo.queries import queue_failed_job
from tradecounter.imports.run import import_in_transaction, roll_back_import
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import invalid, not_found, or_not_found
from tradecounter.orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.orders.cancel_order import expire_orders
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import add_note
from tradecounter.orders.serve_back_orders import update_expected_dates
from tradecounter.payments.bank_file import read_bank_file
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.record_payment import NewPayment, pay_account, pay_invoice, reverse_payment
from tradecounter.prices.importing import ContractPriceRow, PriceRow
from tradecounter.returns.handle_returns import close_return, open_return, receive_return
from tradecounter.returns.queries import returns_of_orders
from tradecounter.returns.wire import Receipt, ReceivedUnits, ReturnedUnits, ReturnRequest, return_number
from tradecounter.sandbox.steps import Reseller, lines_of, unpaid_invoice
from tradecounter.stock.importing import IncomingRow


class Bounced(Struct, frozen=True):
    """The bank takes the payment of an order's invoice back."""

    reference: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        invoice = await unpaid_invoice(tx, code)
        payment = await pay_invoice(tx, invoice.invoice, NewPayment(amount=invoice.due, reference=self.reference), now)
        await reverse_payment(tx, payment.id, "The bank returned the direct debit: not enough money.", now)


class Prepaid(Struct, frozen=True):
    """A customer pays onto its account; what no invoice needs stays unallocated."""

    amount: Decimal
    reference: str

    async def __call__(self, tx: Transaction, email: str, _reseller: Reseller, now: datetime) -> None:
        account = await account_of(tx, email)
        await pay_account(tx, account.id, NewPayment(amount=self.amount, reference=self.reference), now)


class PaidUp(Struct, frozen=True):
    """A customer pays all its open invoices with one transfer."""

    reference: str

    async def __call__(self, tx: Transaction, email: str, _reseller: Reseller, now: datetime) -> None:
        account = await account_of(tx, email)
        due = sum((invoice.due for invoice in await open_invoices(tx, account.id)), Decimal(0))
        await pay_account(tx, account.id, NewPayment(amount=due, reference=self.reference), now)


class BankFile(Struct, frozen=True):
    """Finance imports a bank file: payments of these orders' invoices, and as many lines that cannot be placed."""

    codes: Sequence[str]

    async def __call__(self, tx: Transaction, _code: str, _reseller: Reseller, now: datetime) -> None:
        day = uk_date(now)
        lines = ["date,amount,reference"]
        for code in self.codes:
            invoice = await unpaid_invoice(tx, code)
            lines.append(f"{day},{invoice.due},BACS {invoice.invoice}")
        lines += [
            f"{day},120.00,Thank you for the quick delivery",
            f"{day},48.60,BACS 999999",
            f"{day},a hundred,Standing order",
        ]
        await import_payments(tx, read_bank_file("\n".join(lines).encode(), "CSV", day), now, name="bank.csv")


async def account_of(tx: Transaction, email: str) -> Account:
    """Return the customer with an e-mail address. Raises DomainError (not found)."""
    match = next((account for account in await list_accounts(tx) if account.email_address == email), None)
    return or_not_found(match, "customer", email)


class Accepted(Struct, frozen=True):
    """The customer accepts a quote."""

    async def __call__(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        quote = await fetch_order(tx, code)
        await confirm_order(tx, quote.customer_id, code, None, reseller.policy, now)


class Noted(Struct, frozen=True):
    """Support adds a note."""

    text: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await add_note(tx, (await fetch_order(tx, code)).name, self.text, now)


class Expired(Struct, frozen=True):
    """The worker lets orders and quotes expire."""

    async def __call__(self, tx: Transaction, _code: str, _reseller: Reseller, now: datetime) -> None:
        await expire_orders(tx, now)


class Returned(Struct, frozen=True):
    """Support opens a return of some units of the first line."""

    units: int
    reason: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        [first, *_] = await lines_of(tx, code)
        units = ReturnedUnits(first.id, min(self.units, first.quantity))
        await open_return(tx, code, ReturnRequest([units], self.reason), now)


class Received(Struct, frozen=True):
    """The warehouse receives the returned units, for sale again or as scrap."""

    units: int
    restock: bool = True

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        items = await _returned_units(tx, code, self.units, restock=self.restock)
        await receive_return(tx, await _return_of(tx, code), items, now)


class ReceivedAndCredited(Struct, frozen=True):
    """The returned units come back and are credited, which closes the return."""

    units: int
    restock: bool = True

    async def __call__(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        items = await _returned_units(tx, code, self.units, restock=self.restock)
        await receive_and_credit(tx, await _return_of(tx, code), Receipt(items, credit=True), reseller.letterhead, now)


class GivenUp(Struct, frozen=True):
    """Support closes a return whose units never came back."""

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await close_return(tx, await _return_of(tx, code), now)


async def _return_of(tx: Transaction, code: str) -> str:
    order = await fetch_order(tx, code)
    returns = (await returns_of_orders(tx, [order.id])).get(order.id)
    if not returns:
        raise not_found("return of order", code)
    return return_number(returns[-1])


async def _returned_units(tx: Transaction, code: str, units: int, *, restock: bool) -> list[ReceivedUnits]:
    [first, *_] = await lines_of(tx, code)
    came_back = min(units, first.quantity)
    return [ReceivedUnits(first.id, restock=came_back) if restock else ReceivedUnits(first.id, scrap=came_back)]


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
    changed = 0
    for row in rows_of("price-list", data_file("price-list.csv")):
        if isinstance(row, Row) and row.values.price_list == "default" and changed < _CHANGED_PRICES:
            changed += 1
            cost = round(Decimal(str(row.values.single_unit_cost)) / 10, 2)
            yield Row(row.line, PriceRow(price_list="default", sku=row.values.sku, single_unit_cost=cost))
