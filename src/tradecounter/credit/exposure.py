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
class Exposure:
    """What an account may owe, and owed before it was charged."""

    credit_limit: Decimal | None
    outstanding: Decimal


_CHARGE = Statement(
    """
    with charged as (
        insert into credit_exposure (customer_id, outstanding) values ($1, $2)
        on conflict (customer_id) do update set outstanding = credit_exposure.outstanding + excluded.outstanding
        returning customer_id, outstanding
    )
    select c.credit_limit, charged.outstanding - $2 as outstanding
    from charged join customer c on c.id = charged.customer_id
    """,
    Exposure,
)


def charge(customer_id: int, gross: Decimal) -> Query[Exposure]:
    """Return the statement that adds a confirmed order's gross to what the account owes; `require_charged` judges it.

    Takes the account's lock until the transaction ends.
    """
    return _CHARGE(customer_id, gross)


def require_charged(charged: Query[Exposure], gross: Decimal) -> None:
    """Raise DomainError (payment required) when the account's credit does not allow what it was charged."""
    exposure = charged.only
    require_credit(exposure.credit_limit, exposure.outstanding, gross)


async def discharge(tx: Transaction, customer_id: int, gross: Decimal) -> None:
    """Take off what was paid or cancelled."""
    await execute(
        tx,
        "update credit_exposure set outstanding = outstanding - %s where customer_id = %s",
        [gross, customer_id],
    )
