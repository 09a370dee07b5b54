"""Finds what a customer's user types: the customer's orders, quotes, units, invoices and credit notes, and products."""

from collections.abc import Callable
from urllib.parse import quote

from tradecounter.db.transaction import Transaction
from tradecounter.kit.keys import key_form
from tradecounter.kit.money import in_pounds
from tradecounter.orders.queries.find_orders import find_own_orders
from tradecounter.orders.queries.order_table import OrderRow
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
from tradecounter.storefront.find_in_view import find_products
from tradecounter.storefront.parameters import ProductListParameters
from tradecounter.storefront.shown_product import shown_products
from tradecounter.storefront.view import CustomerView

PRODUCT = "/account/product/{sku}"
_ORDER = "/account/order/{reference}"
_INVOICE = "/account/invoice/{number}"
_CREDIT_NOTE = "/account/invoice/credit-note/{number}"


async def find_own(
    tx: Transaction, customer_id: int, view: CustomerView | None, text: str, may: Callable[[str], bool]
) -> list[Group]:
    """Return what a text may mean of the customer's own and in the catalogue, by kind.

    `may` tells which pages the user may open; without a `view`, no products are looked for. Kinds with something that
    the text names come first, and products before units, whose serial numbers may begin as a SKU does.
    """
    groups = []
    rows = await find_own_orders(tx, customer_id, text, typed_amount(text), MOST_OF_A_GROUP)
    if may(_ORDER):
        groups += order_groups(((row, _is_named(row, text)) for row in rows), "/account")
    if may(_INVOICE):
        named = [row.id for row in rows if has_in_reference(row, text)]
        groups.append(await invoice_group(tx, text, _INVOICE, customer_id, named))
    if may(_CREDIT_NOTE):
        groups.append(await credit_note_group(tx, text, _CREDIT_NOTE, customer_id))
    if view is not None:
        groups.append(_products(view, text))
    if may(_ORDER):
        groups.append(await unit_group(tx, text, _ORDER, customer_id))
    return sorted(groups, key=lambda group: not any(hit.exact for hit in group.hits))


def _is_named(row: OrderRow, text: str) -> bool:
    return text.casefold() in {row.name.casefold(), row.customer_reference.casefold()}


def _products(view: CustomerView, text: str) -> Group:
    found = find_products(view, ProductListParameters(query=text))
    hits = [
        Hit(
            name=product.record.name,
            note=joined(product.record.sku, in_pounds(product.price)),
            path=f"/account/product/{quote(product.record.sku, safe='')}",
            exact=product.record.sku_key == key_form(text),
            state=product.stock,
            product=product,
        )
        for product in shown_products(view, found[:MOST_OF_A_GROUP].tolist())
    ]
    return Group(
        "Products",
        PRODUCT,
        hits,
        found.note,
        len(found),
        f"/account/product?query={quote(text, safe='')}",
    )
