"""What the database knows that decides on a new order, and the ids that the order will have, in one statement."""

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

import msgspec

from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.round_trip import Query, Statement, array
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found


@dataclass(frozen=True, slots=True)
class Standing:
    """A customer's terms and what it owes, the saved addresses that an order names, and the order's internal ids.

    `addresses` is a JSON list of them, or None.
    """

    credit_limit: Decimal | None
    shipping_method: int | None
    unique_references: bool
    outstanding: Decimal
    addresses: str | None
    order_id: int
    line_ids: list[int]

    def saved_addresses(self) -> dict[int, CustomerAddress]:
        """Return the customer's active addresses, of those that were asked for, by their ids."""
        saved = () if self.addresses is None else _addresses.decode(self.addresses)
        return {address.id: address for address in saved if address.id is not None}


_addresses = msgspec.json.Decoder(list[CustomerAddress])

_STANDING = Statement(
    """
    select c.credit_limit, c.shipping_method, c.unique_references,
           coalesce((select e.outstanding from credit_exposure e where e.customer_id = c.id), 0.00) as outstanding,
           (select jsonb_agg(a.details || jsonb_build_object('id', a.id))::text from address a
            where a.id = any($2::bigint[]) and a.customer_id = c.id and a.deleted_at is null) as addresses,
           nextval('orders_id_seq') as order_id,
           array(select nextval('order_line_id_seq') from generate_series(1, $3::integer)) as line_ids
    from customer c where c.id = $1
    """,
    Standing,
)


def standing(customer_id: int, address_ids: Collection[int], lines: int) -> Query[Standing]:
    """Return the statement that tells a customer's standing, for an order of so many lines."""
    return _STANDING(customer_id, array(address_ids), lines)


def standing_found(asked: Query[Standing]) -> Standing:
    """Return the standing that was asked for. Raises DomainError (not found) without such a customer."""
    found = asked.first
    if found is None:
        raise not_found("customer")
    return found


async def ask_standing(tx: Transaction, customer_id: int, address_ids: Collection[int], lines: int) -> Standing:
    """Return a customer's standing. Raises DomainError (not found)."""
    asked = standing(customer_id, address_ids, lines)
    await tx.ask(asked)
    return standing_found(asked)
