"""The VAT of what is credited: by the rate, but never more than is left, and all of it with the last pound."""

from decimal import Decimal

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tradecounter.billing.rules import BilledUnits
from tradecounter.credit_notes.rules import (
    CreditLine,
    InvoicedLine,
    NetAndVat,
    left_of,
    share_of_amount,
    shares_of_lines,
)
from tradecounter.kit.money import NOTHING, percentage

PENCE = st.decimals(min_value="0.01", max_value="1.00", places=2)


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


@given(st.lists(PENCE, min_size=1, max_size=6), PENCE, st.integers(0, 30))
@example(nets=[Decimal("1.00"), Decimal("0.02"), Decimal("0.09")], amount=Decimal("0.03"), times=3)
@example(nets=[Decimal("1.00"), *[Decimal("0.03")] * 4], amount=Decimal("0.03"), times=22)
def test_no_line_has_less_than_no_vat_after_amounts_and_the_invoice_is_credited_exactly(
    nets: list[Decimal], amount: Decimal, times: int
) -> None:
    lines = [InvoicedLine(at, at, 1, net, percentage(net, Decimal(20))) for at, net in enumerate(nets)]
    amounts = BilledUnits()
    for _ in range(times):
        left = left_of(lines, [amounts])
        assume(amount < left.net)
        share = share_of_amount(amount, left, Decimal(20))
        amounts = BilledUnits(amounts.units + 1, amounts.net + share.net, amounts.vat + share.vat)
    left = left_of(lines, [amounts])
    wanted = [line for at, line in enumerate(lines) if sum(nets[at:], NOTHING) <= left.net]
    assume(wanted)
    shares = shares_of_lines(lines, {}, [CreditLine(line.line_id, 1) for line in wanted], left)
    assert [share.net for share in shares] == [line.net for line in wanted]
    assert all(share.vat >= 0 for share in shares)
    credited = [amounts, *(BilledUnits(1, share.net, share.vat) for share in shares)]
    rest = left_of(lines, credited)
    assert rest.vat >= 0
    if rest.net:
        rest_share = share_of_amount(rest.net, rest, Decimal(20))
        rest = left_of(lines, [*credited, BilledUnits(1, rest_share.net, rest_share.vat)])
    assert rest == NetAndVat(NOTHING, NOTHING)
