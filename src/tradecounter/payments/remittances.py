"""Records what customers tell of their payments, and finds the remittance that a line of a bank file pays."""

from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.audit.record import audit
from tradecounter.billing.queries.ledger import open_invoices
from tradecounter.billing.rules import require_amount
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.label_codes import typed_code
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind, invalid, not_found
from tradecounter.kit.money import NOTHING
from tradecounter.kit.numbers import Pounds
from tradecounter.payments.bank_line import BankLine
from tradecounter.payments.named_customers import says_enough
from tradecounter.payments.queries.remittances import RemittanceAdvice, awaited_of, insert_remittance, remove_remittance

AWAITED_FOR = timedelta(days=90)
_MOST_AWAITED = 50
MOST_INVOICES = 200
_SHORTEST_KEY = 4


class PaidInvoices(Struct, kw_only=True):
    """Invoices that the customer has paid. Without an amount, it is what is due of them."""

    invoices: Annotated[list[int], Meta(max_length=MOST_INVOICES)] = []
    amount: Pounds | None = None
    paid_on: date | None = None
    reference: Annotated[str, Meta(max_length=100)] = ""


async def tell_of_payment(
    tx: Transaction, customer_id: int, user_id: int | None, told: PaidInvoices, now: datetime
) -> RemittanceAdvice:
    """Store that a customer has paid invoices. Without a user, staff were told.

    Raises DomainError: invalid (an invoice that is not the customer's or is paid, an amount, a day), conflict (too many
    that have not come).
    """
    await lock_account(tx, customer_id)  # so that payments that are told of at the same time count each other
    due = {invoice.invoice: invoice.due for invoice in await open_invoices(tx, customer_id)}
    numbers = list(dict.fromkeys(told.invoices))
    if not numbers:
        raise invalid("invoices", "choose those that are paid")
    unknown = [number for number in numbers if number not in due]
    if unknown:
        raise invalid("invoices", f"{unknown[0]} is not an unpaid invoice of this account")
    amount = sum((due[number] for number in numbers), NOTHING) if told.amount is None else told.amount
    require_amount(amount)
    paid_on = told.paid_on or uk_date(now)
    if paid_on > uk_date(now) + timedelta(days=31):
        raise invalid("paid_on", "is more than a month ahead")
    if paid_on < uk_date(now) - AWAITED_FOR:
        raise invalid("paid_on", f"is more than {AWAITED_FOR.days} days ago")
    if len(await awaited_of(tx, [customer_id], now - AWAITED_FOR)) >= _MOST_AWAITED:
        raise DomainError(Kind.CONFLICT, f"{_MOST_AWAITED} payments that were told of have not come yet")
    reference = told.reference.strip()
    told_id = await insert_remittance(tx, customer_id, user_id, amount, paid_on, reference, numbers, now)
    after = {"id": told_id, "amount": amount, "paid_on": paid_on, "reference": reference, "invoices": numbers}
    audit(tx, "remittance.tell", f"customer/{customer_id}", now, after=after)
    return RemittanceAdvice(told_id, customer_id, amount, paid_on, reference, numbers, now, None)


async def told_invoices(tx: Transaction, customer_id: int, now: datetime) -> set[int]:
    """Return the invoices that a customer has told that it has paid, and whose money has not come."""
    awaited = await awaited_of(tx, [customer_id], now - AWAITED_FOR)
    return {number for each in awaited for number in each.invoices}


async def take_back_remittance(tx: Transaction, customer_id: int, remittance_id: int, now: datetime) -> None:
    """Delete what a customer has told of a payment. Raises DomainError (not found): also if the money has come."""
    if not await remove_remittance(tx, customer_id, remittance_id):
        raise not_found("payment", remittance_id)
    audit(tx, "remittance.take_back", f"customer/{customer_id}", now, before={"id": remittance_id})


def matching(
    line: BankLine, usual: int | None, awaited: Sequence[RemittanceAdvice], used: Collection[int]
) -> RemittanceAdvice | None:
    """Return the remittance that a line pays, or None.

    It has the line's amount, and either the line contains its reference, which says more than "payment", or the
    payer's money usually goes to its customer, which is `usual`. If several remittances fit equally well, the line pays
    none of them, unless all tell of the same invoices, as two colleagues may: then it is the first.
    """
    fitting = [each for each in awaited if each.amount == line.pounds and each.id not in used]
    written = typed_code(line.reference)
    telling = [each for each in fitting if says_enough(each.reference, _SHORTEST_KEY)]
    named = [each for each in telling if typed_code(each.reference) in written]
    for found in (named, [each for each in fitting if each.customer_id == usual]):
        if len({(each.customer_id, frozenset(each.invoices)) for each in found}) == 1:
            return min(found, key=lambda each: each.id)
    return None
