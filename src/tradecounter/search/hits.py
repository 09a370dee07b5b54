"""What searches find, and how people write what they look for."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.queries.credit_notes import fetch_credit_note
from tradecounter.billing.queries.invoice_records import find_invoices
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.values import short_code
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import UnreadableNumberError, read_pounds
from tradecounter.kit.text import fold
from tradecounter.orders.queries.order_table import OrderRow
from tradecounter.shipments.queries.units import find_units
from tradecounter.storefront.shown_product import ShownProduct

MOST_OF_A_GROUP = 10
LONGEST = 200

_INVOICE = re.compile(r"(?:inv|invoice)?[\s#:-]*([1-9][0-9]{0,17})", re.IGNORECASE)
_CREDIT_NOTE = re.compile(r"(?:cn|credit[\s-]*note)?[\s#:-]*([1-9][0-9]{0,17})", re.IGNORECASE)
_AMOUNT = re.compile(r"£? ?[0-9][0-9,]*\.[0-9]{2}")


class Hit(Struct, frozen=True):
    """Something that was found.

    `exact` means that the text names it, and is not only a part of its name. What `follows` from another hit, as an
    invoice does from its order, does not count beside it. A `product` has its picture and its price beside it.
    """

    name: str
    note: str
    path: str
    exact: bool
    state: str = ""
    product: ShownProduct | None = None
    follows: bool = False


class Group(Struct, frozen=True):
    """The first of `total` hits of one kind.

    `operation` is the path of the page that shows one; `note` says how the text was read.
    """

    title: str
    operation: str
    hits: list[Hit]
    note: str = ""
    total: int = 0
    all_at: str = ""  # the path of the page that shows all of them, if there is one


def joined(*parts: str) -> str:
    """Return the parts of a note that are not empty."""
    return " · ".join(part for part in parts if part)


def invoice_number(text: str) -> int | None:
    """Return the number of the invoice that a text names, or None."""
    named = _INVOICE.fullmatch(text)
    return None if named is None else int(named[1])


def typed_amount(text: str) -> Decimal | None:
    """Return the amount of pounds and pence that a text is, or None."""
    if not _AMOUNT.fullmatch(text):
        return None
    try:
        return read_pounds(text.lstrip("£ "))
    except UnreadableNumberError:
        return None


def has_in_reference(row: OrderRow, text: str) -> bool:
    """Return whether an order's reference or the customer's own has a text in it, whatever the punctuation."""
    wanted = _letters(text)
    return bool(wanted) and any(wanted in _letters(name) for name in (row.name, row.customer_reference))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text)))


def order_groups(found: Iterable[tuple[OrderRow, bool]], root: str = "", *, sees_totals: bool = True) -> list[Group]:
    """Return the hits of orders and of quotes, each with whether it is exact. Their pages are below `root`.

    Until it is confirmed, one is called by the customer's own reference: nobody knows its confirmation code.
    """
    orders: list[Hit] = []
    quotes: list[Hit] = []
    for row, exact in found:
        is_quote = row.kind == "quote" and row.status is None
        path = f"{root}/{'quote' if is_quote else 'order'}/{row.name}"
        code, theirs = short_code(row.name), row.customer_reference
        name, other = (code, theirs) if row.status or not theirs else (theirs, code)
        note = joined(row.customer, other, in_pounds(row.gross) if sees_totals else "")
        (quotes if is_quote else orders).append(Hit(name, note, path, exact, row.label))
    return [Group("Orders", f"{root}/order/{{reference}}", orders), Group("Quotes", f"{root}/quote/{{code}}", quotes)]


async def unit_group(tx: Transaction, text: str, operation: str, customer_id: int | None = None) -> Group:
    """Return the dispatched units that `find_units` finds; of one customer, if one is given.

    `operation` is the path of the page of an order.
    """
    hits = [
        Hit(
            joined(unit.serial_number, unit.mac_address),
            joined(unit.sku, unit.order_reference, "" if customer_id else unit.customer),
            operation.format(reference=unit.order_reference),
            unit.exact,
        )
        for unit in await find_units(tx, text, MOST_OF_A_GROUP, customer_id)
    ]
    return Group("Serial numbers", operation, hits)


async def invoice_group(
    tx: Transaction, text: str, operation: str, customer_id: int | None = None, orders: Sequence[int] | None = None
) -> Group:
    """Return the invoices whose number or total a text is, and those of `orders`, which are internal ids.

    `operation` is the path of the page of one.
    """
    number = invoice_number(text)
    amount = typed_amount(text)
    if number is None and amount is None and orders is None:
        return Group("Invoices", operation, [])
    hits = [
        Hit(
            f"Invoice {found.number}",
            joined(
                f"Order {found.order_reference}",
                found.customer_reference,
                in_pounds(found.gross),
                f"{in_pounds(found.due)} due",
            ),
            operation.format(number=found.number),
            exact=found.number == number,
            follows=found.number != number and found.gross != amount,
        )
        for found in await find_invoices(tx, number, amount, orders or (), MOST_OF_A_GROUP, customer_id)
    ]
    return Group("Invoices", operation, hits)


async def credit_note_group(tx: Transaction, text: str, operation: str, customer_id: int | None = None) -> Group:
    """Return the credit note that a text names; of one customer, if one is given."""
    hits = []
    if named := _CREDIT_NOTE.fullmatch(text):
        try:
            found = await fetch_credit_note(tx, int(named[1]), customer_id)
        except DomainError as error:
            if error.kind is not Kind.NOT_FOUND:
                raise
        else:
            note = f"Invoice {found.invoice} · {in_pounds(found.gross)}"
            hits.append(Hit(f"Credit note {found.number}", note, operation.format(number=found.number), exact=True))
    return Group("Credit notes", operation, hits)
