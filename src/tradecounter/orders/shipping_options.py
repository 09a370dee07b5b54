"""The shipping options of an order, and the choice: the requested option, or else the account's default."""

from collections.abc import Collection, Sequence
from datetime import datetime, time
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.kit.errors import Code, DomainError, Kind, invalid
from tradecounter.kit.money import percentage
from tradecounter.kit.text import and_more
from tradecounter.shipping.rules import ShippingMethod, shipping_dates
from tradecounter.stock.rules import Cover

_MOST_LISTED = 20  # methods in an error


class ShippingOption(Struct, frozen=True):
    """A shipping method with its price for one order. The price is fixed; the dates depend on the confirmation."""

    id: int
    provider: str
    description: str
    cost_net: Decimal
    transit_days: int
    cut_off: time
    dispatch: datetime | None = None
    arrival: datetime | None = None

    @property
    def name(self) -> str:
        """The service, for display."""
        return f"{self.provider} {self.description}"

    def tax(self, tax_rate: Decimal) -> Decimal:
        """Return the VAT on the price, at a rate in per cent."""
        return percentage(self.cost_net, tax_rate)

    def dated(self, confirmed: datetime, cover: Cover) -> "ShippingOption":
        """Return the option with the dates for a confirmation at a moment; without dates if no delivery covers it."""
        dates = shipping_dates(confirmed, self.cut_off, self.transit_days, cover)
        dispatch, arrival = dates if dates is not None else (None, None)
        return replace(self, dispatch=dispatch, arrival=arrival)


def option_of(method: ShippingMethod, weight_kg: Decimal) -> ShippingOption:
    """Return a method as an option for a parcel, without dates."""
    return ShippingOption(
        method.id, method.provider, method.description, method.cost(weight_kg), method.transit_days, method.cut_off
    )


def find_option(options: Sequence[ShippingOption], method_id: int | None) -> ShippingOption | None:
    """Return the option with a method's id, or None."""
    return next((option for option in options if option.id == method_id), None)


def named_option(options: Sequence[ShippingOption], method_id: int) -> ShippingOption:
    """Return the option with a requested id. Raises DomainError (invalid) when the order has no such option."""
    option = find_option(options, method_id)
    if option is None:
        listed = listed_methods(options) or "none fits; omit shipping_method, and support will set a delivery price"
        problem = f"{method_id} is not among the shipping options: {listed}"
        raise invalid("shipping_method.id", problem, Code.UNKNOWN_SHIPPING_METHOD)
    return option


def choose_shipping(options: Sequence[ShippingOption], named: int | None, default: int | None) -> ShippingOption | None:
    """Return the named option, else the default option, else None.

    Raises DomainError (invalid) when no option has the named id.
    """
    return find_option(options, default) if named is None else named_option(options, named)


def method_needed(options: Sequence[ShippingOption]) -> DomainError:
    """Return the error for an order without a shipping method and without a default among the options."""
    if options:
        why = "because the account has no default method that fits the order"
        problem = f"is required, {why}; choose from: {listed_methods(options)}"
        code = Code.SHIPPING_METHOD_REQUIRED
    else:
        problem = "no shipping method fits this order: ask support for a delivery price"
        code = Code.NO_SHIPPING_METHOD
    return DomainError(Kind.PRECONDITION_FAILED, f"shipping_method: {problem}", code=code)


def listed_methods(methods: Collection[ShippingMethod | ShippingOption]) -> str:
    """Return methods with their ids, for an error; empty without any."""
    return and_more([f"{method.id} ({method.provider}, {method.description})" for method in methods], _MOST_LISTED)
