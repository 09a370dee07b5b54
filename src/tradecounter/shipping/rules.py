"""The rules of shipping: fitting methods, costs, working days, dates, regions of addresses, links to tracking pages."""

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from msgspec import Struct

from tradecounter.kit.clock import at_uk_time, uk_date, uk_time_of_day
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


UK_MAINLAND = 1

# Countries with British postcodes.
_BRITISH = {"GB", "IM", "JE", "GG"}

_POSTCODE_PIECE = re.compile(r"[A-Z0-9]+")
_WHOLE_POSTCODE = re.compile(r"(?P<area>[A-Z]{1,2})(?P<number>[0-9]{1,2})(?P<letter>[A-Z]?)[0-9][A-Z]{2}")
_OUTWARD_CODE = re.compile(r"(?P<area>[A-Z]{1,2})(?P<number>[0-9]{1,2})(?P<letter>[A-Z]?)")


class Region(Struct, frozen=True):
    """A region; `postcodes` are areas such as `BT` and districts such as `KW15`.

    A region that only shipping methods name, and no import, has only an id.
    """

    id: int
    name: str = ""
    countries: frozenset[str] = frozenset()
    postcodes: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.id} ({self.name})" if self.name else str(self.id)


class Regions:
    """All regions: the imported regions, and regions that only methods name."""

    def __init__(self, imported: Iterable[Region], methods: Iterable[ShippingMethod]) -> None:
        methods = list(methods)
        regions = {method.region: Region(method.region) for method in methods} | {r.id: r for r in imported}
        self._regions = [regions[number] for number in sorted(regions)]
        self._of_postcode: dict[str, int] = {}
        self._of_country: dict[str, int] = {}
        for region in self._regions:
            for postcode in region.postcodes:
                self._of_postcode.setdefault(postcode, region.id)
            for country in region.countries:
                self._of_country.setdefault(country, region.id)
        # A country without a region belongs to the lowest region with methods to it; GB is the mainland.
        self._of_country.setdefault("GB", UK_MAINLAND)
        for number, country in sorted((m.region, country) for m in methods for country in m.countries):
            self._of_country.setdefault(country, number)

    def __str__(self) -> str:
        return ", ".join(map(str, self._regions)) or "not imported yet"

    def get(self, number: int) -> Region | None:
        """Return a region, or None."""
        return next((region for region in self._regions if region.id == number), None)

    def of_address(self, country: str, postcode: str) -> int | None:
        """Return the id of an address's region, or None. Districts take precedence over areas, areas over countries."""
        if country in _BRITISH:
            for part in _postcode_areas(postcode):
                if part in self._of_postcode:
                    return self._of_postcode[part]
        return self._of_country.get(country)


def _postcode_areas(postcode: str) -> Iterator[str]:
    """Yield the districts and the area of a British postcode, smallest first: `EC1A`, `EC1`, `EC` for `EC1A 1BB`."""
    pieces = _POSTCODE_PIECE.findall(postcode.upper())
    match = _WHOLE_POSTCODE.fullmatch("".join(pieces)) or _OUTWARD_CODE.fullmatch(pieces[0] if pieces else "")
    if match is not None:
        district = match["area"] + match["number"]
        yield district + match["letter"]
        yield district
        yield match["area"]


_NUMBER_PLACE = "{tracking_number}"
# Excludes strings that a browser could read as another scheme or host, and characters that end a link in e-mails.
_TRACKING_PATTERN = re.compile(r"https?://[A-Za-z0-9._-]+(:[0-9]{1,5})?[/?#][^\s\"'<>\\`]*")


def is_tracking_pattern(text: str) -> bool:
    """Return whether a string is an http or https URL with `{tracking_number}` after its host."""
    return _NUMBER_PLACE in text and _TRACKING_PATTERN.fullmatch(text) is not None


def tracking_link(pattern: str | None, tracking_number: str | None) -> str | None:
    """Return the URL of a parcel's tracking page; the number is percent-encoded. None without a pattern or a number."""
    if not pattern or not tracking_number:
        return None
    return pattern.replace(_NUMBER_PLACE, quote(tracking_number.strip(), safe=""))
