"""Reads, lists and stores returns. A return changes only while its order is locked."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.orders.queries.today import Waiting

ReturnState = Literal["open", "received", "closed"]


class StoredReturn(Struct, frozen=True, kw_only=True):
    """A return; `id` is its number without the prefix. Of its `units`, some are `received`."""

    id: int
    order_id: int
    order_reference: str
    customer_id: int
    customer: str
    state: ReturnState
    reason: str
    opened_at: datetime
    received_at: datetime | None
    closed_at: datetime | None
    units: int
    received: int


class ReturnedLine(Struct, frozen=True, kw_only=True):
    """The units of a line in a return: what may come back, and what became of the received units.

    `credited` counts the received units that need no credit note, or no further one: those on a credit note, and those
    that had not been invoiced when they came back.
    """

    return_id: int
    line_id: int
    product_id: int
    sku: str
    quantity: int
    restocked: int
    scrapped: int
    credited: int
    is_free: bool
    serial_numbers: list[str]

    @property
    def received(self) -> int:
        """The units that came back."""
        return self.restocked + self.scrapped

    @property
    def expected(self) -> int:
        """The units that have not come back yet."""
        return self.quantity - self.received

    @property
    def uncredited(self) -> int:
        """The units that came back, had been invoiced, and are on no credit note."""
        return self.received - self.credited

    @property
    def to_credit(self) -> int:
        """Those of them that need a credit note, because they cost something."""
        return 0 if self.is_free else self.uncredited


_RETURN = SQL("""
    select r.id, r.order_id, o.order_reference, o.customer_id, {customer} as customer, r.state, r.reason, r.opened_at,
           r.received_at, r.closed_at, l.units, l.received
    from order_return r join orders o on o.id = r.order_id join customer c on c.id = o.customer_id
    cross join lateral (
        select coalesce(sum(quantity), 0)::integer as units, coalesce(sum(restocked + scrapped), 0)::integer as received
        from return_line where return_id = r.id
    ) as l
""").format(customer=CUSTOMER_NAME)
_BY_ID = Statement(SQL("{} where r.id = :id").format(_RETURN), StoredReturn)


async def find_return(tx: Transaction, return_id: int) -> StoredReturn | None:
    """Return a return by its id."""
    return await tx.find_row(_BY_ID, id=return_id)


_LIST = Statement(
    SQL(
        "{} where (:state::text is null or r.state = :state)"
        " and (:customer_id::bigint is null or o.customer_id = :customer_id)"
        " and (:changed_since::timestamptz is null or r.changed_at >= :changed_since)"
        " and (:after::bigint is null or r.id < :after) order by r.id desc limit :most"
    ).format(_RETURN),
    StoredReturn,
)


async def list_returns(
    tx: Transaction,
    most: int,
    *,
    state: ReturnState | None = None,
    customer_id: int | None = None,
    after: int | None = None,
    changed_since: datetime | None = None,
) -> list[StoredReturn]:
    """Return the latest returns that match, latest first; `after` is the id of the previous page's last return."""
    values = {"state": state, "customer_id": customer_id, "changed_since": changed_since}
    return await tx.fetch_all(_LIST, **values, after=after, most=most)


_OF_ORDER = Statement(SQL("{} where r.order_id = :order_id order by r.id").format(_RETURN), StoredReturn)


async def returns_of_order(tx: Transaction, order_id: int) -> list[StoredReturn]:
    """Return the returns of an order, the oldest first."""
    return await tx.fetch_all(_OF_ORDER, order_id=order_id)


_OF_ORDERS = Statement(
    "select order_id, array_agg(id order by id) from order_return where order_id = any(:order_ids::bigint[])"
    " group by order_id"
)


async def returns_of_orders(tx: Transaction, order_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of the returns of orders, by the orders' ids; orders without returns are missing."""
    return dict(await tx.fetch_all(_OF_ORDERS, order_ids=list(order_ids)))


_LINES = Statement(
    """
    select r.return_id, r.line_id, l.product_id, l.sku, r.quantity, r.restocked, r.scrapped, r.credited,
           l.unit_cost = 0 as is_free, r.serial_numbers
    from return_line r join order_line l on l.id = r.line_id
    where r.return_id = any(:ids::bigint[]) order by r.return_id, l.position
    """,
    ReturnedLine,
)


async def lines_of_returns(tx: Transaction, return_ids: Sequence[int]) -> dict[int, list[ReturnedLine]]:
    """Return the lines of returns by the returns' ids."""
    lines: dict[int, list[ReturnedLine]] = {return_id: [] for return_id in return_ids}
    for line in await tx.fetch_all(_LINES, ids=list(return_ids)):
        lines[line.return_id].append(line)
    return lines


# A closed return takes no further units.
_CLAIMED = Statement(
    """
    select u.line_id, sum(case r.state when 'closed' then u.restocked + u.scrapped else u.quantity end)::integer
    from return_line u join order_return r on r.id = u.return_id
    where r.order_id = :order_id group by u.line_id
    """
)


async def claimed_units(tx: Transaction, order_id: int) -> dict[int, int]:
    """Return the units by line that came back or that an open return expects."""
    return dict(await tx.fetch_all(_CLAIMED, order_id=order_id))


class UnitsOnInvoice(Struct, frozen=True):
    """The units of an order's line on one of its invoices, and how many of them are credited."""

    invoice: int
    line_id: int
    quantity: int
    credited: int

    @property
    def left(self) -> int:
        """The units that can still be credited."""
        return self.quantity - self.credited


# Of an invoice that is credited in full, perhaps by amount, all units are.
_ON_INVOICES = SQL("""
    select i.invoice, i.line_id, i.quantity,
           (case when b.gross > 0 and b.credited = b.gross then i.quantity else coalesce(c.units, 0) end)::integer
               as credited
    from invoice_balance b
    join invoice_line i on i.invoice = b.invoice and i.line_id is not null
    left join lateral (
        select sum(l.quantity) as units from credit_note c join credit_note_line l on l.credit_note = c.number
        where c.invoice = i.invoice and l.invoice_position = i.position
    ) as c on true
    where b.order_id = :order_id order by i.invoice, i.position
""")
_UNITS_ON_INVOICES = Statement(_ON_INVOICES, UnitsOnInvoice)


async def units_on_invoices(tx: Transaction, order_id: int) -> list[UnitsOnInvoice]:
    """Return the units of an order's lines on its invoices, the oldest invoice first."""
    return await tx.fetch_all(_UNITS_ON_INVOICES, order_id=order_id)


_UNACCOUNTED = Statement(
    SQL("""
    select line_id, sum(units)::integer from (
        select line_id, credited as units from ({}) as invoiced
        union all
        select id, unbilled from order_line where order_id = :order_id
        union all
        select u.line_id, - u.credited from return_line u join order_return r on r.id = u.return_id
        where r.order_id = :order_id
    ) as counted group by line_id having sum(units) > 0
    """).format(_ON_INVOICES)
)


async def unaccounted_units(tx: Transaction, order_id: int) -> dict[int, int]:
    """Return the units by line that are on credit notes, or are never invoiced, and that no return accounts for."""
    return dict(await tx.fetch_all(_UNACCOUNTED, order_id=order_id))


class SerialUse(Struct, frozen=True):
    """How often a serial number was dispatched with a line or its bundle's components, and is in returns of it.

    `latest` is the id of the latest of these returns.
    """

    dispatched: int
    claimed: int
    latest: int | None


# Which units of a partly received return came back is unknown once it is closed: its numbers can be named again.
_SERIALS = Statement(
    """
    with used as (
        select coalesce(l.bundle_line_id, l.id) as line_id, n.serial_number, null::bigint as return_id
        from order_line l join serial_number n on n.line_id = l.id where l.order_id = :order_id
        union all
        select u.line_id, s.serial_number, r.id
        from order_return r join return_line u on u.return_id = r.id
        cross join lateral unnest(u.serial_numbers) as s (serial_number)
        where r.order_id = :order_id and (r.state <> 'closed' or u.restocked + u.scrapped = u.quantity)
    )
    select line_id, serial_number, count(*) filter (where return_id is null), count(return_id), max(return_id)
    from used group by line_id, serial_number
    """
)


async def serial_uses(tx: Transaction, order_id: int) -> dict[tuple[int, str], SerialUse]:
    """Return the uses of an order's serial numbers by line id and number."""
    return {
        (line_id, number): SerialUse(*use) for line_id, number, *use in await tx.fetch_all(_SERIALS, order_id=order_id)
    }


_INSERT = Statement(
    "insert into order_return (order_id, state, reason, opened_at) values (:order_id, 'open', :reason, :now)"
    " returning id"
)
_INSERT_LINES = Statement(
    """
    insert into return_line (return_id, line_id, quantity, serial_numbers)
    select :id, u.line_id, u.quantity, array(select jsonb_array_elements_text(coalesce(u.serial_numbers, '[]')))
    from json_to_recordset(:lines::json) as u (line_id bigint, quantity integer, serial_numbers jsonb)
    """
)


async def insert_return(
    tx: Transaction,
    order_id: int,
    reason: str,
    units: Mapping[int, int],
    serial_numbers: Mapping[int, Sequence[str]],
    now: datetime,
) -> int:
    """Store an open return with its units and serial numbers by line id; return its id."""
    return_id: int = await tx.fetch_value(_INSERT, order_id=order_id, reason=reason, now=now)
    lines = [
        {"line_id": line_id, "quantity": quantity, "serial_numbers": list(serial_numbers.get(line_id, ()))}
        for line_id, quantity in units.items()
    ]
    await tx.execute(_INSERT_LINES, id=return_id, lines=json_of(lines))
    return return_id


_RECEIVE_LINES = Statement(
    """
    with came_back as (
        select * from unnest(:ids::bigint[], :restocked::integer[], :scrapped::integer[])
                 as u (line_id, restocked, scrapped)
    ), counted as (
        update order_line l set returned = l.returned + u.restocked + u.scrapped
        from came_back u where l.id = u.line_id
    )
    update return_line r set restocked = r.restocked + u.restocked, scrapped = r.scrapped + u.scrapped
    from came_back u where r.line_id = u.line_id and r.return_id = :return_id
    """
)


async def store_received(
    tx: Transaction, return_id: int, restocked: Mapping[int, int], scrapped: Mapping[int, int]
) -> None:
    """Add received units, by line id, to a return and to the order's lines."""
    ids = sorted({*restocked, *scrapped})
    await tx.execute(
        _RECEIVE_LINES,
        return_id=return_id,
        ids=ids,
        restocked=[restocked.get(line_id, 0) for line_id in ids],
        scrapped=[scrapped.get(line_id, 0) for line_id in ids],
    )


_SET_STATE = Statement(
    """
    update order_return
    set state = :state, received_at = case when :state = 'received' then :now else received_at end,
        closed_at = case when :state = 'closed' then :now else closed_at end
    where id = :id
    """
)


async def set_return_state(
    tx: Transaction, return_id: int, state: Literal["received", "closed"], now: datetime
) -> None:
    """Set a return's state."""
    await tx.execute(_SET_STATE, id=return_id, state=state, now=now)


_CREDIT_LINES = Statement(
    """
    update return_line r set credited = r.credited + u.units
    from unnest(:ids::bigint[], :units::integer[]) as u (line_id, units)
    where r.line_id = u.line_id and r.return_id = :return_id
    """
)


async def store_credited(tx: Transaction, return_id: int, units: Mapping[int, int]) -> None:
    """Add units, by line id, to the credited units of a return; see `ReturnedLine`."""
    await tx.execute(_CREDIT_LINES, return_id=return_id, ids=list(units), units=list(units.values()))


_COUNT_WAITING = Statement(
    "select state, count(*), min(opened_at) from order_return where state <> 'closed' group by state"
)


async def returns_waiting(tx: Transaction) -> dict[str, Waiting]:
    """Return the returns that are open, and those that came back and are not credited in full, by state."""
    return {state: Waiting(count, oldest) for state, count, oldest in await tx.fetch_all(_COUNT_WAITING)}
