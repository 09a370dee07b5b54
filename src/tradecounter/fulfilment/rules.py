"""The rules of dispatching: units and serial numbers (decisions: stock, status labels)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.ordering.lines import OrderLine, units_per_bundle, with_parts
from tradecounter.ordering.units import Purpose, item_field, named_units

_SEPARATORS = re.compile(r"[:.-]")
LEAVES = Purpose("dispatch", "leaves with its bundle", "left", lambda line: line.left)

LONGEST_TRACKING_NUMBER = 100
_TWELVE_DIGITS = re.compile(r"[0-9A-F]{12}")


@dataclass(frozen=True, slots=True)
class Serial:
    """A unit's item and serial number; unknown values are empty."""

    item_id: int
    serial_number: str
    mac_address: str = ""
    provisioning_sku: str = ""


def normalised_mac(text: str) -> str:
    """Return a MAC address in any notation as `AA:BB:CC:DD:EE:FF`. Raises DomainError (invalid)."""
    digits = _SEPARATORS.sub("", text).upper()
    if not _TWELVE_DIGITS.fullmatch(digits):
        raise invalid("serial", f"{text!r} is not a MAC address of 12 hexadecimal digits")
    return ":".join(digits[start : start + 2] for start in range(0, 12, 2))


def plan_dispatch(
    lines: Sequence[OrderLine], wanted: Sequence[tuple[int, int]] | None, *, only_allocated: bool = False
) -> dict[int, int]:
    """Return the units to dispatch by line id. `wanted` are pairs of item id and quantity; None: all remaining units.

    With `only_allocated`, None is for all that is allocated, and back-orders stay.
    Raises DomainError: conflict (nothing left, or back-ordered), invalid (unknown items, wrong quantities).
    """
    if all(line.left == 0 for line in lines):
        raise DomainError(Kind.CONFLICT, "nothing is left to dispatch")
    if wanted is None and only_allocated:
        units = {line.id: line.allocated for line in lines if line.allocated}
        if not units:
            raise DomainError(Kind.CONFLICT, "nothing can be dispatched now: all that is left is back-ordered")
        return units
    units = (
        {line.id: line.left for line in lines if line.left} if wanted is None else named_units(lines, wanted, LEAVES)
    )
    for line in lines:
        if units.get(line.id, 0) > line.allocated:
            raise DomainError(
                Kind.CONFLICT,
                f"item {line.id} ({line.sku}): {line.back_ordered} of {line.left} units left are back-ordered; "
                f"{_what_can_leave(lines)}",
            )
    return units


def _what_can_leave(lines: Sequence[OrderLine]) -> str:
    ready = " ".join(f"--item {line.id}={line.allocated}" for line in lines if line.allocated)
    return f"what can be dispatched now: {ready}" if ready else "nothing can be dispatched now"


def check_serials(lines: Sequence[OrderLine], units: Mapping[int, int], serials: Sequence[Serial]) -> None:
    """Raise DomainError (invalid) for repeated serial numbers, or for more of an item than its dispatched units."""
    leaving = dict(_leaving(lines, units))
    for item_id, count in Counter(serial.item_id for serial in serials).items():
        if item_id not in leaving:
            raise invalid(item_field(item_id), "has serial numbers, but is not in this shipment")
        if count > leaving[item_id]:
            raise invalid(item_field(item_id), f"has {count} serial numbers: send at most one for each dispatched unit")
    for (item_id, number), count in Counter((s.item_id, s.serial_number) for s in serials).items():
        if count > 1:
            raise invalid(item_field(item_id), f"has the serial number {number!r} {count} times")


def _leaving(lines: Sequence[OrderLine], units: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield item ids and dispatched units, including the components of bundles."""
    for line in lines:
        if line.id in units:
            yield line.id, units[line.id]
            for component in line.components:
                yield component.id, units_per_bundle(component, line) * units[line.id]


def shipped_items(
    lines: Sequence[OrderLine], units: Mapping[int, int], serial_numbers: Mapping[int, Sequence[str]]
) -> list[dict[str, Any]]:
    """Return the units of a shipment as events and the audit log show them; `serial_numbers` are by line id."""
    return [
        {
            "id": line.id,
            "sku": line.sku,
            "quantity": units[line.id],
            "serial_numbers": list(serial_numbers.get(line.id, ())),
        }
        for line in with_parts(lines)
        if units.get(line.id)
    ]
