"""Finds what people type or scan: for staff in everything, for a user in what is the customer's own."""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from decimal import Decimal
from typing import TypeVar
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.billing.queries.invoice_records import find_invoices
from tradecounter.credit_notes.queries import fetch_credit_note
from tradecounter.customers.queries.find_customers import find_customers
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.values import short_code
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.keys import key_form
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import UnreadableNumberError, read_pounds
from tradecounter.kit.text import fold, joined_word
from tradecounter.orders.queries.all_orders import OrderFilter, OrderRow, order_table
from tradecounter.orders.queries.find_orders import find_orders, find_own_orders
from tradecounter.products.find_products import Catalogue, most_relevant
from tradecounter.returns.handle_returns import fetch_return
from tradecounter.returns.wire import return_number
from tradecounter.shipments.queries.units import find_units
from tradecounter.storefront.find_in_view import ProductListParameters, find_products
from tradecounter.storefront.shown_product import ShownProduct, shown_products
from tradecounter.storefront.view import CustomerView

Record = TypeVar("Record")

MOST_OF_A_GROUP = 10
LONGEST = 200

_INVOICE_NUMBER = re.compile(r"(?:inv|invoice)?[\s#:-]*([1-9][0-9]{0,17})", re.IGNORECASE)
_CREDIT_NOTE_NUMBER = re.compile(r"(?:cn|credit[\s-]*note)?[\s#:-]*([1-9][0-9]{0,17})", re.IGNORECASE)
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
    match = _INVOICE_NUMBER.fullmatch(text)
    return None if match is None else int(match[1])


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
    wanted = joined_word(text)
    return bool(wanted) and any(wanted in joined_word(name) for name in (row.name, row.customer_reference))


def order_groups(rows: Iterable[OrderRow], root: str = "", *, sees_totals: bool = True) -> list[Group]:
    """Return the hits of orders and of quotes. Their pages are below `root`.

    Until it is confirmed, one is called by the customer's own reference: nobody knows its confirmation code.
    """
    orders: list[Hit] = []
    quotes: list[Hit] = []
    for row in rows:
        is_quote = row.kind == "quote" and row.status is None
        path = f"{root}/{'quote' if is_quote else 'order'}/{row.name}"
        code, theirs = short_code(row.name), row.customer_reference
        name, other = (code, theirs) if row.status or not theirs else (theirs, code)
        note = joined(row.customer, other, in_pounds(row.gross) if sees_totals else "")
        (quotes if is_quote else orders).append(Hit(name, note, path, exact=row.exact, state=row.label))
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
    match = _CREDIT_NOTE_NUMBER.fullmatch(text)
    note = None if match is None else await _if_found(fetch_credit_note(tx, int(match[1]), customer_id))
    if note is not None:
        of = f"Invoice {note.invoice} · {in_pounds(note.gross)}"
        hits.append(Hit(f"Credit note {note.number}", of, operation.format(number=note.number), exact=True))
    return Group("Credit notes", operation, hits)


async def _if_found(record: Awaitable[Record]) -> Record | None:
    """Return a record, or None if it is not found."""
    try:
        return await record
    except DomainError as error:
        if error.kind is not Kind.NOT_FOUND:
            raise
        return None


_ENDS_IN_DIGITS = re.compile(r"[0-9]{3}$")  # of an order, or the beginning of one; fewer digits begin too many


async def find_anything(tx: Transaction, text: str, allowed: Callable[[str], bool], memory: Catalogue) -> list[Group]:
    """Return what a text may mean, by kind; kinds without hits are left out.

    `allowed` tells which scopes the person has, `memory` has the catalogue. The number of statements does not
    depend on what there is.
    """
    groups: list[Group] = []
    named: list[int] = []  # orders with the text in a reference: finance looks for their invoices
    if allowed("orders:read"):
        sees_totals = allowed("prices:read")
        orders = await _orders(tx, text, sees_totals=sees_totals)
        groups += order_groups(orders, sees_totals=sees_totals)
        named = [row.id for row in orders if has_in_reference(row, text)]
        groups.append(await unit_group(tx, text, "/order/{reference}"))
        groups.append(await _returns(tx, text))
    if allowed("billing:read"):
        groups.append(await invoice_group(tx, text, "/invoice/{number}", orders=named))
        groups.append(await credit_note_group(tx, text, "/credit-note/{number}"))
    if allowed("customers:read"):
        groups.append(await _customers(tx, text))
    if allowed("catalogue:read"):
        groups.append(await _products(tx, text, memory))
    return [group for group in groups if group.hits]


async def _orders(tx: Transaction, text: str, *, sees_totals: bool) -> list[OrderRow]:
    matches = await find_orders(tx, text, typed_amount(text) if sees_totals else None, MOST_OF_A_GROUP)
    if not matches and _ENDS_IN_DIGITS.search(text):
        return await order_table(tx, OrderFilter(reference=text), "placed", MOST_OF_A_GROUP, descending=True)
    return matches


async def _returns(tx: Transaction, text: str) -> Group:
    hits = []
    found = await _if_found(fetch_return(tx, text))
    if found is not None:
        number = return_number(found.id)
        hits.append(
            Hit(number, f"Of order {found.order_reference}", f"/return/{number}", exact=True, state=found.state)
        )
    return Group("Returns", "/return/{number}", hits)


async def _customers(tx: Transaction, text: str) -> Group:
    customers = await find_customers(tx, text, MOST_OF_A_GROUP)
    hits = [Hit(c.name, f"Customer {c.id} · {c.email_address}", f"/customer/{c.id}", c.exact) for c in customers]
    return Group("Customers", "/customer/{id}", hits)


async def _products(tx: Transaction, text: str, memory: Catalogue) -> Group:
    products, note = await most_relevant(tx, memory, text, MOST_OF_A_GROUP)
    hits = []
    for product in products:
        exact = product.sku_key == fold(text) or product.ean == text
        named = joined(product.name, product.manufacturer)
        state = "" if product.active else "inactive"
        path = f"/product/{quote(product.sku, safe='')}"
        hits.append(Hit(product.sku, named, path, exact=exact, state=state))
    return Group("Products", "/product/{sku}", sorted(hits, key=lambda hit: not hit.exact), note)


OWN_PRODUCT = "/account/product/{sku}"
_OWN_ORDER = "/account/order/{reference}"
_OWN_INVOICE = "/account/invoice/{number}"
_OWN_CREDIT_NOTE = "/account/invoice/credit-note/{number}"


async def find_own(
    tx: Transaction, customer_id: int, view: CustomerView | None, text: str, may: Callable[[str], bool]
) -> list[Group]:
    """Return what a text may mean of the customer's own and in the catalogue, by kind.

    `may` tells which pages the user may open; without a `view`, no products are looked for. Kinds with something that
    the text names come first, and products before units, whose serial numbers may begin as a SKU does.
    """
    groups = []
    rows = await find_own_orders(tx, customer_id, text, typed_amount(text), MOST_OF_A_GROUP)
    if may(_OWN_ORDER):
        groups += order_groups((replace(row, exact=_is_named(row, text)) for row in rows), "/account")
    if may(_OWN_INVOICE):
        named = [row.id for row in rows if has_in_reference(row, text)]
        groups.append(await invoice_group(tx, text, _OWN_INVOICE, customer_id, named))
    if may(_OWN_CREDIT_NOTE):
        groups.append(await credit_note_group(tx, text, _OWN_CREDIT_NOTE, customer_id))
    if view is not None:
        groups.append(_own_products(view, text))
    if may(_OWN_ORDER):
        groups.append(await unit_group(tx, text, _OWN_ORDER, customer_id))
    return sorted(groups, key=lambda group: not any(hit.exact for hit in group.hits))


def _is_named(row: OrderRow, text: str) -> bool:
    return text.casefold() in {row.name.casefold(), row.customer_reference.casefold()}


def _own_products(view: CustomerView, text: str) -> Group:
    products = find_products(view, ProductListParameters(query=text))
    hits = [
        Hit(
            name=product.record.name,
            note=joined(product.record.sku, in_pounds(product.price)),
            path=f"/account/product/{quote(product.record.sku, safe='')}",
            exact=product.record.sku_key == key_form(text),
            state=product.stock,
            product=product,
        )
        for product in shown_products(view, products[:MOST_OF_A_GROUP].tolist())
    ]
    return Group(
        "Products",
        OWN_PRODUCT,
        hits,
        note=products.note,
        total=len(products),
        all_at=f"/account/product?query={quote(text, safe='')}",
    )
