"""What the database knows that decides on a new order, and the ids that the order will have, in one statement."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import msgspec
from psycopg.sql import SQL

from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.round_trip import Query, Statement, array
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.most_pending import cap_of
from tradecounter.ordering.order_addresses import named_addresses
from tradecounter.ordering.records import Kind
from tradecounter.ordering.wire import CreateOrderRequest


@dataclass(frozen=True, slots=True)
class Standing:
    """A customer's terms and what it owes, the saved addresses that an order names, and the order's internal ids.

    `addresses` is a JSON list of them, or None. `near_cap`: the customer is near its cap on pending orders, or unpriced
    quotes, and this transaction alone creates one now (`most_pending.py`).
    """

    credit_limit: Decimal | None
    shipping_method: int | None
    unique_references: bool
    outstanding: Decimal
    addresses: str | None
    order_id: int
    line_ids: list[int]
    near_cap: bool

    def saved_addresses(self) -> dict[int, CustomerAddress]:
        """Return the customer's active addresses, of those that were asked for, by their ids."""
        saved = () if self.addresses is None else _addresses.decode(self.addresses)
        return {address.id: address for address in saved if address.id is not None}


_addresses = msgspec.json.Decoder(list[CustomerAddress])

# Which creations of a customer share, or take alone; the other half of the key is a hash of the customer.
_LOCK = SQL("8")

# An unpriced quote has no time to expire yet.
_PENDING = SQL(
    "select count(*) as count from orders o where o.customer_id = {} and o.kind = {} and o.state = 'pending'"
    " and case o.kind when 'quote' then o.expires_at is null else o.expires_at >= {} end"
)

_STANDING = Statement(
    SQL(
        """
        select c.credit_limit, c.shipping_method, c.unique_references,
               coalesce((select e.outstanding from credit_exposure e where e.customer_id = c.id), 0.00) as outstanding,
               (select jsonb_agg(a.details || jsonb_build_object('id', a.id))::text from address a
                where a.id = any($2::bigint[]) and a.customer_id = c.id and a.deleted_at is null) as addresses,
               nextval('orders_id_seq') as order_id,
               array(select nextval('order_line_id_seq') from generate_series(1, $3::integer)) as line_ids,
               case when $6::bigint is null then false
                    when pending.count < $6::bigint - current_setting('max_connections')::bigint
                    then pg_advisory_xact_lock_shared({lock}, hashint8(c.id)) is null
                    else pg_advisory_xact_lock({lock}, hashint8(c.id)) is not null
               end as near_cap
        from customer c cross join lateral ({pending}) as pending where c.id = $1
        """
    ).format(lock=_LOCK, pending=_PENDING.format(SQL("c.id"), SQL("$4"), SQL("$5::timestamptz"))),
    Standing,
)


@dataclass(frozen=True, slots=True)
class Pending:
    """How many pending orders, or unpriced quotes, a customer has."""

    count: int


_COUNT_PENDING = Statement(_PENDING.format(SQL("$1"), SQL("$2"), SQL("$3")), Pending)


def standing(kind: Kind, request: CreateOrderRequest, circumstances: Circumstances) -> Query[Standing]:
    """Return the statement that tells a customer's standing, for an order or a quote that it requests."""
    return _STANDING(
        circumstances.customer_id,
        array(named_addresses(request)),
        len(request.items),
        kind,
        circumstances.now,
        cap_of(kind, circumstances.policy, auto_confirm=bool(request.auto_confirm)),
    )


def standing_found(asked: Query[Standing]) -> Standing:
    """Return the standing that was asked for. Raises DomainError (not found) without such a customer."""
    found = asked.first
    if found is None:
        raise not_found("customer")
    return found


async def ask_standing(
    tx: Transaction, kind: Kind, request: CreateOrderRequest, circumstances: Circumstances
) -> Standing:
    """Return a customer's standing. Raises DomainError (not found)."""
    asked = standing(kind, request, circumstances)
    await tx.ask(asked)
    return standing_found(asked)


async def count_pending(tx: Transaction, customer_id: int, kind: Kind, now: datetime) -> int:
    """Return how many pending orders that have not expired, or how many unpriced quotes, a customer has."""
    found = _COUNT_PENDING(customer_id, kind, now)
    await tx.ask(found)
    return found.only.count
