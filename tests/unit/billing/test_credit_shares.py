"""The VAT of a credited amount: by the rate, but never more than is left, and all of it with the last pound."""

from decimal import Decimal

import pytest

from tradecounter.credit_notes.rules import NetAndVat, share_of_amount


@pytest.mark.parametrize(
    ("amount", "net", "vat", "credited"),
    [
        ("10.00", "10.00", "2.01", "2.01"),  # the last pound takes the pennies of rounding
        ("9.99", "10.00", "2.01", "2.00"),
        ("9.99", "10.00", "1.99", "1.99"),
        ("5.00", "10.00", "0.00", "0.00"),
    ],
)
def test_the_vat_of_an_amount(amount: str, net: str, vat: str, credited: str) -> None:
    share = share_of_amount(Decimal(amount), NetAndVat(Decimal(net), Decimal(vat)), Decimal(20))
    assert (share.net, share.vat) == (Decimal(amount), Decimal(credited))
