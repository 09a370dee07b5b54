"""Payments and credit notes in the demo's history."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.queries.ledger import open_invoices
from tradecounter.customers.queries.accounts import list_accounts
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.kit.local_time import uk_date
from tradecounter.payments.bank_file import read_bank_file
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.record_payment import NewPayment, pay_account, pay_invoice
from tradecounter.payments.reverse_payment import reverse_payment
from tradecounter.sandbox.steps import Reseller, unpaid_invoice


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
    found = next((account for account in await list_accounts(tx) if account.email_address == email), None)
    if found is None:
        raise not_found("customer", email)
    return found
