"""Finds what a customer's user types: the customer's orders, quotes, invoices and credit notes, and products."""

from collections.abc import Callable
from urllib.parse import quote

from tradecounter.db.transaction import Transaction
from tradecounter.kit.keys import key_form
from tradecounter.kit.money import from_pence, in_pounds
from tradecounter.orders.queries.find_orders import find_own_orders
from tradecounter.orders.queries.order_table import OrderRow
from tradecounter.search.hits import MOST_OF_A_GROUP, Group, Hit, invoice_group, joined, order_groups, typed_amount
from tradecounter.storefront.parameters import ProductListParameters
from tradecounter.storefront.query import find_products
from tradecounter.storefront.view import CustomerView

_ORDER, _INVOICE = "/account/order/{reference}", "/account/invoice/{number}/pdf"


async def find_own(tx: Transaction, customer_id: int, text: str, may: Callable[[str], bool]) -> list[Group]:
    """Return what a text may mean of the customer's own, by kind. `may` tells which pages the user may open."""
    groups = []
    if may(_ORDER):
        rows = await find_own_orders(tx, customer_id, text, typed_amount(text), MOST_OF_A_GROUP)
        groups += order_groups(((row, _is_named(row, text)) for row in rows), "/account")
    if may(_INVOICE):
        groups.append(await invoice_group(tx, text, _INVOICE, customer_id))
    return groups


def _is_named(row: OrderRow, text: str) -> bool:
    return text.casefold() in {row.name.casefold(), row.customer_reference.casefold()}


def find_products_for(view: CustomerView, text: str) -> Group:
    """Return the products that a text finds, with the customer's prices; their links begin an order."""
    found = find_products(view, ProductListParameters(query=text))
    hits = []
    for row in found[:MOST_OF_A_GROUP].tolist():
        product, costs = view.product(row), view.unit_costs(row)
        if costs is None:
            continue
        note = joined(product.name, in_pounds(from_pence(costs[0])), view.stock_status(row))
        path = f"/account/new-order?add={quote(product.sku, safe='')}"
        hits.append(Hit(product.sku, note, path, exact=product.sku_key == key_form(text)))
    return Group("Products", "/account/new-order", hits, found.note)
