"""The choice of an order's shipping method."""

from datetime import time
from decimal import Decimal

import pytest

from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.shipping_options import ShippingOption, choose_shipping

SLOW, FAST = (
    ShippingOption(number, "Van", f"Way {number}", Decimal(5), transit_days=1, cut_off=time(16, 0))
    for number in (11, 12)
)
OFFERS = [SLOW, FAST]


@pytest.mark.parametrize(
    ("named", "default", "expected"),
    [
        pytest.param(11, 12, SLOW, id="the named method, whatever the default"),
        pytest.param(None, 12, FAST, id="the default without a named method"),
        pytest.param(None, 99, None, id="a default that was not offered is ignored"),
        pytest.param(None, None, None, id="neither"),
    ],
)
def test_the_named_method_takes_precedence_over_the_accounts_default(
    named: int | None, default: int | None, expected: ShippingOption | None
) -> None:
    assert choose_shipping(OFFERS, named, default) == expected


def test_a_named_method_that_was_not_offered_is_rejected_even_if_the_default_was() -> None:
    with pytest.raises(DomainError) as raised:
        choose_shipping(OFFERS, 99, 12)
    assert raised.value.kind is Kind.INVALID
    assert raised.value.message == (
        "shipping_method.id: 99 is not among the shipping options: 11 (Van, Way 11), 12 (Van, Way 12)"
    )
