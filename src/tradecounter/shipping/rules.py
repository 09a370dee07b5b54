"""The rules of shipping: fitting methods, costs, working days, dates (specification, shipping cost, shipping dates)."""

from collections.abc import Collection
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from tradecounter.kit.local_time import at_uk_time, uk_date, uk_time_of_day
from tradecounter.kit.money import rounded
from tradecounter.stock.rules import Cover

if TYPE_CHECKING:
    from holidays import HolidayBase

_DAYS_KEPT = 1_000  # each order asks for the same few days, and the calendar takes twenty calls for one


@cache
def _england() -> "HolidayBase":
    from holidays import country_holidays  # noqa: PLC0415 300 modules, with the calendars of all countries

    return country_holidays("GB", subdiv="ENG")


def load_calendar() -> None:
    """Load the calendar, which otherwise the first question about a working day waits for, a fifth of a second."""
    _england()


@lru_cache(maxsize=_DAYS_KEPT)
def is_working_day(day: date) -> bool:
    """Return whether the warehouse and the carriers work on a day."""
    return _england().is_working_day(day)


def next_working_day(day: date) -> date:
    """Return the first working day after a day."""
    return after_working_days(day, 1)


@lru_cache(maxsize=_DAYS_KEPT)
def after_working_days(day: date, count: int) -> date:
    """Return the day `count` working days after a day; 0 returns the day itself, even on a weekend."""
    return _england().get_nth_working_day(day, count) if count else day


ARRIVAL = time(17, 30)


class ShippingMethod(Struct, frozen=True):
    """A carrier's service to a region; costs are net pounds, `cut_off` is UK time."""

    id: int
    provider: str
    description: str
    region: int
    countries: frozenset[str]
    max_weight_kg: Decimal
    base_cost_net: Decimal
    cost_per_kg_net: Decimal
    transit_days: int
    cut_off: time

    def serves(self, region: int, country: str, weight_kg: Decimal) -> bool:
        """Return whether the method ships a parcel of this weight to a country of the region."""
        return self.region == region and country in self.countries and weight_kg <= self.max_weight_kg

    def cost(self, weight_kg: Decimal) -> Decimal:
        """Return the net cost of a parcel."""
        return rounded(self.base_cost_net + self.cost_per_kg_net * weight_kg)


class ShippingDates(NamedTuple):
    """When an order leaves, and when it arrives."""

    dispatch: datetime
    arrival: datetime


def fitting_methods(
    methods: Collection[ShippingMethod], region: int, country: str, weight_kg: Decimal
) -> list[ShippingMethod]:
    """Return the methods that ship a parcel, cheapest first."""
    fitting = [m for m in methods if m.serves(region, country, weight_kg)]
    return sorted(fitting, key=lambda m: (m.cost(weight_kg), m.id))


def shipping_dates(confirmed: datetime, cut_off: time, transit_days: int, cover: Cover) -> ShippingDates | None:
    """Return the shipping dates of an order confirmed at a moment; None if no known delivery covers the order.

    A back-order leaves on the first working day after its last delivery.
    """
    if not cover.known:
        return None
    day = uk_date(confirmed)
    if not is_working_day(day) or uk_time_of_day(confirmed) >= cut_off:
        day = next_working_day(day)
    if cover.last_delivery is not None:
        day = max(day, next_working_day(uk_date(cover.last_delivery)))
    arrival_day = after_working_days(day, transit_days)
    return ShippingDates(at_uk_time(day, cut_off), at_uk_time(arrival_day, ARRIVAL))
