"""What an account owes. The row of `credit_exposure` is the account's lock: its orders are confirmed one by one."""

from dataclasses import dataclass
from decimal import Decimal

from tradecounter.credit.rules import require_credit
from tradecounter.db.round_trip import Query, Statement
from tradecounter.db.rows import execute, fetch_value
from tradecounter.db.transaction import Transaction
from tradecounter.kit.money import NOTHING


async def outstanding_of(tx: Transaction, customer_id: int) -> Decimal:
    """Return the unpaid gross of a customer's confirmed orders."""
    value = await fetch_value(tx, "select outstanding from credit_exposure where customer_id = %s", [customer_id])
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
    insert into credit_exposure (customer_id, outstanding) values ($1, $2)
    on conflict (customer_id) do update set outstanding = credit_exposure.outstanding + excluded.outstanding
    returning credit_exposure.outstanding - $2 as outstanding
    """,
    Charged,
)

# A statement of its own: one that waits for the account's lock would see the limit as it was when the waiting began.
_LIMIT = Statement("select credit_limit from customer where id = $1", CreditLimit)


def charge(customer_id: int, gross: Decimal) -> Query[Charged]:
    """Return the statement that adds a confirmed order's gross to what the account owes; `require_charged` judges it.

    Takes the account's lock until the transaction ends.
    """
    return _CHARGE(customer_id, gross)


def limit_of(customer_id: int) -> Query[CreditLimit]:
    """Return the statement for what an account may owe, which comes after `charge`, also in the same trip."""
    return _LIMIT(customer_id)


def require_charged(charged: Query[Charged], limit: Query[CreditLimit], gross: Decimal) -> None:
    """Raise DomainError (payment required) when the account's credit does not allow what it was charged."""
    require_credit(limit.only.credit_limit, charged.only.outstanding, gross)


async def discharge(tx: Transaction, customer_id: int, gross: Decimal) -> None:
    """Take off what was paid or cancelled."""
    await execute(
        tx,
        "update credit_exposure set outstanding = outstanding - %s where customer_id = %s",
        [gross, customer_id],
    )
