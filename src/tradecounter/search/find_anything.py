"""Finds what people type or scan: orders, quotes, invoices, credit notes, returns, customers, products, units."""

import re
from collections.abc import Callable
from urllib.parse import quote

from tradecounter.customers.queries.find_customers import find_customers
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import fold
from tradecounter.orders.queries.all_orders import OrderFilter
from tradecounter.orders.queries.find_orders import find_orders
from tradecounter.orders.queries.order_table import OrderRow, order_table
from tradecounter.products.find_products import Catalogue, most_relevant
from tradecounter.returns.find_return import fetch_return
from tradecounter.returns.wire import RETURN_PREFIX
from tradecounter.search.hits import (
    MOST_OF_A_GROUP,
    Group,
    Hit,
    credit_note_group,
    has_in_reference,
    invoice_group,
    joined,
    order_groups,
    typed_amount,
    unit_group,
)

_NUMBER = re.compile(r"[0-9]{3}$")  # of an order, or the beginning of one; fewer digits begin too many


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
        named = [row.id for row, _ in orders if has_in_reference(row, text)]
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


async def _orders(tx: Transaction, text: str, *, sees_totals: bool) -> list[tuple[OrderRow, bool]]:
    found = await find_orders(tx, text, typed_amount(text) if sees_totals else None, MOST_OF_A_GROUP)
    if not found and _NUMBER.search(text):
        rows = await order_table(tx, OrderFilter(reference=text), "placed", MOST_OF_A_GROUP, descending=True)
        found = [(row, False) for row in rows]
    return found


async def _returns(tx: Transaction, text: str) -> Group:
    try:
        found = await fetch_return(tx, text)
    except DomainError as error:
        if error.kind is not Kind.NOT_FOUND:
            raise
        return Group("Returns", "/return/{number}", [])
    number = f"{RETURN_PREFIX}{found.id}"
    hit = Hit(number, f"Of order {found.order_reference}", f"/return/{number}", exact=True, state=found.state)
    return Group("Returns", "/return/{number}", [hit])


async def _customers(tx: Transaction, text: str) -> Group:
    found = await find_customers(tx, text, MOST_OF_A_GROUP)
    hits = [Hit(c.name, f"Customer {c.id} · {c.email_address}", f"/customer/{c.id}", c.exact) for c in found]
    return Group("Customers", "/customer/{id}", hits)


async def _products(tx: Transaction, text: str, memory: Catalogue) -> Group:
    found, note = await most_relevant(tx, memory, text, MOST_OF_A_GROUP)
    hits = []
    for product in found:
        exact = product.sku_key == fold(text) or product.ean == text
        named = joined(product.name, product.manufacturer)
        state = "" if product.active else "inactive"
        hits.append(Hit(product.sku, named, f"/product/{quote(product.sku, safe='')}", exact, state))
    return Group("Products", "/product/{sku}", sorted(hits, key=lambda hit: not hit.exact), note)
