"""Shipping regions, and the region of an address (specification, shipping regions)."""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from tradecounter.shipping.rules import ShippingMethod

UK_MAINLAND = 1

# Countries with British postcodes.
_BRITISH = {"GB", "IM", "JE", "GG"}

_PIECE = re.compile(r"[A-Z0-9]+")
_UNIT = re.compile(r"(?P<area>[A-Z]{1,2})(?P<number>[0-9]{1,2})(?P<letter>[A-Z]?)[0-9][A-Z]{2}")
_OUTWARD = re.compile(r"(?P<area>[A-Z]{1,2})(?P<number>[0-9]{1,2})(?P<letter>[A-Z]?)")


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
            for part in _parts(postcode):
                if part in self._of_postcode:
                    return self._of_postcode[part]
        return self._of_country.get(country)


def _parts(postcode: str) -> Iterator[str]:
    """Yield the districts and the area of a British postcode, smallest first: `EC1A`, `EC1`, `EC` for `EC1A 1BB`."""
    pieces = _PIECE.findall(postcode.upper())
    found = _UNIT.fullmatch("".join(pieces)) or _OUTWARD.fullmatch(pieces[0] if pieces else "")
    if found is not None:
        district = found["area"] + found["number"]
        yield district + found["letter"]
        yield district
        yield found["area"]
