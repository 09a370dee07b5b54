"""Stores the URLs of an order's packing video."""

from datetime import datetime

from msgspec.structs import asdict

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid_fields
from tradecounter.kit.web_addresses import NotAWebAddressError, host_of
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.states import ConfirmedOrder, shown_state
from tradecounter.shipments.queries.writes import put_video
from tradecounter.shipments.wire import OrderVideoResponse


async def add_video(tx: Transaction, reference: str, video: OrderVideoResponse, now: datetime) -> None:
    """Store the URLs of a confirmed order's packing video; replaces earlier URLs.

    Raises DomainError: not found, conflict (not confirmed, or cancelled), invalid.
    """
    wrong: list[FieldError] = []
    for field, url in asdict(video).items():
        try:
            host_of(url)
        except NotAWebAddressError as error:
            wrong.append(FieldError(field, f"{error}, not {url[:100]!r}"))
    if wrong:
        raise invalid_fields(wrong)
    order = await lock_order(tx, (await fetch_order(tx, reference)).id)
    if not isinstance(order, ConfirmedOrder):
        state = shown_state(order, now)
        raise DomainError(Kind.CONFLICT, f"{order.name} is {state}: only confirmed orders have a packing video")
    await put_video(tx, order.id, video)
    audit_order(tx, "order.video", order, now, after=asdict(video))
