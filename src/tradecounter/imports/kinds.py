"""Every kind of import file, by its name on the command line."""

from collections.abc import Mapping
from typing import Any

from tradecounter.bulk.kinds import ImportKind
from tradecounter.catalogue.importing import ATTRIBUTES, CATEGORIES, MANUFACTURERS, PRODUCTS
from tradecounter.customers.importing import CUSTOMERS
from tradecounter.pricing.importing import CONTRACT_PRICES, PRICE_LIST
from tradecounter.shipping.importing import SHIPPING_METHODS, SHIPPING_REGIONS
from tradecounter.stock.importing import INCOMING, STOCK, STOCK_ON_HAND

# In the order in which they need each other.
IMPORT_KINDS: Mapping[str, ImportKind[Any]] = {
    "categories": CATEGORIES,
    "manufacturers": MANUFACTURERS,
    "attributes": ATTRIBUTES,
    "products": PRODUCTS,
    "price-list": PRICE_LIST,
    "stock": STOCK,
    "incoming": INCOMING,
    "shipping-regions": SHIPPING_REGIONS,
    "shipping-methods": SHIPPING_METHODS,
    "customers": CUSTOMERS,
    "contract-prices": CONTRACT_PRICES,
}

# How a kind is imported when its file counts all that is in the warehouse, also what is allocated to orders.
ON_HAND: Mapping[str, ImportKind[Any]] = {"stock": STOCK_ON_HAND}
