"""The rules of dispatching: units and serial numbers (specification, stock, status labels)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.orders.lines import NamedUnits, OrderLine, Purpose, flat_lines, flat_units, named_units
from tradecounter.shipments.wire import Serial

_SEPARATORS = re.compile(r"[:.-]")
LEAVES = Purpose(verb="dispatch", most=lambda line: line.undispatched)

LONGEST_TRACKING_NUMBER = LONGEST_CARRIER = 100
_TWELVE_DIGITS = re.compile(r"[0-9A-F]{12}")


def normalised_mac(field: str, text: str) -> str:
    """Return a MAC address in any notation as `AA:BB:CC:DD:EE:FF`. Raises DomainError (invalid)."""
    digits = _SEPARATORS.sub("", text).upper()
    if not _TWELVE_DIGITS.fullmatch(digits):
        raise invalid(field, f"{text!r} is not a MAC address of 12 hexadecimal digits")
    return ":".join(digits[start : start + 2] for start in range(0, 12, 2))


def plan_dispatch(
    lines: Sequence[OrderLine], wanted: Sequence[NamedUnits] | None, *, only_allocated: bool = False
) -> dict[int, int]:
    """Return the units to dispatch by line id: those that are wanted, or without them all remaining units.

    With `only_allocated`, None is for all that is allocated, and back-orders stay.
    Raises DomainError: conflict (nothing left, or back-ordered), invalid (unknown items, wrong quantities).
    """
    if all(line.undispatched == 0 for line in lines):
        raise DomainError(Kind.CONFLICT, "nothing is left to dispatch")
    if wanted is None and only_allocated:
        units = {line.id: line.allocated for line in lines if line.allocated}
        if not units:
            raise DomainError(Kind.CONFLICT, "nothing can be dispatched now: all that is left is back-ordered")
        return units
    units = (
        {line.id: line.undispatched for line in lines if line.undispatched}
        if wanted is None
        else named_units(lines, wanted, LEAVES)
    )
    for line in lines:
        if units.get(line.id, 0) > line.allocated:
            raise DomainError(
                Kind.CONFLICT,
                f"{line.sku}: {line.back_ordered} of {line.undispatched} units left are back-ordered; "
                f"{_what_can_leave(lines)}",
            )
    return units


def _what_can_leave(lines: Sequence[OrderLine]) -> str:
    ready = ", ".join(f"{line.allocated} of {line.sku}" for line in lines if line.allocated)
    return f"what can be dispatched now: {ready}" if ready else "nothing can be dispatched now"


def check_serials(
    lines: Sequence[OrderLine], units: Mapping[int, int], serials: Sequence[Serial], eans: Mapping[int, str | None]
) -> None:
    """Raise DomainError (invalid) for repeated serial numbers, or for more of an item than its dispatched units.

    A product's SKU, or its EAN in `eans` by product id, is no serial number: a scanner reads it off each unit's box.
    """
    leaving = dict(flat_units(lines, units))
    product_of = {line.id: line for line in flat_lines(lines)}
    count: Counter[int] = Counter()
    seen: set[tuple[int, str]] = set()
    for serial in serials:
        count[serial.item_id] += 1
        line = product_of.get(serial.item_id)
        if line is None or serial.item_id not in leaving:
            name = f"item {serial.item_id}" if line is None else line.sku
            raise invalid(serial.place, f"{name} is not in this shipment")
        if count[serial.item_id] > leaving[serial.item_id]:
            total = sum(each.item_id == serial.item_id for each in serials)
            problem = f"there are {total} serial numbers for {leaving[serial.item_id]} units: name at most one for each"
            raise invalid(serial.place, problem)
        for kind, code in (("SKU", line.sku), ("EAN", eans.get(line.product_id))):
            if code and serial.serial_number.lower() == code.lower():
                raise invalid(serial.place, f"{code} is the {kind} of the product, not the serial number of a unit")
        if (serial.item_id, serial.serial_number) in seen:
            raise invalid(serial.place, f"{serial.serial_number!r} is there twice for {line.sku}")
        seen.add((serial.item_id, serial.serial_number))
