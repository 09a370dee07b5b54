"""Which orders need an approval."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import in_pounds

APPROVERS: tuple[Literal["owner", "approver"], ...] = ("owner", "approver")


def needs_approval(roles: Sequence[str], limit: Decimal | None, gross: Decimal) -> bool:
    """Return whether a user with these roles and this limit may not confirm an order with this gross alone."""
    return limit is not None and gross > limit and set(APPROVERS).isdisjoint(roles)


def require_no_approval(roles: Sequence[str], limit: Decimal | None, gross: Decimal) -> None:
    """Raise DomainError (forbidden) when a user may not confirm an order alone."""
    if limit is not None and needs_approval(roles, limit, gross):
        raise DomainError(
            Kind.FORBIDDEN,
            f"the total of {in_pounds(gross)} is above your limit of {in_pounds(limit)} for one order: "
            "ask for approval",
        )
