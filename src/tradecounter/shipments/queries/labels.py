"""Tells the labels of couriers from serial numbers by how they look."""

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_SHAPES = Statement(
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
_SHIPMENTS, _LABELS, _SERIALS = 2_000, 200, 2_000  # the latest ones


async def shapes_of_labels(tx: Transaction) -> list[str]:
    """Return how the latest tracking numbers look, 9 for a digit and A for a letter: `AA-9999-9999` for NW-5106-2271.

    Shapes that serial numbers have too are left out. Only the latest shipments are read, however few have a number.
    """
    return [shape for (shape,) in await tx.fetch_all(_SHAPES, shipments=_SHIPMENTS, labels=_LABELS, serials=_SERIALS)]
