"""What the API and the pages of quotes share: the price that support gives."""

from datetime import datetime, timedelta

from tradecounter.backoffice.order_wire import QuotePrice
from tradecounter.db.transaction import Transaction
from tradecounter.ordering.quotes.price_quote import price_quote


async def give_price(
    tx: Transaction, code: str, body: QuotePrice, now: datetime, lifetime: timedelta, secret: str | None
) -> None:
    """Price a quote. Raises DomainError as `price_quote` does."""
    await price_quote(
        tx,
        code,
        [(item.sku, item.cost_net) for item in body.items],
        (body.note or "").strip() or None,
        now,
        lifetime,
        secret,
        carriage=[(option.id, option.cost_net) for option in body.shipping],
        discount=body.discount,
        force=body.force,
    )
