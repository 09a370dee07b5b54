"""What an account owes. The row of `credit_exposure` is the account's lock: its orders are confirmed one by one."""

from dataclasses import dataclass
from decimal import Decimal

from tradecounter.credit.rules import require_credit
from tradecounter.db.pipeline import Pipeline, Result
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.money import NOTHING

_OUTSTANDING_OF = Statement("select outstanding from credit_exposure where customer_id = :customer_id")


async def outstanding_of(tx: Transaction, customer_id: int) -> Decimal:
    """Return the unpaid gross of a customer's confirmed orders."""
    value = await tx.fetch_value(_OUTSTANDING_OF, customer_id=customer_id)
    return value if value is not None else NOTHING


@dataclass(frozen=True, slots=True)
class Charged:
    """What an account owed before it was charged."""

    outstanding: Decimal


@dataclass(frozen=True, slots=True)
class CreditLimit:
    """What an account may owe; None without credit terms."""

    credit_limit: Decimal | None


_CHARGE = Statement(
    """
    insert into credit_exposure (customer_id, outstanding) values (:customer_id, :gross)
    on conflict (customer_id) do update set outstanding = credit_exposure.outstanding + excluded.outstanding
    returning credit_exposure.outstanding - :gross as outstanding
    """,
    Charged,
)

# A statement of its own: one that waits for the account's lock would see the limit as it was when the waiting began.
_LIMIT = Statement("select credit_limit from customer where id = :customer_id", CreditLimit)


def charge(p: Pipeline, customer_id: int, gross: Decimal) -> tuple[Result[Charged], Result[CreditLimit]]:
    """Add a confirmed order's gross to what the account owes; `require_charged` judges the results.

    Takes the account's lock until the transaction ends.
    """
    charged = p.fetch(_CHARGE, customer_id=customer_id, gross=gross)
    return charged, p.fetch(_LIMIT, customer_id=customer_id)


def require_charged(charged: Result[Charged], limit: Result[CreditLimit], gross: Decimal) -> None:
    """Raise DomainError (payment required) when the account's credit does not allow what it was charged."""
    require_credit(limit.one.credit_limit, charged.one.outstanding, gross)


_DISCHARGE = Statement("update credit_exposure set outstanding = outstanding - :gross where customer_id = :customer_id")


async def discharge(tx: Transaction, customer_id: int, gross: Decimal) -> None:
    """Take off what was paid or cancelled."""
    await tx.execute(_DISCHARGE, gross=gross, customer_id=customer_id)
