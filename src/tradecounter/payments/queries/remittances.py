"""Remittances: payments that customers have announced."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found
from tradecounter.kit.wire import Amount, Moment, Timed


class RemittanceAdvice(Timed, Struct, frozen=True):
    """A payment that a customer has announced."""

    id: int
    customer_id: int
    amount: Amount
    paid_on: Annotated[date, Meta(description="The day on which the customer has paid, or will.")]
    reference: Annotated[str, Meta(description="The reference that the customer has given to its bank.")]
    invoices: Annotated[list[int], Meta(description="The numbers of the invoices.")]
    told_at: Moment
    payment_id: Annotated[int | None, Meta(description="The payment that it was; null until a bank file has it.")]


_COLUMNS = SQL("id, customer_id, amount, paid_on, reference, invoices, told_at, payment_id")
_REMITTANCES = SQL("select {} from remittance r").format(_COLUMNS)
# One whose invoices are all paid came by another way.
_AWAITED = SQL("""
    payment_id is null and told_at > :since
    and exists (select from invoice_balance b where b.invoice = any(r.invoices) and b.due > 0)
""")
_ADD = Statement(
    SQL("""
        insert into remittance (customer_id, user_id, amount, paid_on, reference, invoices, told_at)
        values (:customer_id, :user_id, :amount, :paid_on, :reference, :invoices, :now) returning {}
    """).format(_COLUMNS),
    RemittanceAdvice,
)
_ONE = Statement(SQL("{} where id = :id").format(_REMITTANCES), RemittanceAdvice)
_TABLE = Statement(
    SQL("""{} where (:customer_id::bigint is null or customer_id = :customer_id)
        and (:before::bigint is null or id < :before)
        and (:changed_since::timestamptz is null or changed_at >= :changed_since)
        order by id desc limit :most""").format(_REMITTANCES),
    RemittanceAdvice,
)
_AWAITED_OF = Statement(
    SQL("{} where customer_id = any(:customer_ids::bigint[]) and {} order by id").format(_REMITTANCES, _AWAITED),
    RemittanceAdvice,
)
_AWAITED_AMOUNTS = Statement(
    SQL("{} where amount = any(:amounts::numeric[]) and {} order by id").format(_REMITTANCES, _AWAITED),
    RemittanceAdvice,
)
_REMOVE = Statement(
    SQL("""delete from remittance where id = :id and customer_id = :customer_id and payment_id is null
        returning {}""").format(_COLUMNS),
    RemittanceAdvice,
)
_LOCK_AWAITED = Statement(
    "select id from remittance where id = any(:ids::bigint[]) and payment_id is null order by id for update"
)
_MARK_RECEIVED = Statement("""
    update remittance set payment_id = t.payment_id
    from unnest(:ids::bigint[], :payments::bigint[]) as t (id, payment_id) where remittance.id = t.id
""")
_REOPEN = Statement("update remittance set payment_id = null where payment_id = any(:payment_ids)")


async def insert_remittance(
    tx: Transaction,
    customer_id: int,
    user_id: int | None,
    amount: Decimal,
    paid_on: date,
    reference: str,
    invoices: Sequence[int],
    now: datetime,
) -> RemittanceAdvice:
    """Store a remittance and return it."""
    return await tx.fetch_row(
        _ADD,
        customer_id=customer_id,
        user_id=user_id,
        amount=amount,
        paid_on=paid_on,
        reference=reference,
        invoices=list(invoices),
        now=now,
    )


async def fetch_remittance(tx: Transaction, remittance_id: int) -> RemittanceAdvice:
    """Return a remittance. Raises DomainError (not found)."""
    row = await tx.find_row(_ONE, id=remittance_id)
    return or_not_found(row, "remittance", remittance_id)


async def remittance_table(
    tx: Transaction, customer_id: int | None, before: int | None, most: int, changed_since: datetime | None = None
) -> list[RemittanceAdvice]:
    """Return remittances of a customer, or of all, the latest first, those with ids below `before`."""
    return await tx.fetch_all(_TABLE, customer_id=customer_id, before=before, most=most, changed_since=changed_since)


async def awaited_of(tx: Transaction, customer_ids: Sequence[int], since: datetime) -> list[RemittanceAdvice]:
    """Return the remittances of customers that were announced after a moment and have not arrived."""
    return await tx.fetch_all(_AWAITED_OF, customer_ids=list(customer_ids), since=since)


async def awaited_amounts(tx: Transaction, amounts: Collection[Decimal], since: datetime) -> list[RemittanceAdvice]:
    """Return the remittances of these amounts that were announced after a moment and have not arrived."""
    return await tx.fetch_all(_AWAITED_AMOUNTS, amounts=list(amounts), since=since)


async def remove_remittance(tx: Transaction, customer_id: int, remittance_id: int) -> RemittanceAdvice:
    """Delete and return a remittance that has not arrived. Raises DomainError (not found)."""
    row = await tx.find_row(_REMOVE, id=remittance_id, customer_id=customer_id)
    return or_not_found(row, "remittance", remittance_id)


async def lock_awaited(tx: Transaction, remittance_ids: Collection[int]) -> set[int]:
    """Lock those of the remittances until the transaction ends that have not arrived; return their ids."""
    if not remittance_ids:
        return set()
    return {remittance_id for (remittance_id,) in await tx.fetch_all(_LOCK_AWAITED, ids=list(remittance_ids))}


async def mark_received(tx: Transaction, payments: Mapping[int, int]) -> None:
    """Record the payments by which locked remittances have arrived, by the remittances' ids."""
    if payments:
        await tx.execute(_MARK_RECEIVED, ids=list(payments), payments=list(payments.values()))


def reopen_remittances(tx: Transaction, payment_ids: Sequence[int]) -> None:
    """Record that the remittances of reversed payments have not arrived."""
    tx.queue(_REOPEN, payment_ids=payment_ids)
