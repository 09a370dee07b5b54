"""The rules of orders (specification, section 3; orders): statuses, limits, VAT rates, references."""

from decimal import Decimal
from typing import Literal

from tradecounter.kit.errors import Code, DomainError, Kind, invalid
from tradecounter.kit.money import NOTHING, rounded

AWAITING_DISPATCH = "Awaiting dispatch"
BACK_ORDERED = "Back-ordered"
PART_DISPATCHED = "Part dispatched"
DISPATCHED = "Dispatched"
PART_INVOICED = "Part invoiced"
INVOICED = "Invoiced"
COMPLETED = "Completed"
CANCELLED = "Cancelled"

QUOTE_WAITING = "Waiting"
QUOTE_PRICED = "Priced"
QUOTE_EXPIRED = "Expired"
QUOTE_DECLINED = "Declined"
QUOTE_ORDERED = "Ordered"

STATUSES = (
    AWAITING_DISPATCH,
    BACK_ORDERED,
    PART_DISPATCHED,
    DISPATCHED,
    PART_INVOICED,
    INVOICED,
    COMPLETED,
    CANCELLED,
)

VAT_AREA = {"GB", "IM"}


# Lists of what can be dispatched have the orders with these statuses and allocated units. Staff dispatch what is
# allocated of a back-ordered order from its own page.
CAN_LEAVE = (AWAITING_DISPATCH, PART_DISPATCHED, PART_INVOICED)

MOST_POUNDS = 1_000_000


def check_cost(field: str, what: str, cost: Decimal) -> None:
    """Raise DomainError (invalid) unless a cost that the reseller sets is in whole pence and not negative."""
    if not cost.is_finite() or not 0 <= cost <= MOST_POUNDS:
        raise invalid(field, f"the {what} must be between 0 and {MOST_POUNDS}")
    if cost != rounded(cost):
        raise invalid(field, f"the {what} {cost} has more than two decimal places")


def tax_rate(country: str, vat_rate: Decimal) -> Decimal:
    """Return the VAT in per cent on deliveries to a country."""
    return vat_rate if country in VAT_AREA else NOTHING


def order_reference(number: int, packing: Literal["own", "plain"], own_prefix: str, plain_prefix: str) -> str:
    """Return an order's reference; its prefix depends on the packing."""
    return f"{own_prefix if packing == 'own' else plain_prefix}{number}"


def account_blocked() -> DomainError:
    """Return the error for an order of a blocked customer."""
    return DomainError(Kind.CONFLICT, "the account is blocked, so it cannot order", code=Code.ACCOUNT_BLOCKED)
