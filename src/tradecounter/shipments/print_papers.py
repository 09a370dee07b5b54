"""Prints picking lists and packing slips as PDF files, from `picking_list.typ` and `packing_slip.typ`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from tradecounter.kit.clock import UK, day_in_words, uk_date
from tradecounter.letterhead.printing import Printer, print_with
from tradecounter.letterhead.seller import Letterhead
from tradecounter.shipments.bar_code import bar_widths
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
            ["Customer reference", printer.shown(document.customer_reference)],
            ["Confirmed", _moment(document.confirmed_at)],
            ["Printed", _moment(document.printed_at)],
        ],
        "packing": _PACKING[document.packing],
        "notes": [printer.shown(note) for note in document.notes],
        "units": f"{sum(line.quantity for line in document.lines):,}",
        "unshown": printer.named(),
    }


def _packing_slip(printer: Printer, document: PackingSlip) -> dict[str, Any]:
    tracking = [] if document.tracking_number is None else [["Tracking", printer.shown(document.tracking_number)]]
    return {
        **_common(printer, document),
        "facts": [
            ["Order", printer.shown(document.order_reference)],
            ["Your reference", printer.shown(document.customer_reference)],
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
            "sku": printer.shown(line.sku),
            "name": printer.shown(line.name),
            "quantity": f"{line.quantity:,}",
            "place": printer.shown(line.location),
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
