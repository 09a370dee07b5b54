"""Orders and their lines as the database holds them."""

from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from typing import Any, Literal

import msgspec
from msgspec import Struct

from tradecounter.shipping.rules import ShippingDates, ShippingMethod

State = Literal["pending", "expired", "confirmed", "cancelled"]
Kind = Literal["order", "quote"]


class OfferedShipping(Struct, frozen=True):
    """A shipping method as it was offered for an order: its price holds, its dates move with the confirmation."""

    id: int
    provider: str
    description: str
    cost_net: Decimal
    transit_days: int
    cut_off: time
    dispatch: datetime | None = None
    arrival: datetime | None = None

    def dated(self, dates: ShippingDates | None) -> "OfferedShipping":
        """Return the offer with its dates, or without any."""
        dispatch, arrival = dates if dates is not None else (None, None)
        return msgspec.structs.replace(self, dispatch=dispatch, arrival=arrival)


def offer(method: ShippingMethod, weight_kg: Decimal) -> OfferedShipping:
    """Return a method as offered for a parcel, without dates yet."""
    return OfferedShipping(
        method.id,
        method.provider,
        method.description,
        method.cost(weight_kg),
        method.transit_days,
        method.cut_off,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What confirming an order settles."""

    number: int
    order_reference: str
    shipping_method: int
    shipping_options: list[OfferedShipping]
    shipping_net: Decimal
    shipping_tax: Decimal
    status: str
    term_days: int
    confirmed_at: datetime


class OrderRecord(Struct, frozen=True, kw_only=True):
    """An order in any state. Amounts are pounds; `number` is the order id of the wire."""

    id: int
    customer_id: int
    kind: Kind
    state: State
    confirmation_code: str
    number: int | None
    order_reference: str | None
    customer_reference: str
    external_customer_id: str | None
    billing_address: dict[str, Any]
    shipping_address: dict[str, Any]
    order_notifications: dict[str, str] | None
    courier_notifications: dict[str, str] | None
    shipping_region: int
    shipping_options: list[dict[str, Any]]
    shipping_method: int | None
    shipping_weight: Decimal
    shipping_net: Decimal | None
    shipping_tax: Decimal | None
    cost_net: Decimal
    cost_tax: Decimal
    tax_rate: Decimal
    gross: Decimal
    paid: Decimal
    status: str | None
    term_days: int | None
    created_at: datetime
    expires_at: datetime | None
    confirmed_at: datetime | None
    priced_at: datetime | None
    pricings: int
    quote_note: str | None
    cancelled_at: datetime | None
    cancel_reason: str | None
    expected_changed_at: datetime | None

    @property
    def offers(self) -> list[OfferedShipping]:
        """The shipping methods that were offered."""
        return msgspec.convert(self.shipping_options, list[OfferedShipping])

    def confirmed(self, confirmation: Confirmation) -> "OrderRecord":
        """Return the order as it is with its confirmation."""
        return msgspec.structs.replace(
            self,
            state="confirmed",
            number=confirmation.number,
            order_reference=confirmation.order_reference,
            shipping_method=confirmation.shipping_method,
            shipping_options=msgspec.to_builtins(confirmation.shipping_options),
            shipping_net=confirmation.shipping_net,
            shipping_tax=confirmation.shipping_tax,
            gross=self.gross + confirmation.shipping_net + confirmation.shipping_tax,
            status=confirmation.status,
            term_days=confirmation.term_days,
            confirmed_at=confirmation.confirmed_at,
        )

    @property
    def due(self) -> Decimal:
        """What is left to pay."""
        return self.gross - self.paid


class LineRecord(Struct, frozen=True, kw_only=True):
    """A line of an order; `cost_net` and `cost_tax` are the line's totals.

    Of a confirmed order, `quantity` is what is allocated, back-ordered, dispatched and cancelled. Components have their
    share of their bundle's figures: they leave with it.
    """

    id: int
    order_id: int
    product_id: int
    sku: str
    name: str
    quantity: int
    unit_cost: Decimal
    cost_net: Decimal
    cost_tax: Decimal
    allocated: int
    back_ordered: int
    dispatched: int
    bundle_line_id: int | None = None
    components: tuple["LineRecord", ...] = ()

    @property
    def to_come(self) -> int:
        """The units of a confirmed order that are to be dispatched."""
        return self.allocated + self.back_ordered

    @property
    def cancelled(self) -> int:
        """The units of a confirmed order that will not come any more."""
        return self.quantity - self.dispatched - self.to_come

    @property
    def left(self) -> int:
        """The units that are not dispatched yet."""
        return self.quantity - self.dispatched
