"""The credit limit and due dates (specification, section 1; credit)."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from support.orders import uk
from tradecounter.credit.rules import due_at, require_credit
from tradecounter.kit.errors import DomainError, Kind


def credit_error(credit_limit: str | None, outstanding: str, gross: str) -> DomainError:
    limit = None if credit_limit is None else Decimal(credit_limit)
    with pytest.raises(DomainError) as raised:
        require_credit(limit, Decimal(outstanding), Decimal(gross))
    return raised.value


@pytest.mark.parametrize(
    ("outstanding", "gross"),
    [("0.00", "99.99"), ("0.00", "100.00"), ("33.40", "66.60"), ("100.00", "0.00")],
)
def test_an_order_may_use_all_the_available_credit(outstanding: str, gross: str) -> None:
    require_credit(Decimal("100.00"), Decimal(outstanding), Decimal(gross))


@pytest.mark.parametrize(
    ("credit_limit", "outstanding", "gross"),
    [
        pytest.param("100.00", "0.00", "100.01", id="a penny over the limit"),
        pytest.param("100.00", "33.41", "66.60", id="a penny over what is left"),
        pytest.param("0.00", "0.00", "0.01", id="a limit of nothing"),
        pytest.param("50.00", "80.00", "0.01", id="owes more than a lowered limit already"),
    ],
)
def test_an_order_one_penny_over_the_credit_is_rejected(credit_limit: str, outstanding: str, gross: str) -> None:
    assert credit_error(credit_limit, outstanding, gross).kind is Kind.PAYMENT_REQUIRED


def test_the_error_names_the_orders_gross_and_the_available_credit() -> None:
    message = credit_error("100.00", "40.00", "66.60").message
    assert "66.60" in message
    assert "60.00" in message


def test_an_account_without_credit_terms_cannot_order_even_for_nothing() -> None:
    error = credit_error(None, "0.00", "0.00")
    assert error.kind is Kind.PAYMENT_REQUIRED
    assert "no credit terms" in error.message


@pytest.mark.parametrize(
    ("started", "term_days", "due"),
    [
        pytest.param(uk(2026, 6, 16, 9), 30, uk(2026, 7, 16, 23, 59, 59), id="in summer"),
        pytest.param(uk(2026, 1, 13, 9), 30, uk(2026, 2, 12, 23, 59, 59), id="in winter"),
        pytest.param(uk(2026, 6, 16, 9), 0, uk(2026, 6, 16, 23, 59, 59), id="the same day"),
        pytest.param(uk(2028, 2, 1, 9), 28, uk(2028, 2, 29, 23, 59, 59), id="on a leap day"),
        pytest.param(
            uk(2026, 12, 24, 9), 1, uk(2026, 12, 25, 23, 59, 59), id="on a bank holiday: days are calendar days"
        ),
        pytest.param(
            datetime(2026, 6, 16, 23, 30, tzinfo=UTC),
            1,
            uk(2026, 6, 18, 23, 59, 59),
            id="from half past midnight by summer time",
        ),
        pytest.param(
            uk(2026, 3, 28, 12), 1, datetime(2026, 3, 29, 22, 59, 59, tzinfo=UTC), id="the day summer time starts"
        ),
        pytest.param(
            uk(2026, 10, 24, 12), 1, datetime(2026, 10, 25, 23, 59, 59, tzinfo=UTC), id="the day summer time ends"
        ),
        pytest.param(
            uk(2026, 10, 1, 12), 30, datetime(2026, 10, 31, 23, 59, 59, tzinfo=UTC), id="from summer into winter"
        ),
    ],
)
def test_a_debt_is_due_when_the_last_uk_day_of_its_term_ends(started: datetime, term_days: int, due: datetime) -> None:
    assert due_at(started, term_days) == due
