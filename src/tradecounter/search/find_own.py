"""Finds what a customer's user types: the customer's orders, quotes, invoices and credit notes, and products."""

from collections.abc import Callable
from urllib.parse import quote

from tradecounter.billing.queries.invoice_records import find_invoices
from tradecounter.db.transaction import Transaction
from tradecounter.kit.keys import key_form
from tradecounter.kit.money import from_pence, in_pounds
from tradecounter.orders.queries.find_orders import find_own_orders
from tradecounter.search.hits import (
    MOST_OF_A_GROUP,
    Group,
    Hit,
    invoice_number,
    joined,
    order_name,
    total,
    typed_amount,
)
from tradecounter.stock.rules import status
from tradecounter.storefront.parameters import ProductListParameters
from tradecounter.storefront.query import find_products
from tradecounter.storefront.view import CustomerView

_ORDER, _QUOTE, _INVOICE = "/account/order/{reference}", "/account/quote/{code}", "/account/invoice/{number}/pdf"


async def find_own(tx: Transaction, customer_id: int, text: str, may: Callable[[str], bool]) -> list[Group]:
    """Return what a text may mean of the customer's own, by kind. `may` tells which pages the user may open."""
    groups = []
    if may(_ORDER):
        groups += await _orders(tx, customer_id, text)
    number, amount = invoice_number(text), typed_amount(text)
    if may(_INVOICE) and (number is not None or amount is not None):
        found = await find_invoices(tx, number, amount, MOST_OF_A_GROUP, customer_id)
        hits = [
            Hit(
                f"Invoice {invoice.number}",
                f"Order {invoice.order_reference} · {in_pounds(invoice.gross)} · {in_pounds(invoice.due)} due",
                f"/account/invoice/{invoice.number}/pdf",
                exact=invoice.number == number,
            )
            for invoice in found
        ]
        groups.append(Group("Invoices", _INVOICE, hits))
    return groups


async def _orders(tx: Transaction, customer_id: int, text: str) -> list[Group]:
    orders: list[Hit] = []
    quotes: list[Hit] = []
    for row in await find_own_orders(tx, customer_id, text, typed_amount(text), MOST_OF_A_GROUP):
        is_quote = row.kind == "quote" and row.status is None
        path = f"/account/{'quote' if is_quote else 'order'}/{row.name}"
        exact = text.casefold() in {row.name.casefold(), row.customer_reference.casefold()}
        note = joined(row.customer_reference, total(row))
        (quotes if is_quote else orders).append(Hit(order_name(row), note, path, exact, row.label))
    return [Group("Orders", _ORDER, orders), Group("Quotes", _QUOTE, quotes)]


def find_products_for(view: CustomerView, text: str) -> Group:
    """Return the products that a text finds, with the customer's prices; their links begin an order."""
    found = find_products(view, ProductListParameters(query=text))
    hits = []
    for row in found[:MOST_OF_A_GROUP].tolist():
        product, costs = view.product(row), view.unit_costs(row)
        if costs is None:
            continue
        due = bool(view.shown_deliveries.get(row))
        stock = status(view.available(row), view.low_stock, delivery_shown=due)
        note = joined(product.name, in_pounds(from_pence(costs[0])), stock)
        path = f"/account/new-order?add={quote(product.sku, safe='')}"
        hits.append(Hit(product.sku, note, path, exact=product.sku_key == key_form(text)))
    return Group("Products", "/account/new-order", hits, found.note)
