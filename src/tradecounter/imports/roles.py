"""Who may import what: the area of each kind of import, and the roles that import and read the history."""

from collections.abc import Iterable, Mapping

from tradecounter.edge.permissions import Role, allows
from tradecounter.kit.errors import not_found

# The area of the scope that each kind needs.
AREAS: Mapping[str, str] = {
    "categories": "catalogue",
    "manufacturers": "catalogue",
    "attributes": "catalogue",
    "products": "catalogue",
    "synonyms": "catalogue",
    "price-list": "prices",
    "stock": "stock",
    "incoming": "stock",
    "shipping-regions": "catalogue",
    "shipping-methods": "catalogue",
    "customers": "customers",
    "contract-prices": "prices",
}
IMPORTERS: tuple[Role, ...] = ("catalogue", "administrator")
HISTORY_READERS: tuple[Role, ...] = ("support", "finance", "catalogue", "administrator")


def area_of(kind: str) -> str:
    """Return the area of the scope that a kind needs. Raises DomainError (not found)."""
    if kind not in AREAS:
        raise not_found("import kind", kind)
    return AREAS[kind]


def importable_kinds(roles: Iterable[Role]) -> list[str]:
    """Return the kinds that a staff member with roles may import and roll back.

    Customers' files have prices and credit terms, all of which only administrators may set.
    """
    held = set(roles)
    if not allows(held, "", IMPORTERS):
        return []
    return [kind for kind, area in AREAS.items() if area != "customers" or "administrator" in held]


def readable_kinds(roles: Iterable[Role]) -> list[str]:
    """Return the kinds whose imports a staff member with roles may see."""
    held = set(roles)
    return [kind for kind, area in AREAS.items() if allows(held, f"{area}:read")]
