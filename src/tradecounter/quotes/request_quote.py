"""Requests a quote, with the checks and prices of an order (specification, section 3)."""

from msgspec.structs import asdict

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.orders.create.account_standing import current_standing
from tradecounter.orders.create.place_order import checked_draft, record_creation
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.create import AccountStanding, insert_order
from tradecounter.orders.states import UnpricedQuote
from tradecounter.orders.wire import CreateOrderRequest


async def request_quote(
    tx: Transaction, request: CreateOrderRequest, standing: AccountStanding, context: OrderContext
) -> tuple[UnpricedQuote, list[OrderLine]]:
    """Create an unpriced quote, queue the e-mails to support and the customer, and return the quote with its lines.

    Raises DomainError: invalid (also with `auto_confirm`), payment required, conflict.
    """
    draft, lines = await checked_draft(tx, "quote", request, standing, context)
    quote = UnpricedQuote(**asdict(draft))
    insert_order(tx, quote, lines)
    record_creation(tx, "quote.request", "quote.requested", quote)
    await queue(tx, "mail_quote_requested", f"quotes of customer {context.customer_id}", order_id=quote.id)
    await queue(tx, "mail_quote_received", order_id=quote.id)
    return quote, lines


async def quote_for_customer(tx: Transaction, request: CreateOrderRequest, context: OrderContext) -> UnpricedQuote:
    """Request a quote with the account's standing as it is now. Raises DomainError as `request_quote` does."""
    standing, context = await current_standing(tx, "quote", request, context)
    quote, _ = await request_quote(tx, request, standing, context)
    return quote
