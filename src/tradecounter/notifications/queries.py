"""The data of e-mails, and the record of e-mails to support."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Generic, TypeVar

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.customers.settings import Account
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.states import OrderBase

Order = TypeVar("Order", bound=OrderBase)


class OrderFacts(Struct, Generic[Order], frozen=True):
    """An order or a quote, and its customer's account."""

    order: Order
    account: Account

    @property
    def recipients(self) -> list[str]:
        """The address for the order's e-mails, in a list; empty without an address."""
        contact = self.order.mail_recipient(self.account)
        return [] if contact is None else [contact]

    def quote_recipients(self, *, always: bool) -> list[str]:
        """Return the quote's contact, and the account's address if it wants e-mails or `always` is set."""
        account = self.account.email_address if always or self.account.order_mails else None
        return [address for address in (self.order.contact_email, account) if address is not None]


class LineFacts(Struct, frozen=True):
    """A priced line, its back-ordered units, and the available units of its product.

    `unbilled` units came back before their invoice, and cost nothing.
    """

    order_id: int
    sku: str
    name: str
    quantity: int
    unit_cost: Decimal
    cost_net: Decimal
    back_ordered: int
    unbilled: int
    available: int


_LINE_FACTS = Statement(
    """
    select l.order_id, l.sku, l.name, l.quantity, l.unit_cost, l.cost_net, l.back_ordered, l.unbilled,
           coalesce(s.available, 0) as available
    from order_line l left join stock_level s using (product_id)
    where l.order_id = any(:order_ids) and l.bundle_line_id is null and l.quantity > 0 order by l.order_id, l.position
    """,
    LineFacts,
)


async def line_facts(tx: Transaction, *order_ids: int) -> list[LineFacts]:
    """Return the wanted lines of orders, without the components of bundles, which have no price."""
    return await tx.fetch_all(_LINE_FACTS, order_ids=list(order_ids))


class ChangedUnits(Struct, frozen=True):
    """Units of a line that a change cancelled, or that a shipment had."""

    sku: str
    name: str
    units: int


# The units by line in the column `units` of a change, or of a shipment that was taken back.
_UNITS = SQL("""
    coalesce((
        select jsonb_agg(to_jsonb(found) order by found.position)
        from (
            select l.position, l.sku, l.name, u.units::integer as units
            from jsonb_each_text(c.units) as u (line_id, units) join order_line l on l.id = u.line_id::bigint
        ) as found
    ), '[]') as units
""")


class ChangeFacts(Struct, frozen=True):
    """A change of a confirmed order, with the units that it cancelled."""

    id: int
    kind: str
    reason: str
    changed_at: datetime
    units: Sequence[ChangedUnits]


_CHANGE_FACTS = Statement(
    SQL("""
        select c.id, c.kind, c.reason, c.changed_at, {}
        from order_change c where c.id = :change_id and c.order_id = :order_id
    """).format(_UNITS),
    ChangeFacts,
)


async def find_change_facts(tx: Transaction, order_id: int, change_id: int) -> ChangeFacts | None:
    """Return a change of an order."""
    return await tx.find_row(_CHANGE_FACTS, order_id=order_id, change_id=change_id)


class TakenBackFacts(Struct, frozen=True):
    """A shipment that was taken back, with its units."""

    id: int
    tracking_number: str | None
    dispatched_at: datetime
    reason: str
    taken_back_at: datetime
    units: Sequence[ChangedUnits]


_TAKEN_BACK_FACTS = Statement(
    SQL("""
        select c.id, c.tracking_number, c.dispatched_at, c.reason, c.taken_back_at, {}
        from taken_back_shipment c where c.id = :shipment_id and c.order_id = :order_id
    """).format(_UNITS),
    TakenBackFacts,
)


async def find_taken_back_facts(tx: Transaction, order_id: int, shipment_id: int) -> TakenBackFacts | None:
    """Return a shipment of an order that was taken back."""
    return await tx.find_row(_TAKEN_BACK_FACTS, order_id=order_id, shipment_id=shipment_id)


class DispatchedLine(Struct, frozen=True):
    """The units of a line that left with a shipment, and the units that remained."""

    id: int
    sku: str
    name: str
    dispatched: int
    remaining: int
    component: bool


_DISPATCHED_LINES = Statement(
    """
    select l.id, l.sku, l.name,
           coalesce(sum(s.quantity) filter (where s.shipment_id = :shipment), 0)::integer as dispatched,
           (l.quantity - coalesce(sum(s.quantity), 0))::integer as remaining,
           l.bundle_line_id is not null as component
    from order_line l left join shipment_line s on s.line_id = l.id and s.shipment_id <= :shipment
    where l.order_id = :order group by l.id order by l.position
    """,
    DispatchedLine,
)


async def dispatched_lines(tx: Transaction, order_id: int, shipment_id: int) -> list[DispatchedLine]:
    """Return an order's lines at the time of a shipment."""
    return await tx.fetch_all(_DISPATCHED_LINES, order=order_id, shipment=shipment_id)


_UNPRICED_QUOTES = Statement(
    "select id, support_told_at from orders"
    " where customer_id = :customer_id and state = 'pending' and kind = 'quote' and priced_at is null order by id"
)


async def unpriced_quotes(tx: Transaction, customer_id: int) -> dict[int, datetime | None]:
    """Return when support got the e-mail about each of a customer's unpriced quotes, by id; None before."""
    return dict(await tx.fetch_all(_UNPRICED_QUOTES, customer_id=customer_id))


_NOTE_SUPPORT_TOLD = Statement("update orders set support_told_at = :now where id = any(:quotes)")


async def note_support_told(tx: Transaction, quotes: Sequence[int], now: datetime) -> None:
    """Record that support got the e-mail about quotes to price."""
    await tx.execute(_NOTE_SUPPORT_TOLD, now=now, quotes=list(quotes))
