"""All import kinds, by their names on the command line."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tradecounter.bulk.kinds import ImportKind
from tradecounter.customers.importing import CUSTOMERS
from tradecounter.prices.importing import CONTRACT_PRICES, PRICE_LIST
from tradecounter.products.importing import ATTRIBUTES, CATEGORIES, MANUFACTURERS, PRODUCTS, SYNONYMS
from tradecounter.shipping.importing import SHIPPING_METHODS, SHIPPING_REGIONS
from tradecounter.stock.importing import INCOMING, STOCK, STOCK_ON_HAND

# Each kind refers only to earlier kinds.
IMPORT_KINDS: Mapping[str, ImportKind[Any]] = {
    "categories": CATEGORIES,
    "manufacturers": MANUFACTURERS,
    "attributes": ATTRIBUTES,
    "products": PRODUCTS,
    "synonyms": SYNONYMS,
    "price-list": PRICE_LIST,
    "stock": STOCK,
    "incoming": INCOMING,
    "shipping-regions": SHIPPING_REGIONS,
    "shipping-methods": SHIPPING_METHODS,
    "customers": CUSTOMERS,
    "contract-prices": CONTRACT_PRICES,
}

# What a row of each kind is, and what people ask about it.
HINTS: Mapping[str, str] = {
    "categories": "A category a row. A category with a parent is shown below it.",
    "manufacturers": "A manufacturer a row. Products name its key.",
    "attributes": "A property of products a row, such as ports, with its type and its values.",
    "products": "A product a row. Columns that the file lacks stay as they are. Prices and stock are other files.",
    "synonyms": "A group of words a row that mean the same in searches.",
    "price-list": "The net prices of a product on a price list a row, for 1, 5 and 10 units. Customers without a list "
    "pay those of “default”.",
    "stock": "The units of a product a row: those that can be sold, unless you say that allocated ones are included.",
    "incoming": "A delivery that a supplier has announced a row: product, day and units.",
    "shipping-regions": "A region a row, with its countries or postcode areas.",
    "shipping-methods": "A service to a region a row, with its price, cut-off and transit days.",
    "customers": "A customer a row, known by its id or its external id.",
    "contract-prices": "A price agreed with one customer a row. Without days, it is valid always.",
}

# For files that count all units in the warehouse, including units allocated to orders.
ON_HAND: Mapping[str, ImportKind[Any]] = {"stock": STOCK_ON_HAND}


def fields_of_kind(kind: str) -> list[str]:
    """Return the names of a kind's fields in their order; empty for an unknown kind."""
    found = IMPORT_KINDS.get(kind)
    return [] if found is None else [field.encode_name for field in msgspec.structs.fields(found.shape)]
