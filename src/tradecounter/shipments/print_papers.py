"""Prints picking lists and packing slips as PDF files, from `picking_list.typ` and `packing_slip.typ`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from tradecounter.kit.clock import UK, day_in_words, uk_date
from tradecounter.letterhead.printing import Printer, print_with
from tradecounter.letterhead.seller import Letterhead
from tradecounter.shipments.papers import PackingSlip, Paper, PaperLine, PickingList

_PACKAGE: Final = "tradecounter.shipments"
_PACKING: Final = {"own": "our own packing", "plain": "plain packing, without our name on it"}


def print_picking_list(document: PickingList) -> bytes:
    """Return a picking list as a PDF file. May run in any thread."""
    return print_with(_PACKAGE, "picking_list", lambda p: _picking_list(p, document), document.printed_at, None)


def print_packing_slip(document: PackingSlip, letterhead: Letterhead) -> bytes:
    """Return a packing slip as a PDF file, without the seller's name for plain packing. May run in any thread."""
    plain = document.packing == "plain"
    return print_with(
        _PACKAGE,
        "packing_slip",
        lambda p: {
            **_packing_slip(p, document),
            "seller": None if plain else p.seller(letterhead.seller),
            "mark": letterhead.seller.mark,
        },
        document.dispatched_at,
        None if plain else letterhead.logo,
    )


def _picking_list(printer: Printer, document: PickingList) -> dict[str, Any]:
    return {
        **_common(printer, document),
        "facts": [
            ["Customer", f"{printer.shown(document.customer)} ({document.customer_id})"],
            ["Customer reference", printer.code(document.customer_reference)],
            ["Confirmed", _moment(document.confirmed_at)],
            ["Printed", _moment(document.printed_at)],
        ],
        "packing": _PACKING[document.packing],
        "notes": [printer.shown(note) for note in document.notes],
        "units": f"{sum(line.quantity for line in document.lines):,}",
        "unshown": printer.named(),
    }


def _packing_slip(printer: Printer, document: PackingSlip) -> dict[str, Any]:
    tracking = [] if document.tracking_number is None else [["Tracking", printer.code(document.tracking_number)]]
    return {
        **_common(printer, document),
        "facts": [
            ["Order", printer.code(document.order_reference)],
            ["Your reference", printer.code(document.customer_reference)],
            ["Shipment", str(document.shipment_id)],
            ["Dispatched", day_in_words(uk_date(document.dispatched_at))],
            ["Shipping", printer.shown(document.shipping)],
            *tracking,
        ],
        "unshown": printer.named(),
    }


def _common(printer: Printer, document: Paper) -> dict[str, Any]:
    return {
        "reference": printer.shown(document.order_reference),
        "bars": bar_widths(document.order_reference),
        "delivery": printer.party(document.delivery),
        "contact_number": printer.shown(document.contact_number or ""),
        "shipping": printer.shown(document.shipping),
        "lines": _lines(printer, document.lines),
        "follow": _lines(printer, document.follow),
    }


def _lines(printer: Printer, lines: Sequence[PaperLine]) -> list[dict[str, Any]]:
    return [
        {
            "sku": printer.code(line.sku),
            "name": printer.shown(line.name),
            "quantity": f"{line.quantity:,}",
            "place": printer.code(line.location),
            "serial_numbers": [printer.shown(number) for number in line.serial_numbers],
            "parts": [
                {
                    "text": printer.shown(f"{part.quantity:,} of {part.sku} {part.name}"),
                    "place": printer.shown(part.location),
                    "serial_numbers": [printer.shown(number) for number in part.serial_numbers],
                }
                for part in line.parts
            ],
        }
        for line in lines
    ]


def _moment(moment: datetime) -> str:
    return f"{day_in_words(uk_date(moment))}, {moment.astimezone(UK):%H:%M}"


_FIRST, _LAST = " ", "~"  # of code set B: values 0 to 94
_START_B, _STOP = 104, 106
_MODULUS = 103

# The widths of bar, space, bar, space, bar, space in modules, by value; the stop pattern ends with another bar.
_WIDTHS = (
    "212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 "
    "123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 "
    "232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 "
    "313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 "
    "111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 "
    "111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 "
    "114311 411113 411311 113141 114131 311141 411131 211412 211214 211232 2331112"
)
_PATTERNS = _WIDTHS.split()


def bar_widths(text: str) -> list[int] | None:
    """Return the widths of the bars and the spaces between them, in modules, beginning with a bar.

    Returns None for text that has other characters than printable ASCII.
    """
    if not text or not all(_FIRST <= character <= _LAST for character in text):
        return None
    values = [ord(character) - ord(_FIRST) for character in text]
    check = (_START_B + sum(place * value for place, value in enumerate(values, start=1))) % _MODULUS
    return [int(width) for value in (_START_B, *values, check, _STOP) for width in _PATTERNS[value]]
