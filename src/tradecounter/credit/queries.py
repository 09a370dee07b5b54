"""Reads and changes the exposure of accounts. Its row in `credit_exposure` is the lock for confirming orders."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from tradecounter.credit.rules import CreditRoom, require_credit
from tradecounter.db.pipeline import Pipeline, Result
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found
from tradecounter.kit.money import NOTHING

_OUTSTANDING_OF = Statement(
    "select customer_id, outstanding from credit_exposure where customer_id = any(:customer_ids)"
)


async def outstanding_of(tx: Transaction, customer_id: int) -> Decimal:
    """Return the unpaid gross of a customer's confirmed orders."""
    return (await outstanding_by_customer(tx, [customer_id])).get(customer_id, NOTHING)


async def outstanding_by_customer(tx: Transaction, customer_ids: Sequence[int]) -> dict[int, Decimal]:
    """Return the unpaid gross of the confirmed orders of each customer that ever had any."""
    return dict(await tx.fetch_all(_OUTSTANDING_OF, customer_ids=list(customer_ids)))


_ROOM = Statement(
    "select c.credit_limit as limit, coalesce(e.outstanding, 0.00) as outstanding"
    " from customer c left join credit_exposure e on e.customer_id = c.id where c.id = :customer_id",
    CreditRoom,
)


async def fetch_credit_room(tx: Transaction, customer_id: int) -> CreditRoom:
    """Return an account's credit and how much of it is used. Raises DomainError (not found)."""
    row = await tx.find_row(_ROOM, customer_id=customer_id)
    return or_not_found(row, "customer", customer_id)


_CHARGE = Statement(
    """
    insert into credit_exposure (customer_id, outstanding) values (:customer_id, :gross)
    on conflict (customer_id) do update set outstanding = credit_exposure.outstanding + excluded.outstanding
    returning credit_exposure.outstanding - :gross
    """
)

# A separate statement: _CHARGE may wait for the account's lock, and would read the limit from before the wait.
_LIMIT = Statement("select credit_limit from customer where id = :customer_id")

Rows = Result[tuple[Any, ...]]


def pipe_charge(p: Pipeline, customer_id: int, gross: Decimal) -> tuple[Rows, Rows]:
    """Add a confirmed order's gross to the account's exposure; `require_charged` checks the results.

    Takes the account's lock until the transaction ends.
    """
    charged = p.fetch(_CHARGE, customer_id=customer_id, gross=gross)
    return charged, p.fetch(_LIMIT, customer_id=customer_id)


def require_charged(charged: Rows, limit: Rows, gross: Decimal, what: str = "order") -> None:
    """Raise DomainError (payment required), as `require_credit` does, when the charge exceeds the account's credit."""
    [(outstanding_before,)], [(credit_limit,)] = charged.rows, limit.rows
    require_credit(credit_limit, outstanding_before, gross, what)


_DISCHARGE = Statement("update credit_exposure set outstanding = outstanding - :gross where customer_id = :customer_id")


def discharge(tx: Transaction, customer_id: int, gross: Decimal) -> None:
    """Subtract a payment, a credit note or a cancelled debt; a negative amount is owed again."""
    tx.queue(_DISCHARGE, gross=gross, customer_id=customer_id)


_LOCK = Statement("select from credit_exposure where customer_id = :customer_id for no key update")


async def lock_exposure(tx: Transaction, customer_id: int) -> None:
    """Lock an account's exposure, for a transaction that changes it only after it has locked stock."""
    await tx.execute(_LOCK, customer_id=customer_id)
