"""The e-mails about quotes: to support, which prices them, and to the customer."""

import shlex
from collections.abc import Sequence
from functools import partial

import structlog
from msgspec import Struct
from msgspec.structs import replace

from tradecounter.notifications.context import MailContext, NothingToSend, NotYetError
from tradecounter.notifications.mail import Mail
from tradecounter.notifications.queries import LineFacts, OrderFacts, line_facts, unpriced_quotes
from tradecounter.notifications.rules import gathering_left, quotes_to_tell
from tradecounter.orders.queries.all_orders import orders_with_ids
from tradecounter.orders.states import AnyOrder, PricedQuote, UnpricedQuote, pricing_of
from tradecounter.quotes.quote_links import quote_token

log = structlog.get_logger()


async def quote_requested(context: MailContext, *, order_id: int) -> Mail | None:
    """Ask support to price a quote and the customer's other quotes without an e-mail to support.

    Raises NotYetError within a minute of the customer's previous e-mail to support.
    """
    account = (await context.order(order_id)).account
    waiting = await unpriced_quotes(context.tx, account.id)
    untold = [quote_id for quote_id, told_at in waiting.items() if told_at is None]
    if order_id not in untold:  # another e-mail contains the quote, or it is already priced
        return None
    last_told = max((told_at for told_at in waiting.values() if told_at), default=None)
    if wait := gathering_left(len(untold), last_told, context.now):
        raise NotYetError(wait)
    told = quotes_to_tell(untold, order_id)
    orders = await orders_with_ids(context.tx, told)
    lines = await line_facts(context.tx, *told)
    first, last = orders[0], orders[-1]
    several = len(orders) > 1
    mail = await context.mail(
        f"quotes-requested-{first.id}-{last.id}-{len(orders)}" if several else f"quote-requested-{first.id}",
        last.created_at,
        [context.settings.support.addr_spec],
        f"{len(orders)} quotes to price: {account.name}"
        if several
        else f"Quote to price: {first.confirmation_code}, {account.name}",
        "quote_requested",
        reply_to=account.email_address,
        is_to_staff=True,
        account=account,
        quotes=[_quote(order, [line for line in lines if line.order_id == order.id]) for order in orders],
    )
    return None if mail is None else replace(mail, quotes=tuple(order.id for order in orders))


class _Quote(Struct, frozen=True):
    """A quote, its lines, and the commands to price and confirm it."""

    order: AnyOrder
    lines: Sequence[LineFacts]
    price_command: str
    confirm_command: str


def _quote(order: AnyOrder, lines: Sequence[LineFacts]) -> _Quote:
    items = " ".join(f"--item {shlex.quote(f'{sku}=UNIT_COST')}" for sku in dict.fromkeys(line.sku for line in lines))
    code = shlex.quote(order.confirmation_code)
    carriage = "" if order.shipping_options else " --shipping METHOD_ID=COST"
    return _Quote(
        order=order,
        lines=lines,
        price_command=f"tradecounter quote price {code} {items}{carriage} --note TEXT",
        confirm_command=f"tradecounter quote confirm {code}",
    )


async def quote_received(context: MailContext, *, order_id: int) -> Mail | None:
    """Acknowledge a request for a quote that is not priced yet."""
    facts = await context.order(order_id)
    quote = facts.order
    if not isinstance(quote, UnpricedQuote):
        return None
    return await context.mail(
        f"quote-received-{quote.id}",
        quote.created_at,
        facts.quote_recipients(always=False),
        f"We have your request for a quote (your reference {quote.customer_reference})",
        "quote_received",
        order=quote,
        lines=await line_facts(context.tx, order_id),
    )


async def quote_priced(context: MailContext, *, order_id: int, pricing: int) -> Mail | None:
    """Send the customer the price of a quote; only the latest pricing is sent."""
    facts = await _priced(context, order_id, pricing)
    if facts is None:
        return None
    quote = facts.order
    return await context.mail(
        f"quote-priced-{quote.id}-{pricing}",
        quote.pricing.priced_at,
        facts.quote_recipients(always=True),
        f"Your quote {quote.customer_reference} is priced",
        "quote_priced",
        order=quote,
        links=await _links(context, quote),
        lines=await line_facts(context.tx, order_id),
    )


async def quote_expiring(context: MailContext, *, order_id: int, pricing: int) -> Mail | None:
    """Remind the customer that a quote's price expires within a day; None if the quote has a new price."""
    facts = await _priced(context, order_id, pricing)
    if facts is None:
        return None
    quote = facts.order
    return await context.mail(
        f"quote-expiring-{quote.id}-{pricing}",
        context.now,
        facts.quote_recipients(always=False),
        f"Your quote {quote.customer_reference} is about to expire",
        "quote_expiring",
        order=quote,
        links=await _links(context, quote),
        lines=await line_facts(context.tx, order_id),
    )


class _Links(Struct, frozen=True):
    """The links to accept a quote: one for users of the account, and a one-time link if there is one."""

    account: str
    one_time: str | None


async def _links(context: MailContext, quote: PricedQuote) -> _Links:
    page = partial(context.settings.page, "account")
    token = await quote_token(context.tx, quote.id, context.settings.secrets)
    return _Links(page(f"quote/{quote.confirmation_code}"), None if token is None else page(f"quote-link/{token}"))


async def _priced(context: MailContext, order_id: int, pricing: int) -> OrderFacts[PricedQuote] | None:
    """Return a quote that can be accepted at this pricing, or None. Raises NothingToSend."""
    facts = await context.order(order_id)
    quote = facts.order
    latest = pricing_of(facts.order)
    if latest is None or pricing > latest.pricings:
        raise NothingToSend(f"quote {order_id} has no pricing {pricing}")
    if pricing < latest.pricings:
        log.info("e-mail not sent: a later pricing of the quote is sent instead", order_id=order_id, pricing=pricing)
        return None
    if not isinstance(quote, PricedQuote) or quote.has_expired(context.now):
        log.info("e-mail not sent: the quote can no longer be accepted", order_id=order_id, pricing=pricing)
        return None
    return OrderFacts(quote, facts.account)
