"""Every kind of import file, by its name on the command line."""

from collections.abc import Mapping
from typing import Any

from tradecounter.catalogue.importing import ATTRIBUTES, CATEGORIES, MANUFACTURERS, PRODUCTS
from tradecounter.customers.importing import CUSTOMERS
from tradecounter.db.importing import ImportKind
from tradecounter.pricing.importing import CONTRACT_PRICES, PRICE_LIST
from tradecounter.shipping.importing import SHIPPING_METHODS
from tradecounter.stock.importing import INCOMING, STOCK

IMPORT_KINDS: Mapping[str, ImportKind[Any]] = {
    "categories": CATEGORIES,
    "manufacturers": MANUFACTURERS,
    "attributes": ATTRIBUTES,
    "products": PRODUCTS,
    "stock": STOCK,
    "incoming": INCOMING,
    "price-list": PRICE_LIST,
    "contract-prices": CONTRACT_PRICES,
    "shipping-methods": SHIPPING_METHODS,
    "customers": CUSTOMERS,
}
