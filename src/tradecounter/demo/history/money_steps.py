"""Payments and credit notes in the demo's history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tradecounter.billing.issue_credit_note import issue_credit_note
from tradecounter.billing.queries.ledger import OpenInvoice, invoices_of_order, open_invoices
from tradecounter.customers.queries.accounts import list_accounts
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.demo.steps import Reseller, Step
from tradecounter.kit.errors import not_found
from tradecounter.kit.local_time import uk_date
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.payments.bank_file import read_bank_file
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.record_payment import NewPayment, pay_account, pay_invoice
from tradecounter.payments.reverse_payment import reverse_payment


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled(Step):
    """The customer pays what is due of an order's invoice, or `percent` of it, and `extra` pounds too much."""

    reference: str
    percent: int = 100
    extra: Decimal = Decimal(0)

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        invoice = await _invoice_of(tx, code)
        amount = round(invoice.due * self.percent / 100, 2) + self.extra
        await pay_invoice(tx, invoice.invoice, _payment(amount, self.reference, now), now)


@dataclass(frozen=True, slots=True)
class Bounced(Step):
    """The bank takes the payment of an order's invoice back."""

    reference: str

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        invoice = await _invoice_of(tx, code)
        payment = await pay_invoice(tx, invoice.invoice, _payment(invoice.due, self.reference, now), now)
        await reverse_payment(tx, payment.id, "The bank returned the direct debit: not enough money.", now)


@dataclass(frozen=True, slots=True)
class Prepaid(Step):
    """A customer pays onto its account; what no invoice needs stays unallocated."""

    amount: Decimal
    reference: str

    async def _apply(self, tx: Transaction, email: str, _reseller: Reseller, now: datetime) -> None:
        account = await account_of(tx, email)
        await pay_account(tx, account.id, _payment(self.amount, self.reference, now), now)


@dataclass(frozen=True, slots=True)
class PaidUp(Step):
    """A customer pays all its open invoices with one transfer."""

    reference: str

    async def _apply(self, tx: Transaction, email: str, _reseller: Reseller, now: datetime) -> None:
        account = await account_of(tx, email)
        due = sum((invoice.due for invoice in await open_invoices(tx, account.id)), Decimal(0))
        await pay_account(tx, account.id, _payment(due, self.reference, now), now)


@dataclass(frozen=True, slots=True)
class Credited(Step):
    """Finance credits a few pounds of an order's invoice."""

    amount: Decimal
    reason: str

    async def _apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        invoice = await _invoice_of(tx, code)
        await issue_credit_note(tx, invoice.invoice, self.amount, self.reason, reseller.letterhead, now)


@dataclass(frozen=True, slots=True)
class BankFile(Step):
    """Finance imports a bank file: payments of these orders' invoices, and as many lines that cannot be placed."""

    codes: Sequence[str]

    async def _apply(self, tx: Transaction, _code: str, _reseller: Reseller, now: datetime) -> None:
        day = uk_date(now)
        lines = ["date,amount,reference"]
        for code in self.codes:
            invoice = await _invoice_of(tx, code)
            lines.append(f"{day},{invoice.due},BACS {invoice.invoice}")
        lines += [
            f"{day},120.00,Thank you for the quick delivery",
            f"{day},48.60,BACS 999999",
            f"{day},a hundred,Standing order",
        ]
        await import_payments(tx, read_bank_file("\n".join(lines).encode(), "CSV", day), now, name="bank.csv")


async def account_of(tx: Transaction, email: str) -> Account:
    """Return the customer with an e-mail address. Raises DomainError (not found)."""
    found = next((account for account in await list_accounts(tx) if account.email_address == email), None)
    if found is None:
        raise not_found("customer", email)
    return found


async def _invoice_of(tx: Transaction, code: str) -> OpenInvoice:
    """Return an order's first invoice that is not fully paid. Raises DomainError (not found)."""
    invoices = await invoices_of_order(tx, (await fetch_order(tx, code)).id)
    found = next((invoice for invoice in invoices if invoice.due), None)
    if found is None:
        raise not_found("unpaid invoice of order", code)
    return found


def _payment(amount: Decimal, reference: str, now: datetime) -> NewPayment:
    return NewPayment(amount=amount, received_on=uk_date(now), method="bank_transfer", reference=reference)
