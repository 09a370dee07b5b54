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

# For files that count all units in the warehouse, including units allocated to orders.
ON_HAND: Mapping[str, ImportKind[Any]] = {"stock": STOCK_ON_HAND}


def fields_of_kind(kind: str) -> list[str]:
    """Return the names of a kind's fields in their order; empty for an unknown kind."""
    found = IMPORT_KINDS.get(kind)
    return [] if found is None else [field.encode_name for field in msgspec.structs.fields(found.shape)]
