"""Steps in the lives of orders, for the sandbox and for the demo: the use cases that the staff and programs take."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.invoices import issue_invoice
from tradecounter.billing.queries.ledger import InvoiceBalance, invoices_of_order
from tradecounter.credit_notes.issue_credit_note import issue_credit_note
from tradecounter.customer_requests.handle_requests import RequestDetails, open_request
from tradecounter.db.transaction import Transaction
from tradecounter.identity.installation_secret import secret_key, secret_keys
from tradecounter.kit.clock import day_begins, uk_date
from tradecounter.kit.errors import or_not_found
from tradecounter.kit.money import percentage
from tradecounter.letterhead.seller import Letterhead, letterhead_from
from tradecounter.orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import NamedUnits, OrderLine
from tradecounter.orders.order_context import OrderingPolicy
from tradecounter.orders.queries.orders import lines_of_order
from tradecounter.orders.reseller_wire import Cancellation, Tracking
from tradecounter.payments.record_payment import NewPayment, pay_invoice
from tradecounter.quotes.handle_quotes import decline_quote
from tradecounter.quotes.price_quote import price_quote
from tradecounter.quotes.wire import QuotePrice
from tradecounter.settings import Settings
from tradecounter.shipments.dispatch import dispatch_order
from tradecounter.shipments.fulfilment import add_video, configure_item, track_shipment
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.wire import ConfigurationRequest, Dispatch, DispatchedItem, OrderVideoResponse, Serial
from tradecounter.stock.queries.stock import store_delivery


class Reseller(Struct, frozen=True):
    """The reseller's settings that steps need."""

    policy: OrderingPolicy
    letterhead: Letterhead
    vault: ProvisioningVault
    secret: Callable[[], str]


def reseller_from(settings: Settings) -> Reseller:
    """Return the reseller of the settings."""
    return Reseller(
        policy=OrderingPolicy.from_settings(settings),
        letterhead=letterhead_from(settings),
        vault=ProvisioningVault(lambda: secret_keys(settings)),
        secret=lambda: secret_key(settings),
    )


# A step in an order's life, by the order's confirmation code. Raises DomainError.
Step = Callable[[Transaction, str, Reseller, datetime], Awaitable[None]]


class Priced(Struct, frozen=True):
    """Support prices a quote, with a discount in per cent."""

    note: str
    discount: int | None = None

    async def __call__(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        discount = None if self.discount is None else Decimal(self.discount)
        price = QuotePrice(discount=discount, note=self.note, force=True)
        await price_quote(tx, code, price, now, reseller.policy.quote_lifetime, reseller.secret())


class Declined(Struct, frozen=True):
    """Support declines a quote."""

    reason: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await decline_quote(tx, code, self.reason, now)


class Configured(Struct, frozen=True):
    """The customer attaches configurations for units of the first item."""

    units: int

    async def __call__(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        order = await fetch_order(tx, code)
        [item, *_] = await lines_of_order(tx, order.id)
        configurations = [
            ConfigurationRequest(
                adsl_username=f"branch{unit}@dsl.example",
                adsl_password=f"demo-password-{unit}",
                wifi_ssid=f"Branch {unit}",
                wifi_password=f"demo-wifi-{unit}",
            )
            for unit in range(1, self.units + 1)
        ]
        await configure_item(tx, order.id, item.id, configurations, reseller.vault, now)


class Dispatched(Struct, frozen=True, kw_only=True):
    """The reseller dispatches what is allocated, of the first `lines` lines or of all; at most `most` units of each.

    `numbered` adds serial numbers and MAC addresses; then nothing may be dispatched yet.
    """

    lines: int | None = None
    most: int | None = None
    tracking: str | None = None
    numbered: bool = False

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        lines = [line for line in await lines_of(tx, code) if line.allocated][: self.lines]
        items = [DispatchedItem(line.id, min(line.allocated, self.most or line.allocated)) for line in lines]
        serials = list(_serials(lines)) if self.numbered else ()
        await dispatch_order(tx, code, Dispatch(items, self.tracking), now, serials=serials)


class Supplied(Struct, frozen=True):
    """A supplier delivers the order's back-ordered units; the oldest orders get them first."""

    reason: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        missing: Counter[str] = Counter()
        for line in await lines_of(tx, code):
            missing[line.sku] += line.back_ordered
        adjustments = [Adjustment(sku=sku, change=units, reason=self.reason) for sku, units in (+missing).items()]
        await adjust_stock(tx, adjustments, now)


class Tracked(Struct, frozen=True):
    """The courier reports where the latest shipment is, or the latest with a tracking number."""

    type: str
    description: str
    locality: str = ""
    tracking: str | None = None

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        tracking = Tracking(self.type, self.description, self.tracking, locality=self.locality)
        await track_shipment(tx, code, tracking, now)


class Filmed(Struct, frozen=True):
    """The reseller adds a packing video."""

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        reference = (await fetch_order(tx, code)).name
        video = OrderVideoResponse(
            f"https://video.example/{reference}.mp4", f"https://video.example/{reference}/playlist.m3u8"
        )
        await add_video(tx, code, video, now)


class Invoiced(Struct, frozen=True):
    """The reseller issues the invoice."""

    async def __call__(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        await issue_invoice(tx, code, reseller.letterhead, now)


class Settled(Struct, frozen=True, kw_only=True):
    """The customer pays what is due of an order's invoice, or `percent` of it, and `extra` pounds too much."""

    reference: str = ""
    percent: int = 100
    extra: Decimal = Decimal(0)

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        invoice = await unpaid_invoice(tx, code)
        amount = percentage(invoice.due, Decimal(self.percent)) + self.extra
        await pay_invoice(tx, invoice.invoice, NewPayment(amount=amount, reference=self.reference), now)


class Credited(Struct, frozen=True):
    """The reseller credits an amount of the order's invoice, in pounds without VAT."""

    amount: Decimal
    reason: str

    async def __call__(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        invoice = await issue_invoice(tx, code, reseller.letterhead, now)  # the one that is issued already
        await issue_credit_note(tx, invoice.number, self.amount, self.reason, reseller.letterhead, now)


class Asked(Struct, frozen=True):
    """The customer's program writes about the order."""

    text: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        order = await fetch_order(tx, code)
        await open_request(tx, order.customer_id, order.name, "message", RequestDetails(text=self.text), now)


class Announced(Struct, frozen=True):
    """A supplier announces a delivery of the order's back-ordered products, in `in_days` days."""

    in_days: int

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        day = day_begins(uk_date(now) + timedelta(days=self.in_days))
        for line in await lines_of(tx, code):
            if line.back_ordered:
                await store_delivery(tx, line.product_id, 1000, day)


class Cancelled(Struct, frozen=True):
    """Support cancels the order."""

    reason: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await cancel_order(tx, code, Cancellation(self.reason), now)


class PartCancelled(Struct, frozen=True):
    """Support cancels units of the order's last item."""

    units: int
    reason: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        [*_, last] = await lines_of(tx, code)
        await cancel_order(tx, code, Cancellation(self.reason, [NamedUnits(last.id, self.units)]), now)


async def lines_of(tx: Transaction, code: str) -> list[OrderLine]:
    """Return an order's lines. Raises DomainError (not found)."""
    return await lines_of_order(tx, (await fetch_order(tx, code)).id)


async def unpaid_invoice(tx: Transaction, code: str) -> InvoiceBalance:
    """Return an order's first invoice that is not fully paid. Raises DomainError (not found)."""
    invoices = await invoices_of_order(tx, (await fetch_order(tx, code)).id)
    return or_not_found(next((invoice for invoice in invoices if invoice.due), None), "unpaid invoice of order", code)


def _serials(lines: Sequence[OrderLine]) -> Iterator[Serial]:
    """Yield a serial number for each unit or bundle component, with MAC addresses reserved for documentation."""
    units = [part for line in lines for part in line.components or (line,) for _ in range(part.quantity)]
    for number, part in enumerate(units, start=1):
        yield Serial(
            item_id=part.id,
            serial_number=f"{part.sku}-{part.id:05}-{number:03}",
            mac_address=f"00:00:5E:00:53:{number % 256:02X}",
            provisioning_sku=part.sku,
        )
