"""All kinds of imports by their names on the command line, and who may import them or read their history."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import structs

from tradecounter.bulk.kinds import ImportKind
from tradecounter.customers.importing import CUSTOMERS
from tradecounter.edge.permissions import Role, allows, has_one_of
from tradecounter.kit.errors import not_found
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.serve_back_orders import allocate_back_orders
from tradecounter.prices.importing import CONTRACT_PRICES, PRICE_LIST
from tradecounter.products.importing import ATTRIBUTES, CATEGORIES, MANUFACTURERS, PRODUCTS, SYNONYMS
from tradecounter.shipping.importing import SHIPPING_METHODS, SHIPPING_REGIONS
from tradecounter.stock.importing import INCOMING, STOCK, STOCK_ON_HAND


def _serving_back_orders(kind: ImportKind[Any]) -> ImportKind[Any]:
    return structs.replace(kind, before_merge=lock_waiting_orders, after_merge=allocate_back_orders)


# Each kind refers only to earlier kinds.
IMPORT_KINDS: Mapping[str, ImportKind[Any]] = {
    "categories": CATEGORIES,
    "manufacturers": MANUFACTURERS,
    "attributes": ATTRIBUTES,
    "products": PRODUCTS,
    "synonyms": SYNONYMS,
    "price-list": PRICE_LIST,
    "stock": _serving_back_orders(STOCK),
    "incoming": INCOMING,
    "shipping-regions": SHIPPING_REGIONS,
    "shipping-methods": SHIPPING_METHODS,
    "customers": CUSTOMERS,
    "contract-prices": CONTRACT_PRICES,
}

# For files that count all units in the warehouse, including units allocated to orders.
ON_HAND: Mapping[str, ImportKind[Any]] = {"stock": _serving_back_orders(STOCK_ON_HAND)}


def fields_of_kind(kind: str) -> list[str]:
    """Return the names of a kind's fields in their order; empty for an unknown kind."""
    import_kind = IMPORT_KINDS.get(kind)
    return [] if import_kind is None else [field.encode_name for field in structs.fields(import_kind.shape)]


IMPORTERS: tuple[Role, ...] = ("catalogue", "administrator")
HISTORY_READERS: tuple[Role, ...] = ("support", "finance", "catalogue", "administrator")


def area_of(kind: str) -> str:
    """Return the area of the scope that imports of a kind need. Raises DomainError (not found)."""
    if kind not in IMPORT_KINDS:
        raise not_found("import kind", kind)
    return IMPORT_KINDS[kind].area


def importable_kinds(roles: Iterable[Role]) -> list[str]:
    """Return the kinds that staff with these roles may import and roll back.

    Files of customers contain prices and credit terms, which only administrators may set all.
    """
    held = set(roles)
    if not has_one_of(held, IMPORTERS):
        return []
    return [name for name, kind in IMPORT_KINDS.items() if kind.area != "customers" or "administrator" in held]


def readable_kinds(roles: Iterable[Role]) -> list[str]:
    """Return the kinds whose imports staff with these roles may see."""
    held = set(roles)
    return [name for name, kind in IMPORT_KINDS.items() if allows(held, f"{kind.area}:read")]
