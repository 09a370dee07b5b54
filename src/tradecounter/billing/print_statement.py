"""Prints a statement of an account as a PDF file, from the template `statement.typ`."""

from datetime import datetime
from typing import Any

from tradecounter.billing.account_statement import AccountStatement, Ageing, Entry
from tradecounter.kit.local_time import day_in_words, uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.letterhead.printing import Printer, print_with
from tradecounter.letterhead.seller import Letterhead

KINDS = {
    "invoice": "Invoice",
    "credit_note": "Credit note",
    "payment": "Payment",
    "refund": "Refund",
    "reversal": "Reversed payment",
}
AGES = {
    "not_due": "Not due yet",
    "days_1_30": "1 to 30 days",
    "days_31_60": "31 to 60 days",
    "days_61_90": "61 to 90 days",
    "over_90": "Over 90 days",
}


def print_statement(statement: AccountStatement, name: str, letterhead: Letterhead, now: datetime) -> bytes:
    """Return a statement as a PDF file; `name` is the customer's. May run in any thread."""
    return print_with(
        "tradecounter.billing",
        "statement",
        lambda printer: _printed(printer, statement, name, letterhead),
        now,
        letterhead.logo,
    )


def _printed(printer: Printer, statement: AccountStatement, name: str, letterhead: Letterhead) -> dict[str, Any]:
    return {
        "seller": printer.seller(letterhead.seller),
        "customer": {"name": printer.shown(name), "id": str(statement.customer_id)},
        "since": day_in_words(statement.since),
        "until": day_in_words(statement.until),
        "opening": in_pounds(statement.opening_balance),
        "closing": in_pounds(statement.closing_balance),
        "entries": [_entry(printer, entry) for entry in statement.entries],
        "ageing": _ageing(statement.ageing),
        "unallocated": in_pounds(statement.unallocated) if statement.unallocated else None,
        "unshown": printer.named(),
    }


def _entry(printer: Printer, entry: Entry) -> list[str]:
    return [
        day_in_words(uk_date(entry.at)),
        f"{KINDS[entry.kind]} {entry.number}",
        printer.shown(entry.description),
        in_pounds(entry.debit) if entry.debit else "",
        in_pounds(entry.credit) if entry.credit else "",
        in_pounds(entry.balance),
    ]


def _ageing(ageing: Ageing) -> list[list[str]]:
    return [[words, in_pounds(getattr(ageing, name))] for name, words in AGES.items()]
