"""Later steps of the demo's orders, which use the same use cases as real orders."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal

from tradecounter.billing.issue_credit_note import issue_credit_note
from tradecounter.billing.issue_invoice import issue_invoice
from tradecounter.billing.move_money import lock_confirmed_order
from tradecounter.customer_requests.handle_requests import RequestDetails, open_request
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import at_uk_time, uk_date
from tradecounter.kit.money import percentage
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.requests import Cancellation, QuotedItem, QuotePrice
from tradecounter.orders.units import NamedUnits
from tradecounter.payments.record_payment import record_payment
from tradecounter.quotes.price_quote import price_quote
from tradecounter.shipments.add_video import add_video
from tradecounter.shipments.configure_item import configure_item
from tradecounter.shipments.dispatch_order import dispatch_order
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.requests import DispatchRequest, Serial
from tradecounter.shipments.track_shipment import NewTrackingEvent, track_shipment
from tradecounter.shipments.wire import ConfigurationRequest, OrderVideoResponse
from tradecounter.stock.queries.levels import store_delivery


@dataclass(frozen=True, slots=True)
class Reseller:
    """The reseller's settings that steps need."""

    policy: OrderingPolicy
    letterhead: Letterhead
    vault: ProvisioningVault
    secret: str


@dataclass(frozen=True, slots=True)
class Step(ABC):
    """A step in an order's life."""

    days_ago: float

    async def apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        """Apply the step to an order. Raises DomainError."""
        await self._apply(tx, code, reseller, now - timedelta(days=self.days_ago))

    @abstractmethod
    async def _apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None: ...


@dataclass(frozen=True, slots=True)
class Priced(Step):
    """Support sets a quote's prices to `percent` of the customer's prices."""

    percent: int
    note: str

    async def _apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        lines = await _lines(tx, code)
        unit_costs = {line.sku: percentage(line.unit_cost, Decimal(self.percent)) for line in lines}
        lifetime = reseller.policy.quote_lifetime
        price = QuotePrice(items=[QuotedItem(*cost) for cost in unit_costs.items()], note=self.note)
        await price_quote(tx, code, price, now, lifetime, reseller.secret)


@dataclass(frozen=True, slots=True)
class Configured(Step):
    """The customer attaches configurations for units of the first item."""

    units: int

    async def _apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        order, [item, *_] = await fetch_order(tx, code), await _lines(tx, code)
        configurations = [
            ConfigurationRequest(
                f"branch{unit}@dsl.example", f"demo-password-{unit}", f"Branch {unit}", f"demo-wifi-{unit}"
            )
            for unit in range(1, self.units + 1)
        ]
        await configure_item(tx, order.id, item.id, configurations, reseller.vault, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched(Step):
    """The reseller dispatches what is left of the first `lines` lines, or of all.

    `numbered` adds serial numbers and MAC addresses; then nothing may be dispatched yet.
    """

    lines: int | None = None
    tracking: str | None = None
    numbered: bool = False

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        lines = (await _lines(tx, code))[: self.lines]
        request = DispatchRequest(
            items=[NamedUnits(line.id, line.left) for line in lines if line.left],
            tracking_number=self.tracking,
            serials=list(_serials(lines)) if self.numbered else (),
        )
        await dispatch_order(tx, code, request, now)


@dataclass(frozen=True, slots=True)
class Tracked(Step):
    """The courier reports the latest shipment's location."""

    type: str
    description: str
    locality: str

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        sighting = NewTrackingEvent(type=self.type, description=self.description, locality=self.locality)
        await track_shipment(tx, code, None, sighting, now)


@dataclass(frozen=True, slots=True)
class Filmed(Step):
    """The reseller adds a packing video."""

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        reference = (await fetch_order(tx, code)).name
        video = OrderVideoResponse(
            f"https://video.example/{reference}.mp4", f"https://video.example/{reference}/playlist.m3u8"
        )
        await add_video(tx, code, video, now)


@dataclass(frozen=True, slots=True)
class Invoiced(Step):
    """The reseller issues the invoice."""

    async def _apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        await issue_invoice(tx, code, reseller.letterhead, now)


@dataclass(frozen=True, slots=True)
class Paid(Step):
    """The customer pays `percent` of the amount due."""

    percent: int = 100

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        due = (await lock_confirmed_order(tx, code)).due
        await record_payment(tx, code, percentage(due, Decimal(self.percent)), now)


@dataclass(frozen=True, slots=True)
class Credited(Step):
    """The reseller credits an amount of the order's invoice, in pounds without VAT."""

    amount: Decimal
    reason: str

    async def _apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        invoice = await issue_invoice(tx, code, reseller.letterhead, now)  # the one that is issued already
        await issue_credit_note(tx, invoice.number, self.amount, self.reason, reseller.letterhead, now)


@dataclass(frozen=True, slots=True)
class Asked(Step):
    """The customer's program writes about the order."""

    text: str

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        order = await fetch_order(tx, code)
        await open_request(tx, order.customer_id, order.name, "message", RequestDetails(text=self.text), now)


@dataclass(frozen=True, slots=True)
class Announced(Step):
    """A supplier announces a delivery of the order's back-ordered products, in `in_days` days."""

    in_days: int

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        day = at_uk_time(uk_date(now) + timedelta(days=self.in_days), time())
        for line in await _lines(tx, code):
            if line.back_ordered:
                await store_delivery(tx, line.product_id, 1000, day)


@dataclass(frozen=True, slots=True)
class Cancelled(Step):
    """Support cancels the order."""

    reason: str

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await cancel_order(tx, code, Cancellation(self.reason), now)


@dataclass(frozen=True, slots=True)
class PartCancelled(Step):
    """Support cancels units of the order's last item."""

    units: int
    reason: str

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        [*_, last] = await _lines(tx, code)
        await cancel_order(tx, code, Cancellation(self.reason, [NamedUnits(last.id, self.units)]), now)


async def _lines(tx: Transaction, code: str) -> list[OrderLine]:
    return await lines_of_order(tx, (await fetch_order(tx, code)).id)


def _serials(lines: Sequence[OrderLine]) -> Iterator[Serial]:
    """Yield a serial number for each unit or bundle component, with MAC addresses reserved for documentation."""
    units = [part for line in lines for part in line.components or (line,) for _ in range(part.quantity)]
    for number, part in enumerate(units, start=1):
        yield Serial(part.id, f"{part.sku}-{part.id:05}-{number:03}", f"00:00:5E:00:53:{number % 256:02X}", part.sku)
