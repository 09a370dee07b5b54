"""The rules of credit (specification, section 1; credit). Amounts are gross pounds."""

from datetime import datetime, time, timedelta
from decimal import Decimal

from msgspec import Struct

from tradecounter.kit.clock import at_uk_time, uk_date
from tradecounter.kit.errors import Code, DomainError, Kind
from tradecounter.kit.money import in_pounds


class CreditRoom(Struct, frozen=True):
    """An account's credit limit, None without credit terms, and its unpaid gross."""

    limit: Decimal | None
    outstanding: Decimal

    @property
    def available(self) -> Decimal:
        """What may still be ordered; below zero beyond the limit."""
        return (self.limit or Decimal("0.00")) - self.outstanding

    def covers(self, gross: Decimal) -> bool:
        """Return whether an order may have this gross."""
        return self.limit is not None and gross <= self.available


def require_credit(credit_limit: Decimal | None, outstanding: Decimal, gross: Decimal, what: str = "order") -> None:
    """Raise DomainError (payment required) when `gross` exceeds the available credit; `what` has this gross."""
    if credit_limit is None:
        raise DomainError(
            Kind.PAYMENT_REQUIRED,
            "the account has no credit terms, so it cannot order; ask support for a credit account",
            code=Code.NO_CREDIT_TERMS,
        )
    available = credit_limit - outstanding
    if gross > available:
        raise DomainError(
            Kind.PAYMENT_REQUIRED,
            f"the {what} of {in_pounds(gross)} including tax and shipping exceeds the available credit of "
            f"{in_pounds(available)}",
            code=Code.CREDIT_EXCEEDED,
        )


def due_at(started: datetime, term_days: int) -> datetime:
    """Return the last moment to pay a debt: when the UK day `term_days` after its start ends."""
    return at_uk_time(uk_date(started) + timedelta(days=term_days), time(23, 59, 59))
