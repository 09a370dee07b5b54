"""Scopes of service tokens and of customers' keys, roles of people, and which roles a scope needs (RBAC)."""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

Area = Literal["catalogue", "prices", "stock", "customers", "orders", "quotes", "billing", "events", "audit"]
Role = Literal["support", "warehouse", "finance", "catalogue", "administrator"]
UserRole = Literal["owner", "buyer", "approver", "accounts", "developer"]
KeyScope = Literal["read", "order", "account"]

AREAS: tuple[Area, ...] = get_args(Area)
SCOPES: tuple[str, ...] = tuple(f"{area}:{verb}" for area in AREAS for verb in ("read", "write"))
ROLES: tuple[Role, ...] = get_args(Role)
USER_ROLES: tuple[UserRole, ...] = get_args(UserRole)
CONSENT_GIVERS: tuple[UserRole, ...] = ("owner", "developer")  # who may allow applications and agents
KEY_SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)

_READS_ALL: tuple[Role, ...] = ("support", "finance")
_READERS: Mapping[Area, tuple[Role, ...]] = {
    "catalogue": (*_READS_ALL, "warehouse", "catalogue"),
    "prices": (*_READS_ALL, "catalogue"),
    "stock": (*_READS_ALL, "warehouse", "catalogue"),
    "customers": _READS_ALL,
    "orders": (*_READS_ALL, "warehouse"),
    "quotes": _READS_ALL,
    "billing": _READS_ALL,
    "events": _READS_ALL,
    "audit": _READS_ALL,
}
_WRITERS: Mapping[Area, tuple[Role, ...]] = {
    "catalogue": ("catalogue",),
    "prices": ("catalogue",),
    "stock": ("warehouse",),
    "customers": ("support",),
    "orders": ("support",),
    "quotes": ("support",),
    "billing": ("finance",),
    "events": (),
    "audit": (),
}


def roles_of(scope: str) -> tuple[Role, ...]:
    """Return the roles that a scope's operations are open to by default; administrators may do everything."""
    area, _, verb = scope.partition(":")
    table = _READERS if verb == "read" else _WRITERS
    return (*table[area], "administrator")  # type: ignore[index]  # `SCOPES` has only areas


def includes(scopes: Iterable[str], needed: str) -> bool:
    """Return whether scopes include a needed one; writing includes reading."""
    area, _, _ = needed.partition(":")
    return not {needed, f"{area}:write"}.isdisjoint(scopes)


def allows(held: Iterable[Role], scope: str, roles: Iterable[str] = ()) -> bool:
    """Return whether somebody with roles may do what needs a scope; `roles` replace those of the scope.

    Without a scope and roles, any role is enough.
    """
    if roles:
        return has_one_of(held, roles)
    return not set(roles_of(scope) if scope else ROLES).isdisjoint(held)


def has_one_of(held: Iterable[Role], roles: Iterable[str]) -> bool:
    """Return whether one of several roles is held. Administrators count as holding all of them."""
    return not {*roles, "administrator"}.isdisjoint(held)
