"""What an account owes. The row of `credit_exposure` is the account's lock: its orders are confirmed one by one."""

from dataclasses import dataclass
from decimal import Decimal

from tradecounter.credit.rules import require_credit
from tradecounter.db.rows import execute, fetch_one, fetch_value
from tradecounter.db.transaction import Transaction
from tradecounter.kit.money import NOTHING


@dataclass(frozen=True, slots=True)
class _Exposure:
    credit_limit: Decimal | None
    outstanding: Decimal


async def outstanding_of(tx: Transaction, customer_id: int) -> Decimal:
    """Return the unpaid gross of a customer's confirmed orders."""
    value = await fetch_value(tx, "select outstanding from credit_exposure where customer_id = %s", [customer_id])
    return value if value is not None else NOTHING


async def charge(tx: Transaction, customer_id: int, gross: Decimal) -> None:
    """Add a confirmed order's gross to what the account owes, if its credit allows it.

    Takes the account's lock until the transaction ends. Raises DomainError (payment required).
    """
    exposure = await fetch_one(
        tx,
        _Exposure,
        """
        with charged as (
            insert into credit_exposure (customer_id, outstanding) values (%(customer)s, %(gross)s)
            on conflict (customer_id) do update set outstanding = credit_exposure.outstanding + excluded.outstanding
            returning customer_id, outstanding
        )
        select c.credit_limit, charged.outstanding - %(gross)s as outstanding
        from charged join customer c on c.id = charged.customer_id
        """,
        {"customer": customer_id, "gross": gross},
    )
    if exposure is None:
        raise LookupError(f"no customer {customer_id}")
    require_credit(exposure.credit_limit, exposure.outstanding, gross)


async def discharge(tx: Transaction, customer_id: int, gross: Decimal) -> None:
    """Take off what was paid or cancelled."""
    await execute(
        tx,
        "update credit_exposure set outstanding = outstanding - %s where customer_id = %s",
        [gross, customer_id],
    )
