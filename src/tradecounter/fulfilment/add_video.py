"""Stores the URLs of an order's packing video."""

from datetime import datetime
from urllib.parse import urlsplit

from msgspec.structs import asdict

from tradecounter.db.transaction import Transaction
from tradecounter.fulfilment.queries.writes import put_video
from tradecounter.fulfilment.wire import OrderVideoResponse
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid_fields
from tradecounter.ordering.history import audit_order
from tradecounter.ordering.lookup import any_order
from tradecounter.ordering.states import ConfirmedOrder, shown_state

_LONGEST = 2000


async def add_video(tx: Transaction, reference: str, video: OrderVideoResponse, now: datetime) -> None:
    """Store the URLs of a confirmed order's packing video; replaces earlier URLs.

    Raises DomainError: not found, conflict (not confirmed, or cancelled), invalid.
    """
    wrong = [
        FieldError(field, f"must be a URL that starts with http:// or https://, not {url!r}")
        for field, url in asdict(video).items()
        if not _is_web_address(url)
    ]
    if wrong:
        raise invalid_fields(wrong)
    order = await any_order(tx, reference)
    if not isinstance(order, ConfirmedOrder):
        state = shown_state(order, now)
        raise DomainError(Kind.CONFLICT, f"{order.name} is {state}: only confirmed orders have a packing video")
    await put_video(tx, order.id, video)
    audit_order(tx, "order.video", order, now, after=asdict(video))


def _is_web_address(url: str) -> bool:
    if len(url) > _LONGEST or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
