"""The people who sign in: staff members at the back office, customers' users at the account pages."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal, TypedDict

from msgspec import Struct

from tradecounter.edge.permissions import Role, UserRole
from tradecounter.kit.actor import Actor

Site = Literal["staff", "account"]


class StaffMember(Struct, frozen=True):
    """A staff member without secrets; `has_password` is False until it sets one."""

    id: int
    email: str
    name: str
    roles: list[Role]
    has_password: bool
    created_at: datetime
    disabled_at: datetime | None


class CustomerUser(Struct, frozen=True):
    """A customer's user without secrets; `has_password` is False until it sets one.

    `role` is the first of its roles. `order_limit` is the greatest total of an order that needs no approval, in pounds
    with VAT; None if no order needs approval.
    """

    id: int
    customer_id: int
    email: str
    name: str
    role: UserRole
    has_password: bool
    created_at: datetime
    disabled_at: datetime | None
    more_roles: Sequence[UserRole] = ()
    order_limit: Decimal | None = None

    @property
    def roles(self) -> tuple[UserRole, ...]:
        """All its roles."""
        return self.role, *self.more_roles

    def has_role(self, *roles: UserRole) -> bool:
        """Return whether it has one of these roles, or may do everything as an owner."""
        return not {"owner", *roles}.isdisjoint(self.roles)


Person = StaffMember | CustomerUser


class Owner(TypedDict):
    """The two columns that have the owner of a row; one is null."""

    staff_id: int | None
    user_id: int | None


def owner_of(site: Site, person_id: int) -> Owner:
    """Return the columns for a person."""
    if site == "staff":
        return {"staff_id": person_id, "user_id": None}
    return {"staff_id": None, "user_id": person_id}


def site_of(person: Person) -> Site:
    """Return the site at which a person signs in."""
    return "staff" if isinstance(person, StaffMember) else "account"


def noun_of(person: Person) -> Literal["staff", "user"]:
    """Return the audit log's word for a person."""
    return "staff" if isinstance(person, StaffMember) else "user"


def subject_of(person: Person) -> str:
    """Return the audit log's subject for a person."""
    return f"{noun_of(person)}/{person.email}"


def actor_of(person: Person, address: str | None) -> Actor:
    """Return the actor of the changes that a person makes from an address."""
    return Actor(noun_of(person), person.email, person.id, address=address)
