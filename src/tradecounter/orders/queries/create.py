"""Reads the standing of an account that creates an order, and stores the order."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import msgspec
from msgspec import Struct
from msgspec.structs import asdict
from psycopg.sql import SQL

from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.advisory_locks import CREATE, CREATE_ALONE
from tradecounter.db.changes import SERVER_NAME, version_in_sql
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.lines import OrderLine, flat_lines
from tradecounter.orders.queries.orders import HAS_EXPIRED
from tradecounter.orders.states import OrderKind, PendingOrder, UnpricedQuote
from tradecounter.shipping.methods import TOPICS as SHIPPING
from tradecounter.storefront.queries import TOPICS as CATALOGUE

_addresses = msgspec.json.Decoder(list[CustomerAddress])

# Only a priced quote has `expires_at`.
_PENDING = SQL(
    "select count(*) as count from orders o where o.customer_id = {} and o.kind = :kind and o.state = 'pending'"
    " and case o.kind when 'quote' then o.expires_at is null else not {} end"
)


class AccountStanding(Struct, frozen=True):
    """A customer's terms and debt, the saved addresses that an order names, and ids for the order and its lines.

    `addresses` is a JSON list, or None. `near_cap`: the customer is near its cap on pending orders or unpriced quotes,
    and this transaction has the exclusive lock (`create/place_order.py`). `catalogue` and `shipping` are the numbers of
    two marks of `server` (`db/changes.py`).
    """

    credit_limit: Decimal | None
    shipping_method: int | None
    unique_references: bool
    blocked: bool
    outstanding: Decimal
    addresses: str | None
    order_id: int
    line_ids: list[int]
    near_cap: bool
    server: str
    catalogue: int
    shipping: int

    def saved_addresses(self) -> dict[int, CustomerAddress]:
        """Return the customer's active addresses that the order names, by their ids."""
        saved = () if self.addresses is None else _addresses.decode(self.addresses)
        return {address.id: address for address in saved if address.id is not None}


# `cap` limits the customer's pending orders or unpriced quotes; null is no limit.
STANDING = Statement(
    SQL(
        """
        select c.credit_limit, c.shipping_method, c.unique_references, c.blocked_at is not null as blocked,
               coalesce((select e.outstanding from credit_exposure e where e.customer_id = c.id), 0.00) as outstanding,
               (select jsonb_agg(a.details || jsonb_build_object('id', a.id))::text from address a
                where a.id = any(:address_ids::bigint[]) and a.customer_id = c.id and a.deleted_at is null)
                   as addresses,
               nextval('orders_id_seq') as order_id,
               array(select nextval('order_line_id_seq') from generate_series(1, :lines::integer)) as line_ids,
               case when :cap::bigint is null then false
                    when pending.count < :cap::bigint - current_setting('max_connections')::bigint
                    then {create} is null -- takes the shared lock, and is false
                    else {create_alone} is not null -- takes the exclusive lock, and is true
               end as near_cap,
               {server} as server, {catalogue} as catalogue, {shipping} as shipping
        from customer c cross join lateral ({pending}) as pending where c.id = :customer_id
        """
    ).format(
        create=CREATE.format(customer_id=SQL("c.id")),
        create_alone=CREATE_ALONE.format(customer_id=SQL("c.id")),
        pending=_PENDING.format(SQL("c.id"), HAS_EXPIRED),
        server=SERVER_NAME,
        catalogue=version_in_sql(CATALOGUE),
        shipping=version_in_sql(SHIPPING),
    ),
    AccountStanding,
)


_COUNT_PENDING = Statement(_PENDING.format(SQL(":customer_id"), HAS_EXPIRED))


async def count_pending(tx: Transaction, customer_id: int, kind: OrderKind, now: datetime) -> int:
    """Return the number of a customer's unexpired pending orders, or of its unpriced quotes."""
    return int(await tx.fetch_value(_COUNT_PENDING, customer_id=customer_id, kind=kind, now=now))


_INSERT_LINES = SQL("""
    insert into order_line (id, order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax,
                            bundle_line_id)
    overriding system value
    select l.id, :id, l.position + {first}, l.product_id, l.sku, l.name, l.quantity, l.unit_cost, l.cost_net,
           l.cost_tax, l.bundle_line_id
    from rows from (
        json_to_recordset(:lines::json)
            as (id bigint, product_id bigint, sku text, name text, quantity integer, unit_cost numeric,
                cost_net numeric, cost_tax numeric, bundle_line_id bigint)
    ) with ordinality
      as l (id, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax, bundle_line_id, position)
""")

_INSERT = Statement(
    SQL(
        """
    with created as (
        insert into orders (id, customer_id, kind, state, confirmation_code, customer_reference, external_customer_id,
                            billing_address, shipping_address, order_notifications, courier_notifications,
                            shipping_region, shipping_options, shipping_method, shipping_weight, cost_net, cost_tax,
                            tax_rate, allow_back_orders, created_at, expires_at, in_basket_of)
        overriding system value
        values (:id, :customer_id, :kind, :state, :confirmation_code, :customer_reference, :external_customer_id,
                :billing_address, :shipping_address, :order_notifications, :courier_notifications,
                :shipping_region, :shipping_options, :shipping_method, :shipping_weight, :cost_net, :cost_tax,
                :tax_rate, :allow_back_orders, :created_at, :expires_at, :in_basket_of)
    )
    {}
    """
    ).format(_INSERT_LINES.format(first=SQL("0")))
)
_JSON = ("billing_address", "shipping_address", "order_notifications", "courier_notifications", "shipping_options")


def insert_order(tx: Transaction, order: PendingOrder | UnpricedQuote, lines: Sequence[OrderLine]) -> None:
    """Store a pending order or a quote with its lines; components come after all lines."""
    values = {"expires_at": None, **asdict(order)}  # an unpriced quote has no such field
    values.update({name: json_of(values[name]) for name in _JSON})
    tx.queue(_INSERT, **values, lines=json_of(_components_last(lines)))


def _components_last(lines: Sequence[OrderLine]) -> list[OrderLine]:
    return sorted(flat_lines(lines), key=lambda line: line.bundle_line_id is not None)


_ADD_LINES = Statement(
    _INSERT_LINES.format(first=SQL("(select coalesce(max(position), 0) from order_line where order_id = :id)"))
)
_RESERVE = Statement("select nextval('order_line_id_seq') from generate_series(1, :lines::integer)")


async def reserve_lines(tx: Transaction, lines: int) -> list[int]:
    """Return ids for further lines."""
    return [line_id for (line_id,) in await tx.fetch_all(_RESERVE, lines=lines)]


async def add_lines(tx: Transaction, order_id: int, lines: Sequence[OrderLine]) -> None:
    """Store further lines of an order after those that it has."""
    await tx.execute(_ADD_LINES, id=order_id, lines=json_of(_components_last(lines)))
