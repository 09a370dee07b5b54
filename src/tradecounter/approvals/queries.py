"""Reads and writes requests for approval. An order has one at most."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

State = Literal["waiting", "approved", "declined"]


@dataclass(frozen=True, slots=True)
class Approval:
    """A request to confirm an order, who made it, and what was decided.

    `gross` is the total with VAT and the shipping method. `requested_by` is None once the user is deleted.
    """

    order_id: int
    code: str
    customer_id: int
    customer_reference: str
    gross: Decimal
    state: State
    requested_by: int | None
    requester: str
    requested_at: datetime
    shipping_method: int
    note: str
    decider: str
    decided_at: datetime | None
    reason: str


_APPROVALS = SQL("""
    select a.order_id, o.confirmation_code as code, o.customer_id, o.customer_reference, a.gross, a.state,
           a.requested_by, coalesce(r.email, '') as requester, a.requested_at, a.shipping_method, a.note,
           coalesce(d.email, '') as decider, a.decided_at, a.reason
    from order_approval a
    join orders o on o.id = a.order_id
    left join customer_user r on r.id = a.requested_by
    left join customer_user d on d.id = a.decided_by
    where o.customer_id = :customer_id and {} order by a.requested_at desc, a.order_id desc limit 200
""")
_WAITING = Statement(_APPROVALS.format(SQL("a.state = 'waiting' and o.state in ('pending', 'expired')")), Approval)
_OF_USER = Statement(_APPROVALS.format(SQL("a.requested_by = :user_id")), Approval)
_BY_CODE = Statement(_APPROVALS.format(SQL("o.confirmation_code = :code")), Approval)


async def waiting_approvals(tx: Transaction, customer_id: int) -> list[Approval]:
    """Return a customer's requests that wait, the latest first."""
    return await tx.fetch_all(_WAITING, customer_id=customer_id)


async def approvals_asked_by(tx: Transaction, customer_id: int, user_id: int) -> list[Approval]:
    """Return the requests of one of a customer's users, the latest first."""
    return await tx.fetch_all(_OF_USER, customer_id=customer_id, user_id=user_id)


async def find_approval(tx: Transaction, customer_id: int, code: str) -> Approval | None:
    """Return the request for one of a customer's orders by its confirmation code, or None."""
    return await tx.fetch_one(_BY_CODE, customer_id=customer_id, code=code.lower())


_BY_ORDER = Statement("select o.customer_id, o.confirmation_code from orders o where o.id = :order_id")


async def approval_of_order(tx: Transaction, order_id: int) -> Approval | None:
    """Return the request for an order of any customer, or None."""
    found = await tx.fetch_one(_BY_ORDER, order_id=order_id)
    return None if found is None else await find_approval(tx, *found)


_INSERT = Statement("""
    insert into order_approval (order_id, requested_by, requested_at, shipping_method, gross, note)
    values (:order_id, :user_id, :now, :shipping_method, :gross, :note)
    on conflict (order_id) do nothing
""")


async def insert_approval(
    tx: Transaction, order_id: int, user_id: int, shipping_method: int, gross: Decimal, note: str, now: datetime
) -> bool:
    """Store a request; return False if the order has one already."""
    stored = await tx.execute(
        _INSERT,
        order_id=order_id,
        user_id=user_id,
        shipping_method=shipping_method,
        gross=gross,
        note=note,
        now=now,
    )
    return stored == 1


_DECIDE = Statement("""
    update order_approval set state = :state, decided_by = :user_id, decided_at = :now, reason = :reason
    where order_id = :order_id and state = 'waiting'
""")


async def set_decided(tx: Transaction, order_id: int, state: State, user_id: int, reason: str, now: datetime) -> bool:
    """Store a decision; return False if the request does not wait any more."""
    decided = await tx.execute(_DECIDE, order_id=order_id, state=state, user_id=user_id, reason=reason, now=now)
    return decided == 1


_MOVE = Statement("""
    update order_approval set order_id = :to, shipping_method = :shipping_method, gross = :gross
    where order_id = :order_id and state = 'waiting'
""")


async def move_approval(tx: Transaction, order_id: int, to: int, shipping_method: int, gross: Decimal) -> bool:
    """Have a request that waits be for another order; return False if it does not wait any more."""
    moved = await tx.execute(_MOVE, order_id=order_id, to=to, shipping_method=shipping_method, gross=gross)
    return moved == 1
