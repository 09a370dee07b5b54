"""Reads and writes requests for approval. An order has one at most."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from psycopg.sql import SQL, Composable

from tradecounter.approvals.rules import APPROVERS
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found
from tradecounter.orders.queries.orders import HAS_EXPIRED, find_order_by_id

Decision = Literal["approved", "declined"]
State = Literal["waiting", "approved", "declined", "ended"]


class Approval(Struct, frozen=True):
    """A request to confirm an order, who made it, and what was decided.

    `gross` is the total with VAT and the shipping method. `requested_by` is None once the user is deleted. A request
    that waits has `ended` with its order.
    """

    order_id: int
    code: str
    customer_id: int
    customer_reference: str
    gross: Decimal
    state: State
    requested_by: int | None
    requester: str
    agent: str
    requested_at: datetime
    shipping_method: int
    note: str
    decider: str
    decided_at: datetime | None
    reason: str

    @property
    def waiting_since(self) -> datetime | None:
        """When it was asked for; None if it does not wait any more."""
        return self.requested_at if self.state == "waiting" else None

    @property
    def asker(self) -> str:
        """Who asked, for people: the user, or an agent and who allowed it; empty once the user is deleted."""
        allowed = f", allowed by {self.requester}" if self.requester else ""
        return f"the agent {self.agent}{allowed}" if self.agent else self.requester


# A request ends with its order, whoever confirms or cancels it, so this is read and not stored. An approver can price
# an order again that has expired, but not a quote.
_ENDED = SQL("""
    (a.state = 'waiting'
     and (o.state in ('confirmed', 'cancelled')
          or (o.kind = 'quote' and (o.state = 'expired' or {}) is true)))
""").format(HAS_EXPIRED)
_ENDED_AT = SQL("coalesce(o.confirmed_at, o.cancelled_at, o.expires_at)")
_STATE = SQL("case when {} then 'ended' else a.state end").format(_ENDED)
_SELECT = SQL("""
    select a.order_id, o.confirmation_code as code, o.customer_id, o.customer_reference, a.gross,
           {state} as state,
           a.requested_by, coalesce(r.email, '') as requester, a.agent, a.requested_at, a.shipping_method, a.note,
           coalesce(d.email, '') as decider, a.decided_at, a.reason
    from order_approval a
    join orders o on o.id = a.order_id
    left join customer_user r on r.id = a.requested_by
    left join customer_user d on d.id = a.decided_by
    where {condition}
""")
MOST = 200  # requests of a customer or a user that are shown
_OF_CUSTOMER = SQL("o.customer_id = :customer_id and {} order by a.requested_at desc, a.order_id desc limit :most")


def _requests(condition: Composable) -> Statement[Approval]:
    return Statement(_SELECT.format(state=_STATE, condition=condition), Approval)


def _of_customer(condition: Composable) -> Statement[Approval]:
    return _requests(_OF_CUSTOMER.format(condition))


_WAITING = _of_customer(SQL("a.state = 'waiting' and not {}").format(_ENDED))
_OF_USER = _of_customer(SQL("a.requested_by = :user_id"))


async def waiting_approvals(tx: Transaction, customer_id: int, now: datetime) -> list[Approval]:
    """Return a customer's latest 200 requests that wait, the latest first."""
    return await tx.fetch_all(_WAITING, customer_id=customer_id, now=now, most=MOST)


_WAITING_SINCE = Statement(
    "select order_id, requested_at from order_approval where order_id = any(:order_ids::bigint[]) and state = 'waiting'"
)


async def waiting_since(tx: Transaction, order_ids: Sequence[int]) -> dict[int, datetime]:
    """Return when the approval of pending orders was requested, by internal id; those that do not wait are missing."""
    return dict(await tx.fetch_all(_WAITING_SINCE, order_ids=list(order_ids)))


_COUNT_ORDERS = Statement(
    SQL("""
        select count(*) from order_approval a join orders o on o.id = a.order_id
        where o.customer_id = :customer_id and a.state = 'waiting'
          and o.kind = 'order' and o.state = 'pending' and not {}
    """).format(HAS_EXPIRED)
)


async def count_orders_to_approve(tx: Transaction, customer_id: int, now: datetime) -> int:
    """Return how many pending orders of a customer wait for approval; neither quotes nor expired orders count."""
    return int(await tx.fetch_value(_COUNT_ORDERS, customer_id=customer_id, now=now))


async def approvals_asked_by(tx: Transaction, customer_id: int, user_id: int, now: datetime) -> list[Approval]:
    """Return the latest 200 requests of one of a customer's users, the latest first."""
    return await tx.fetch_all(_OF_USER, customer_id=customer_id, user_id=user_id, now=now, most=MOST)


# The request for an order, or for the one that took its place when it was priced again.
_OF_CODE = SQL("""
    a.order_id = coalesce(
        (select later.order_id from order_approval later join orders former on later.former_orders @> array[former.id]
         where later.former_orders <> '{}' and former.confirmation_code = :code),
        (select id from orders where confirmation_code = :code)
    )
""")
_BY_CODE = _requests(SQL("(:customer_id::bigint is null or o.customer_id = :customer_id) and {}").format(_OF_CODE))


async def find_approval(tx: Transaction, customer_id: int | None, code: str, now: datetime) -> Approval | None:
    """Return the request for one of a customer's orders by its confirmation code, or None; or of any customer's.

    An order that was priced again has the request for the order that took its place.
    """
    return await tx.find_row(_BY_CODE, customer_id=customer_id, code=code.lower(), now=now)


async def fetch_approval(tx: Transaction, customer_id: int | None, code: str, now: datetime) -> Approval:
    """Return what `find_approval` does. Raises DomainError (not found)."""
    return or_not_found(await find_approval(tx, customer_id, code, now), "request for approval", code)


_TABLE = _requests(
    SQL(
        """
        (:state::text is null or {state} = :state)
        and (:customer_id::bigint is null or o.customer_id = :customer_id)
        and (:before::bigint is null or a.order_id < :before)
        and (:changed_since::timestamptz is null
             or greatest(a.requested_at, a.priced_at, a.decided_at, case when {ended} then {ended_at} end)
                >= :changed_since)
        order by a.order_id desc limit :most
        """
    ).format(state=_STATE, ended=_ENDED, ended_at=_ENDED_AT)
)


async def approval_table(
    tx: Transaction,
    state: State | None,
    customer_id: int | None,
    before: int | None,
    most: int,
    now: datetime,
    changed_since: datetime | None = None,
) -> list[Approval]:
    """Return requests, those of the latest orders first: of a customer or of all, after an order's id.

    With `changed_since`, those that were made, priced again, decided or ended then or later.
    """
    return await tx.fetch_all(
        _TABLE, state=state, customer_id=customer_id, before=before, most=most, now=now, changed_since=changed_since
    )


async def find_approval_of_order(tx: Transaction, order_id: int, now: datetime) -> Approval | None:
    """Return the request for an order of any customer, or None."""
    order = await find_order_by_id(tx, order_id)
    return None if order is None else await find_approval(tx, order.customer_id, order.confirmation_code, now)


class FormerDecline(Struct, frozen=True):
    """A decline of a quote that was asked for again since; `decider` is empty if staff or a deleted user declined."""

    gross: Decimal
    decider: str
    decided_at: datetime
    reason: str


_FORMER_DECLINE = Statement(
    """
    select declined.gross, coalesce(d.email, '') as decider, declined.decided_at, declined.reason
    from order_approval a
    cross join jsonb_to_recordset(a.former_declines)
        as declined (gross numeric, decided_by bigint, decided_at timestamptz, reason text)
    left join customer_user d on d.id = declined.decided_by
    where a.order_id = :order_id and floor(extract(epoch from declined.decided_at)) = :decided
    order by declined.decided_at desc limit 1
    """,
    FormerDecline,
)


async def find_former_decline(tx: Transaction, order_id: int, decided: int) -> FormerDecline | None:
    """Return how a quote was declined at a Unix time in seconds, before it was asked for again."""
    return await tx.find_row(_FORMER_DECLINE, order_id=order_id, decided=decided)


_INSERT = Statement("""
    insert into order_approval (order_id, requested_by, requested_at, shipping_method, gross, note, agent)
    values (:order_id, :user_id, :now, :shipping_method, :gross, :note, :agent)
    on conflict (order_id) do update
    set state = 'waiting', requested_by = excluded.requested_by, requested_at = excluded.requested_at,
        shipping_method = excluded.shipping_method, gross = excluded.gross, note = excluded.note,
        agent = excluded.agent, decided_by = null, decided_at = null, reason = '',
        former_declines = order_approval.former_declines || jsonb_build_object(
            'gross', order_approval.gross, 'decided_by', order_approval.decided_by,
            'decided_at', order_approval.decided_at, 'reason', order_approval.reason)
    where order_approval.state = 'declined'
""")


async def insert_approval(
    tx: Transaction,
    order_id: int,
    user_id: int,
    shipping_method: int,
    gross: Decimal,
    note: str,
    now: datetime,
    agent: str,
) -> bool:
    """Store a request, also in place of a declined one; return False if the order has another one already."""
    stored = await tx.execute(
        _INSERT,
        order_id=order_id,
        user_id=user_id,
        shipping_method=shipping_method,
        gross=gross,
        note=note,
        now=now,
        agent=agent,
    )
    return stored == 1


_DECIDE = Statement("""
    update order_approval
    set state = :state, decided_by = :user_id, gross = :gross, decided_at = :now, reason = :reason
    where order_id = :order_id
""")


async def set_decided(
    tx: Transaction, order_id: int, state: Decision, user_id: int | None, gross: Decimal, reason: str, now: datetime
) -> None:
    """Store a decision about a total; the caller has locked the request's order, and the request waits."""
    await tx.execute(_DECIDE, order_id=order_id, state=state, user_id=user_id, gross=gross, reason=reason, now=now)


_MOVE = Statement("""
    update order_approval
    set order_id = :to, shipping_method = :shipping_method, gross = :gross, priced_at = :now,
        former_orders = former_orders || order_id
    where order_id = :order_id
""")


async def move_approval(
    tx: Transaction, order_id: int, to: int, shipping_method: int, gross: Decimal, now: datetime
) -> None:
    """Have a request be for another order; the caller has locked its order, and the request waits."""
    await tx.execute(_MOVE, order_id=order_id, to=to, shipping_method=shipping_method, gross=gross, now=now)


_LEAST_LIMIT = Statement("""
    select min(order_limit) from customer_user
    where customer_id = :customer_id and disabled_at is null
      and not array_append(more_roles, role) && :approvers::text[]
""")


async def least_limit(tx: Transaction, customer_id: int) -> Decimal | None:
    """Return the least limit for one order among a customer's users who have one; None if nobody has."""
    limit: Decimal | None = await tx.fetch_value(_LEAST_LIMIT, customer_id=customer_id, approvers=list(APPROVERS))
    return limit
