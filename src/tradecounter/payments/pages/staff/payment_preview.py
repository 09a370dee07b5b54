"""What a payment would pay, which forms show before they record it, and who pays."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from tradecounter.billing.queries.ledger import open_invoices
from tradecounter.customers.named_customer import found_customers, named_customer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING, in_pounds
from tradecounter.payments.wire import Payment

UNASKED = Decimal("1.00")  # pounds more than is due that need no tick


class PaymentPreview(Struct, frozen=True):
    """A payment as it was recorded, or would be; `due_then` is what is still due then, by invoice."""

    payment: Payment
    customer: str
    due_then: Mapping[int, Decimal]

    @property
    def is_refund(self) -> bool:
        """Whether the money is given back."""
        return self.payment.method == "refund"

    @property
    def rest(self) -> Decimal:
        """What of a payment stays on the account."""
        if self.is_refund:
            return NOTHING
        return self.payment.amount - sum((share.amount for share in self.payment.allocations), NOTHING)

    @property
    def is_asked_about(self) -> bool:
        """Whether the payment is so much more than is due that it may be a slip."""
        return self.rest > UNASKED

    @property
    def facts(self) -> Any:
        """What a form has to show before the payment is recorded."""
        return self.payment.customer_id, self.is_refund, self.payment.amount, self.payment.allocations

    def require_answer(self, on_account: str) -> None:
        """Raise DomainError (invalid) unless `on_account` says that the rest is meant to stay on the account."""
        if self.is_asked_about and on_account != str(self.rest):
            raise DomainError(
                Kind.INVALID,
                f"{in_pounds(self.rest)} is more than is due: tick that it stays on the account, or correct the form",
            )


async def preview_of(tx: Transaction, payment: Payment) -> PaymentPreview:
    """Return what a payment pays that this transaction has recorded."""
    account = await fetch_account(tx, payment.customer_id)
    due = {invoice.invoice: invoice.due for invoice in await open_invoices(tx, payment.customer_id)}
    return PaymentPreview(payment, account.name, due)


async def chosen_customer(tx: Transaction, text: str, picked: int | UnsetType) -> int | UnsetType:
    """Return the customer of a number, a name or an e-mail address; `picked` decides between several.

    Raises DomainError (invalid) for none, and for several without a choice.
    """
    if picked is not UNSET and picked in [customer.id for customer in await found_customers(tx, text)]:
        return picked
    number = await named_customer(tx, "customer_id", text)
    return UNSET if number is None else number
