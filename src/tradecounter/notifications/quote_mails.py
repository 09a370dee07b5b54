"""The mails about quotes: to support, which prices them, and to the customer."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from tradecounter.customers.queries.accounts import Account
from tradecounter.notifications.letters import NothingToTell, NotYetError, Writing
from tradecounter.notifications.mail import Mail
from tradecounter.notifications.queries import LineFacts, OrderFacts, line_facts, unpriced_quotes
from tradecounter.notifications.rules import gathering_left, quotes_to_tell
from tradecounter.ordering.states import AnyOrder, PricedQuote, UnpricedQuote, pricing_of

log = structlog.get_logger()


async def quote_requested(writing: Writing, *, order_id: int) -> Mail | None:
    """Ask support to price a quote, and with it the customer's other quotes that support was not told of yet.

    Raises NotYetError within a short while after the customer's last such mail.
    """
    customer_id = (await writing.order(order_id)).account.id
    waiting = await unpriced_quotes(writing.tx, customer_id)
    untold = [quote.id for quote in waiting if quote.support_told_at is None]
    if order_id not in untold:  # told with others, or dealt with already
        return None
    last_told = max((quote.support_told_at for quote in waiting if quote.support_told_at), default=None)
    if wait := gathering_left(len(untold), last_told, writing.now):
        raise NotYetError(wait)
    quotes = [await _quote(writing, quote_id) for quote_id in quotes_to_tell(untold, order_id)]
    orders = [quote.order for quote in quotes]
    first, last, account = orders[0], orders[-1], quotes[0].account
    who = account.name
    several = len(orders) > 1
    mail = await writing.mail(
        f"quotes-requested-{first.id}-{last.id}-{len(orders)}" if several else f"quote-requested-{first.id}",
        last.created_at,
        [writing.office.support.addr_spec],
        f"{len(orders)} quotes to price: {who}"
        if several
        else f"Quote to price: {first.confirmation_code}, {account.name}",
        "quote_requested",
        reply_to=account.email_address,
        quotes=quotes,
    )
    return replace(mail, quotes=tuple(order.id for order in orders))


@dataclass(frozen=True, slots=True)
class _Quote:
    """A quote, whose it is, its lines, and the commands that price and confirm it."""

    order: AnyOrder
    account: Account
    lines: Sequence[LineFacts]
    price_command: str
    confirm_command: str


async def _quote(writing: Writing, order_id: int) -> _Quote:
    facts, lines = await writing.order(order_id), await line_facts(writing.tx, order_id)
    items = " ".join(f"--item {shlex.quote(f'{sku}=UNIT_COST')}" for sku in dict.fromkeys(line.sku for line in lines))
    code = shlex.quote(facts.order.confirmation_code)
    carriage = "" if facts.order.shipping_options else " --shipping METHOD_ID=COST"
    return _Quote(
        facts.order,
        facts.account,
        lines,
        f"tradecounter quote price {code} {items}{carriage} --note TEXT",
        f"tradecounter quote confirm {code}",
    )


async def quote_received(writing: Writing, *, order_id: int) -> Mail | None:
    """Tell the customer that support has the request, unless support has answered it by now."""
    facts = await writing.order(order_id)
    quote, recipients = facts.order, facts.told_of_quote(always=False)
    if not recipients or not isinstance(quote, UnpricedQuote):
        return None
    return await writing.mail(
        f"quote-received-{quote.id}",
        quote.created_at,
        recipients,
        f"We have your request for a quote (your reference {quote.customer_reference})",
        "quote_received",
        order=quote,
        lines=await line_facts(writing.tx, order_id),
    )


async def quote_priced(writing: Writing, *, order_id: int, pricing: int) -> Mail | None:
    """Tell the customer what support asks for a quote. Of several pricings, only the latest is told."""
    facts = await _priced(writing, order_id, pricing)
    if facts is None:
        return None
    quote = facts.order
    return await writing.mail(
        f"quote-priced-{quote.id}-{pricing}",
        quote.pricing.priced_at,
        facts.told_of_quote(always=True),
        f"Your quote {quote.customer_reference} is priced",
        "quote_priced",
        order=quote,
        lines=await line_facts(writing.tx, order_id),
    )


async def quote_expiring(writing: Writing, *, order_id: int, pricing: int) -> Mail | None:
    """Tell the customer that the price of a quote holds for a day more, unless it is priced again by now."""
    facts = await _priced(writing, order_id, pricing)
    recipients = [] if facts is None else facts.told_of_quote(always=False)
    if facts is None or not recipients:
        return None
    quote = facts.order
    return await writing.mail(
        f"quote-expiring-{quote.id}-{pricing}",
        writing.now,
        recipients,
        f"Your quote {quote.customer_reference} is about to expire",
        "quote_expiring",
        order=quote,
        lines=await line_facts(writing.tx, order_id),
    )


async def _priced(writing: Writing, order_id: int, pricing: int) -> OrderFacts[PricedQuote] | None:
    """Return a quote that can be accepted at this pricing; None when it has changed since. Raises NothingToTell."""
    facts = await writing.order(order_id)
    quote, latest = facts.order, pricing_of(facts.order)
    if latest is None or pricing > latest.pricings:
        raise NothingToTell(f"quote {order_id} has no pricing {pricing}")
    if pricing < latest.pricings:
        log.info("a later pricing of the quote is told instead", order_id=order_id, pricing=pricing)
        return None
    if not isinstance(quote, PricedQuote) or quote.has_expired(writing.now):
        log.info("the quote cannot be accepted any more, no mail is sent", order_id=order_id, pricing=pricing)
        return None
    return OrderFacts(quote, facts.account)
