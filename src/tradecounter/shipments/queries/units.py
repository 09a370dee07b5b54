"""Finds dispatched units by serial number or MAC address, and how the latest tracking numbers look."""

from datetime import datetime

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.label_codes import MOST_OF_ALL, begins, code_bounds, code_of, ends
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class DispatchedUnit(Struct, frozen=True):
    """A unit that was dispatched; `exact`: the text that found it is its whole serial number or MAC address."""

    serial_number: str
    mac_address: str
    sku: str
    order_reference: str
    customer: str
    dispatched_at: datetime
    exact: bool


_FIND_UNITS = Statement(
    SQL("""
    with found as (
        (select id from serial_number where lower(serial_number) = lower(:text) limit :most_read)
        union (select id from serial_number where {serial_begins} limit :most_read)
        union (select id from serial_number where {serial_ends} limit :most_read)
        union (select id from serial_number where mac_address <> '' and {mac_begins} limit :most_read)
        union (select id from serial_number where mac_address <> '' and {mac_ends} limit :most_read)
    )
    select s.serial_number, s.mac_address, l.sku, o.order_reference,
           {customer} as customer, h.dispatched_at,
           lower(s.serial_number) = lower(:text) or :code in ({serial}, {mac}) as exact
    from found join serial_number s using (id) join order_line l on l.id = s.line_id
    join orders o on o.id = l.order_id join customer c on c.id = o.customer_id join shipment h on h.id = s.shipment_id
    where :customer_id::bigint is null or o.customer_id = :customer_id
    order by exact desc, h.dispatched_at desc limit :most
    """).format(
        customer=CUSTOMER_NAME,
        serial_begins=begins("serial_number"),
        serial_ends=ends("serial_number"),
        mac_begins=begins("mac_address"),
        mac_ends=ends("mac_address"),
        serial=code_of("s.serial_number"),
        mac=code_of("s.mac_address"),
    ),
    DispatchedUnit,
)


async def find_units(tx: Transaction, text: str, most: int, customer_id: int | None = None) -> list[DispatchedUnit]:
    """Return units by serial number or MAC address: a customer's, or all; the last dispatched first, after exact ones.

    `text` is the whole of either, or its beginning or end of at least four letters and digits. Where more than a
    thousand units of all customers begin or end like it, a customer's own may be missing until more is typed.
    """
    most_read = most if customer_id is None else MOST_OF_ALL
    values = code_bounds(text)
    return await tx.fetch_all(_FIND_UNITS, text=text, **values, most=most, most_read=most_read, customer_id=customer_id)


_SHAPES_OF_LABELS = Statement(
    """
    with latest as (select id, tracking_number from shipment order by id desc limit :shipments),
    label as (select tracking_number as text from latest where tracking_number is not null
              order by id desc limit :labels),
    serial as (select serial_number as text from serial_number order by id desc limit :serials)
    select shape from (
        select regexp_replace(regexp_replace(text, '[0-9]', '9', 'g'), '[A-Za-z]', 'A', 'g') as shape from label
        except
        select regexp_replace(regexp_replace(text, '[0-9]', '9', 'g'), '[A-Za-z]', 'A', 'g') from serial
    ) as found
    order by shape
    """
)
_MOST_SHIPMENTS, _MOST_LABELS, _MOST_SERIALS = 2_000, 200, 2_000  # the latest ones


async def shapes_of_labels(tx: Transaction) -> list[str]:
    """Return how the latest tracking numbers look, 9 for a digit and A for a letter: `AA-9999-9999` for NW-5106-2271.

    Shapes that serial numbers have too are left out. Only the latest shipments are read, however few have a number.
    """
    most = {"shipments": _MOST_SHIPMENTS, "labels": _MOST_LABELS, "serials": _MOST_SERIALS}
    return [shape for (shape,) in await tx.fetch_all(_SHAPES_OF_LABELS, **most)]
