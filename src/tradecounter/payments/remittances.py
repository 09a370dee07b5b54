"""Records the payments that customers announce, and finds the remittance that a line of a bank file pays."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from msgspec import Meta, Struct

from tradecounter.audit.record import audit
from tradecounter.billing.queries.ledger import open_invoices
from tradecounter.billing.rules import require_amount
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.label_codes import typed_code
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, ErrorCollector, FieldError, Kind
from tradecounter.kit.money import NOTHING
from tradecounter.kit.numbers import Pounds
from tradecounter.payments.bank_line import BankLine
from tradecounter.payments.named_customers import says_enough
from tradecounter.payments.queries.remittances import RemittanceAdvice, awaited_of, insert_remittance, remove_remittance

AWAITED_FOR = timedelta(days=90)
_MOST_AWAITED = 50
MOST_INVOICES = 200


class PaidInvoices(Struct, kw_only=True):
    """Invoices that the customer has paid; `amount` is by default what is due of them."""

    invoices: Annotated[list[int], Meta(max_length=MOST_INVOICES)] = []
    amount: Pounds | None = None
    paid_on: date | None = None
    reference: Annotated[str, Meta(max_length=100)] = ""


async def announce_payment(
    tx: Transaction, customer_id: int, user_id: int | None, paid: PaidInvoices, now: datetime
) -> RemittanceAdvice:
    """Store a payment that a customer announces for invoices. Without a user, staff store it.

    Raises DomainError: invalid (an invoice that is not the customer's or is paid, an amount, a day), conflict (too many
    that have not arrived).
    """
    await lock_account(tx, customer_id)  # so that remittances that are stored at the same time count each other
    due = {invoice.invoice: invoice.due for invoice in await open_invoices(tx, customer_id)}
    paid_on = paid.paid_on or uk_date(now)
    _require_valid(paid, due, paid_on, now)
    numbers = list(dict.fromkeys(paid.invoices))
    amount = sum((due[number] for number in numbers), NOTHING) if paid.amount is None else paid.amount
    if len(await awaited_of(tx, [customer_id], now - AWAITED_FOR)) >= _MOST_AWAITED:
        raise DomainError(Kind.CONFLICT, f"{_MOST_AWAITED} announced payments have not arrived yet")
    reference = paid.reference.strip()
    announced = await insert_remittance(tx, customer_id, user_id, amount, paid_on, reference, numbers, now)
    audit(tx, "remittance.tell", f"customer/{customer_id}", now, after=_audited(announced))
    return announced


def _require_valid(paid: PaidInvoices, due: Collection[int], paid_on: date, now: datetime) -> None:
    collector = ErrorCollector()
    if not paid.invoices:
        collector.errors.append(FieldError("invoices", "must include at least one that you have paid"))
    collector.errors += [
        FieldError(f"invoices[{place}]", f"{number} is not an unpaid invoice of this account")
        for place, number in enumerate(paid.invoices)
        if number not in due
    ]
    if paid.amount is not None:
        with collector.collecting():
            require_amount(paid.amount)
    if paid_on > uk_date(now) + timedelta(days=31):
        collector.errors.append(FieldError("paid_on", "is more than a month ahead"))
    if paid_on < uk_date(now) - AWAITED_FOR:
        collector.errors.append(FieldError("paid_on", f"is more than {AWAITED_FOR.days} days ago"))
    collector.check()


def _audited(remittance: RemittanceAdvice) -> dict[str, Any]:
    return {name: getattr(remittance, name) for name in ("id", "amount", "paid_on", "reference", "invoices")}


async def announced_invoices(tx: Transaction, customer_id: int, now: datetime) -> set[int]:
    """Return the invoices of a customer's announced payments that have not arrived."""
    awaited = await awaited_of(tx, [customer_id], now - AWAITED_FOR)
    return {number for remittance in awaited for number in remittance.invoices}


async def withdraw_remittance(tx: Transaction, customer_id: int, remittance_id: int, now: datetime) -> None:
    """Delete a remittance. Raises DomainError (not found), also if the money has arrived."""
    removed = await remove_remittance(tx, customer_id, remittance_id)
    audit(tx, "remittance.take_back", f"customer/{customer_id}", now, before=_audited(removed))


def telling_code(remittance: RemittanceAdvice) -> str:
    """Return the code of a remittance's reference; empty if the reference says too little."""
    return typed_code(remittance.reference) if says_enough(remittance.reference) else ""


def matching_remittance(
    line: BankLine, payer_id: int | None, of_amount: Sequence[RemittanceAdvice], codes: Mapping[int, str]
) -> RemittanceAdvice | None:
    """Return which of the remittances with a line's amount the line pays, or None.

    The line contains the remittance's reference, which must say more than "payment"; or the payer's earlier money went
    to the remittance's customer, `payer_id`. If several remittances fit equally well, the line pays none of them,
    unless all have the same customer and the same invoices, as when two colleagues announce one payment. Then it pays
    the first one. `codes` has the `telling_code` of each remittance by its id.
    """
    reference = typed_code(line.reference)
    of_reference = [remittance for remittance in of_amount if (code := codes[remittance.id]) and code in reference]
    of_payer = [remittance for remittance in of_amount if remittance.customer_id == payer_id]
    for candidates in (of_reference, of_payer):
        if len({(remittance.customer_id, frozenset(remittance.invoices)) for remittance in candidates}) == 1:
            return min(candidates, key=lambda remittance: remittance.id)
    return None
