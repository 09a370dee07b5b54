"""What each mail tells, and whom. A mail is made anew from the database whenever its job runs."""

import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.headerregistry import Address
from typing import Any

import structlog

from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold
from tradecounter.notifications.mail import Attachment, Mail, mail_address, mailbox, make_mail
from tradecounter.notifications.queries import (
    InvoiceFacts,
    LineFacts,
    OrderFacts,
    dispatched_lines,
    invoice_facts,
    line_facts,
    order_facts,
    shipment_facts,
    units_of,
    unpriced_quotes,
)
from tradecounter.notifications.rules import gathering_left, quotes_to_tell
from tradecounter.notifications.wording import worded
from tradecounter.settings import PREFIX, Settings, SettingsError

log = structlog.get_logger()


class NothingToTell(Exception):  # noqa: N818 it is what the job was about that is wrong
    """What a mail is about does not exist, or nobody can be told."""


class NotYetError(Exception):
    """A mail is held back for a while, so that it can tell more."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(f"in {wait.total_seconds():.0f} seconds")
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Office:
    """Who writes the mails, and who answers what comes back."""

    seller: str
    sender: Address
    support: Address
    api: str | None

    @classmethod
    def from_settings(cls, settings: Settings) -> "Office":
        """Raise SettingsError when an address of the settings cannot be used."""
        addresses = {}
        for name in ("mail_from", "support_email"):
            address = mailbox(getattr(settings, name))
            if address is None:
                raise SettingsError(f"{PREFIX}{name.upper()}: is not an address that a mail server could read")
            addresses[name] = address
        return cls(settings.seller_name, addresses["mail_from"], addresses["support_email"], settings.base_url)


@dataclass(frozen=True, slots=True)
class Writing:
    """What a mail is written with: the transaction that it reads in, the office, and the moment of writing."""

    tx: Transaction
    office: Office
    now: datetime

    def mail(
        self,
        name: str,
        happened: datetime,
        to: Sequence[str],
        subject: str,
        template: str,
        *,
        reply_to: str | None = None,
        attachment: Attachment | None = None,
        **facts: Any,
    ) -> Mail:
        """Return a mail. Raises NothingToTell when no mail server could read any of the addresses."""
        addresses = {fold(text): mail_address(text) for text in to}
        good = [address for address in addresses.values() if address is not None]
        if len(good) < len(addresses):
            log.error(
                "no mail can be sent to an address", mail=name, addresses=[t for t, a in addresses.items() if not a]
            )
        if not good:
            raise NothingToTell(f"{name}: nobody to tell")
        text, html = worded(template, office=self.office, subject=subject, **facts)
        return make_mail(
            name=name,
            happened=happened,
            now=self.now,
            sender=self.office.sender,
            to=good,
            reply_to=self.office.support if reply_to is None else mail_address(reply_to),
            subject=subject,
            text=text,
            html=html,
            attachment=attachment,
        )


# Writes the mail that a job with these ids is about; None when nobody wants it, or a later one tells more.
Letter = Callable[..., Awaitable[Mail | None]]


async def quote_requested(writing: Writing, *, order_id: int) -> Mail | None:
    """Ask support to price a quote, and with it the customer's other quotes that support was not told of yet.

    Raises NotYetError within a short while after the customer's last such mail.
    """
    customer_id = (await _order(writing, order_id)).customer_id
    waiting = await unpriced_quotes(writing.tx, customer_id)
    untold = [quote.id for quote in waiting if quote.support_told_at is None]
    if order_id not in untold:  # told with others, or dealt with already
        return None
    last_told = max((quote.support_told_at for quote in waiting if quote.support_told_at), default=None)
    if wait := gathering_left(len(untold), last_told, writing.now):
        raise NotYetError(wait)
    quotes = [await _quote(writing, quote_id) for quote_id in quotes_to_tell(untold, order_id)]
    orders = [quote.order for quote in quotes]
    first, last, who = orders[0], orders[-1], orders[0].company or f"{orders[0].first_name} {orders[0].last_name}"
    several = len(orders) > 1
    mail = writing.mail(
        f"quotes-requested-{first.id}-{last.id}-{len(orders)}" if several else f"quote-requested-{first.id}",
        last.created_at,
        [writing.office.support.addr_spec],
        f"{len(orders)} quotes to price: {who}" if several else f"Quote to price: {first.confirmation_code}, {who}",
        "quote_requested",
        reply_to=first.email_address,
        quotes=quotes,
    )
    return replace(mail, quotes=tuple(order.id for order in orders))


@dataclass(frozen=True, slots=True)
class _Quote:
    """A quote, its lines, and the command that prices it."""

    order: OrderFacts
    lines: Sequence[LineFacts]
    command: str


async def _quote(writing: Writing, order_id: int) -> _Quote:
    order, lines = await _order(writing, order_id), await line_facts(writing.tx, order_id)
    items = " ".join(f"--item {shlex.quote(f'{sku}=UNIT_COST')}" for sku in dict.fromkeys(line.sku for line in lines))
    code = shlex.quote(order.confirmation_code)
    carriage = "" if order.offers else " --shipping METHOD_ID=COST"
    return _Quote(order, lines, f"tradecounter quote price {code} {items}{carriage} --note TEXT")


async def quote_priced(writing: Writing, *, order_id: int, pricing: int) -> Mail | None:
    """Tell the customer what support asks for a quote. Of several pricings, only the latest is told."""
    order = await _order(writing, order_id)
    if order.priced_at is None or pricing > order.pricings:
        raise NothingToTell(f"quote {order_id} has no pricing {pricing}")
    if pricing < order.pricings:
        log.info("a later pricing of the quote is told instead", order_id=order_id, pricing=pricing)
        return None
    return writing.mail(
        f"quote-priced-{order.id}-{pricing}",
        order.priced_at,
        [address for address in (order.contact, order.email_address) if address],
        f"Your quote {order.customer_reference} is priced",
        "quote_priced",
        order=order,
        lines=await line_facts(writing.tx, order_id),
    )


async def order_confirmed(writing: Writing, *, order_id: int) -> Mail | None:
    """Tell the order's contact that it is confirmed."""
    order = await _order(writing, order_id)
    if order.confirmed_at is None:
        raise NothingToTell(f"order {order_id} is not confirmed")
    if order.contact is None:
        return None
    return writing.mail(
        f"order-confirmed-{order.id}",
        order.confirmed_at,
        [order.contact],
        f"Order {order.order_reference} confirmed (your reference {order.customer_reference})",
        "order_confirmed",
        order=order,
        lines=await line_facts(writing.tx, order_id),
    )


async def order_dispatched(writing: Writing, *, order_id: int, shipment_id: int) -> Mail | None:
    """Tell the order's contact what left, and what is still to come."""
    order = await _order(writing, order_id)
    shipment = await shipment_facts(writing.tx, order_id, shipment_id)
    if shipment is None:
        raise NothingToTell(f"order {order_id} has no shipment {shipment_id}")
    if order.contact is None:
        return None
    lines = await dispatched_lines(writing.tx, order_id, shipment_id)
    units = await units_of(writing.tx, shipment_id)
    remaining = [line for line in lines if line.remaining > 0 and not line.component]
    what = "part dispatched" if remaining else "dispatched"
    return writing.mail(
        f"order-dispatched-{order.id}-{shipment.id}",
        shipment.dispatched_at,
        [order.contact],
        f"Order {order.order_reference} {what} (your reference {order.customer_reference})",
        "order_dispatched",
        order=order,
        shipment=shipment,
        method=next((offer for offer in order.offers if offer.id == shipment.shipping_method), None),
        dispatched=[(line, units.get(line.id, [])) for line in lines if line.dispatched or line.id in units],
        remaining=remaining,
    )


async def order_invoiced(writing: Writing, *, order_id: int, resent: int = 0) -> Mail | None:
    """Send the invoice to the order's contact; `resent` is the second at which it is sent once more."""
    order, invoice = await _invoiced(writing, order_id)
    if order.contact is None:
        return None
    return _with_invoice(writing, "order-invoiced", order.contact, order, invoice, resent)


async def invoice_copy(writing: Writing, *, order_id: int, resent: int = 0) -> Mail | None:
    """Send a copy of the invoice to the account's address for them (specification, section 6, rule 3)."""
    order, invoice = await _invoiced(writing, order_id)
    if order.accounts_email is None:
        return None
    return _with_invoice(writing, "invoice-copy", order.accounts_email, order, invoice, resent)


def _with_invoice(writing: Writing, about: str, to: str, order: OrderFacts, invoice: InvoiceFacts, resent: int) -> Mail:
    # A mail of another name has another Message-ID: with the same one, mail programs would hide it.
    return writing.mail(
        f"{about}-{invoice.number}" + (f"-{resent}" if resent else ""),
        invoice.issued_at,
        [to],
        f"Invoice {invoice.number} for order {order.order_reference} (your reference {order.customer_reference})",
        "invoice",
        attachment=Attachment(f"invoice-{invoice.number}.pdf", invoice.pdf),
        order=order,
        invoice=invoice,
        is_copy=about == "invoice-copy",
    )


async def _order(writing: Writing, order_id: int) -> OrderFacts:
    order = await order_facts(writing.tx, order_id)
    if order is None:
        raise NothingToTell(f"there is no order {order_id}")
    return order


async def _invoiced(writing: Writing, order_id: int) -> tuple[OrderFacts, InvoiceFacts]:
    order, invoice = await _order(writing, order_id), await invoice_facts(writing.tx, order_id)
    if invoice is None:
        raise NothingToTell(f"order {order_id} has no invoice")
    return order, invoice
