"""A class for each state of orders and quotes (specification, section 3).

Only `parse_order` looks at the columns that decide the state. Amounts are pounds.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct, convert

from tradecounter.customers.settings import Account
from tradecounter.customers.wire import CustomerAddress
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING
from tradecounter.orders.rules import (
    CANCELLED,
    QUOTE_DECLINED,
    QUOTE_EXPIRED,
    QUOTE_ORDERED,
    QUOTE_PRICED,
    QUOTE_WAITING,
)
from tradecounter.orders.shipping_options import ShippingOption, find_option
from tradecounter.orders.wire import NotificationDetails

State = Literal["pending", "confirmed", "cancelled", "expired"]
OrderKind = Literal["order", "quote"]


class OrderBase(Struct, frozen=True, kw_only=True):
    """The common data of orders and quotes in every state. `id` is the order id of the wire, from creation on."""

    id: int
    customer_id: int
    kind: OrderKind
    state: State
    confirmation_code: str
    customer_reference: str
    external_customer_id: str | None
    billing_address: CustomerAddress
    shipping_address: CustomerAddress
    order_notifications: NotificationDetails | None
    courier_notifications: NotificationDetails | None
    shipping_region: int
    shipping_options: list[ShippingOption]
    shipping_method: int | None  # until the confirmation, the requested method
    shipping_weight: Decimal
    cost_net: Decimal
    cost_tax: Decimal
    tax_rate: Decimal
    allow_back_orders: bool
    created_at: datetime
    in_basket_of: int | None = None  # the user whose basket still has its lines

    @property
    def cost_gross(self) -> Decimal:
        """The items with VAT, without shipping."""
        return self.cost_net + self.cost_tax

    def gross_with(self, option: ShippingOption) -> Decimal:
        """Return what the order costs with a shipping option: items and shipping with VAT."""
        return self.cost_gross + option.cost_net + option.tax(self.tax_rate)

    @property
    def least_gross(self) -> Decimal:
        """What the order costs with its cheapest shipping option; without options, the items alone."""
        return min(map(self.gross_with, self.shipping_options), default=self.cost_gross)

    @property
    def contact_email(self) -> str | None:
        """The e-mail address of the order's contact."""
        return None if self.order_notifications is None else self.order_notifications.email_address

    def mail_recipient(self, account: Account) -> str | None:
        """Return the order's contact address, or else the account's address if it wants order e-mails."""
        return self.contact_email or (account.email_address if account.order_mails else None)

    @property
    def name(self) -> str:
        """The order reference, or the confirmation code of an unconfirmed order."""
        return self.confirmation_code

    @property
    def label(self) -> str:
        """The status on the wire, or the state of an order without a status."""
        return self.state

    @property
    def placed_at(self) -> datetime:
        """When the order was confirmed, or created if it is not confirmed."""
        return self.created_at

    @property
    def chosen_shipping(self) -> ShippingOption | None:
        """The requested or confirmed shipping option. Confirmed orders always have an option."""
        return find_option(self.shipping_options, self.shipping_method)


class _Unconfirmed(OrderBase, frozen=True, kw_only=True):
    """Can be confirmed until `expires_at`. A job changes the state some time later."""

    state: Literal["pending", "expired"]
    expires_at: datetime

    def has_expired(self, now: datetime) -> bool:
        """Return whether the order can no longer be confirmed; `HAS_EXPIRED` in `queries/orders.py` has the SQL."""
        return self.state == "expired" or now > self.expires_at


class PendingOrder(_Unconfirmed, frozen=True, kw_only=True):
    """A priced order that waits for confirmation."""


class Pricing(Struct, frozen=True):
    """The latest price from support, valid until `expires_at`; `pricings` counts the prices so far."""

    priced_at: datetime
    expires_at: datetime
    pricings: int
    quote_note: str | None


class UnpricedQuote(OrderBase, frozen=True, kw_only=True):
    """A quote that waits for support's price. It does not expire and cannot be confirmed."""

    state: Literal["pending"]


class PricedQuote(_Unconfirmed, frozen=True, kw_only=True):
    """A quote with support's price, which can be confirmed until it expires."""

    pricing: Pricing


class CancelledUnconfirmed(OrderBase, frozen=True, kw_only=True):
    """A pending order or a quote that its customer withdrew or replaced, or that support declined."""

    state: Literal["cancelled"]
    status: str
    cancelled_at: datetime
    cancel_reason: str
    pricing: Pricing | None  # of a priced quote

    @property
    def label(self) -> str:
        """The status."""
        return self.status

    @property
    def ended_as(self) -> str:
        """What people see: quotes are declined, pending orders are cancelled."""
        return QUOTE_DECLINED.lower() if self.kind == "quote" else CANCELLED.lower()


class NumberedOrder(OrderBase, frozen=True, kw_only=True):
    """An order that was confirmed, and possibly cancelled later. `number` is the number in its reference."""

    number: int
    order_reference: str
    shipping_method: int
    shipping_net: Decimal
    shipping_tax: Decimal
    paid: Decimal
    credited: Decimal = NOTHING  # by credit notes
    status: str
    term_days: int
    confirmed_at: datetime
    changed_at: datetime  # triggers set it (`db/migrations/versions/0054_changed_orders.py`)
    expected_changed_at: datetime | None  # None: the expected dates have not changed since the confirmation
    pricing: Pricing | None  # of an order that was a quote

    @property
    def name(self) -> str:
        """The order reference."""
        return self.order_reference

    @property
    def label(self) -> str:
        """The status."""
        return self.status

    @property
    def placed_at(self) -> datetime:
        """The time of the confirmation."""
        return self.confirmed_at

    @property
    def chosen_shipping(self) -> ShippingOption:
        """The confirmed shipping option. Raises LookupError when the order has no such option."""
        option = find_option(self.shipping_options, self.shipping_method)
        if option is None:
            raise LookupError(f"order {self.id} has no shipping option {self.shipping_method}")
        return option

    @property
    def gross(self) -> Decimal:
        """Items and shipping with VAT."""
        return self.cost_gross + self.shipping_net + self.shipping_tax

    @property
    def due(self) -> Decimal:
        """The part of the gross that is neither paid nor credited."""
        return self.gross - self.paid - self.credited


class ConfirmedOrder(NumberedOrder, frozen=True, kw_only=True):
    """A confirmed order, from awaiting dispatch to completed."""

    state: Literal["confirmed"]


class CancelledOrder(NumberedOrder, frozen=True, kw_only=True):
    """A confirmed order that support cancelled."""

    state: Literal["cancelled"]
    cancelled_at: datetime
    cancel_reason: str

    @property
    def ended_as(self) -> str:
        """What people see."""
        return self.status.lower()


Quote = UnpricedQuote | PricedQuote
AnyOrder = PendingOrder | Quote | CancelledUnconfirmed | ConfirmedOrder | CancelledOrder


def parse_order(**row: Any) -> AnyOrder:
    """Return a row's order. Raises msgspec.ValidationError for a row that fits no state."""
    pricing = None if row["priced_at"] is None else row
    stored = {name: row[name] and _unvalidated(kind, row[name]) for name, kind in _STORED.items()}
    return convert({**row, **stored, "pricing": pricing}, _class_of(row))


# Not validated again, so a stricter rule does not make old orders unreadable.
_STORED: dict[str, type[Struct]] = {
    "billing_address": CustomerAddress,
    "shipping_address": CustomerAddress,
    "order_notifications": NotificationDetails,
    "courier_notifications": NotificationDetails,
}


def _unvalidated(kind: type[Struct], value: dict[str, Any]) -> Struct:
    return kind(**{name: value[name] for name in kind.__struct_fields__ if name in value})


def _class_of(row: dict[str, Any]) -> type[AnyOrder]:
    if row["state"] == "confirmed":
        return ConfirmedOrder
    if row["state"] == "cancelled":
        return CancelledUnconfirmed if row["number"] is None else CancelledOrder
    if row["kind"] == "order":
        return PendingOrder
    return UnpricedQuote if row["priced_at"] is None else PricedQuote


def pricing_of(order: AnyOrder) -> Pricing | None:
    """Return the pricing of a quote, or of an order that was a quote; None without a pricing."""
    return None if isinstance(order, PendingOrder | UnpricedQuote) else order.pricing


def shown_state(order: AnyOrder, now: datetime) -> str:
    """Return the status or the state that people see of an order or a quote, in small letters, for messages."""
    match order:
        case NumberedOrder():
            return order.status.lower()
        case CancelledUnconfirmed():
            return order.ended_as
        case PendingOrder():
            return "expired" if order.has_expired(now) else order.state
        case _:
            return quote_status(order, now).lower()


def require_confirmed(order: AnyOrder, now: datetime, only: str) -> ConfirmedOrder:
    """Return a confirmed order. Raises DomainError (conflict) for another one; `only` says what is confirmed alone."""
    if not isinstance(order, ConfirmedOrder):
        raise DomainError(Kind.CONFLICT, f"{order.name} is {shown_state(order, now)}: {only}")
    return order


def ordered_already(order: NumberedOrder) -> DomainError:
    """Return the error for what only a pending order or a quote can have done with it."""
    what = "quote" if order.kind == "quote" else "pending order"
    problem = f"the {what} is already order {order.order_reference}, which is {order.status.lower()}"
    return DomainError(Kind.CONFLICT, problem)


def quote_status(quote: AnyOrder, now: datetime) -> str:
    """Return the status label of a quote at a moment."""
    match quote:
        case NumberedOrder():
            return QUOTE_ORDERED
        case CancelledUnconfirmed():
            return QUOTE_DECLINED
        case UnpricedQuote():
            return QUOTE_WAITING
        case _:
            return QUOTE_EXPIRED if quote.has_expired(now) else QUOTE_PRICED
