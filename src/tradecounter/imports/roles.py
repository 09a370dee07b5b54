"""Who may import what, and read the history of imports."""

from collections.abc import Iterable

from tradecounter.edge.permissions import Role, allows
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.kit.errors import not_found

IMPORTERS: tuple[Role, ...] = ("catalogue", "administrator")
HISTORY_READERS: tuple[Role, ...] = ("support", "finance", "catalogue", "administrator")


def area_of(kind: str) -> str:
    """Return the area of the scope that a kind needs. Raises DomainError (not found)."""
    if kind not in IMPORT_KINDS:
        raise not_found("import kind", kind)
    return IMPORT_KINDS[kind].area


def importable_kinds(roles: Iterable[Role]) -> list[str]:
    """Return the kinds that a staff member with roles may import and roll back.

    Customers' files have prices and credit terms, all of which only administrators may set.
    """
    held = set(roles)
    if not allows(held, "", IMPORTERS):
        return []
    return [name for name, kind in IMPORT_KINDS.items() if kind.area != "customers" or "administrator" in held]


def readable_kinds(roles: Iterable[Role]) -> list[str]:
    """Return the kinds whose imports a staff member with roles may see."""
    held = set(roles)
    return [name for name, kind in IMPORT_KINDS.items() if allows(held, f"{kind.area}:read")]
