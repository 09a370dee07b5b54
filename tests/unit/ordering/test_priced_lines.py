"""Lines, breaks, tax, and references (specification, prices and money; orders)."""

from decimal import Decimal

import pytest

from tradecounter.orders.lines import OrderLine, total_costs
from tradecounter.orders.rules import order_reference, tax_rate
from tradecounter.prices.rules import UnitCosts

VAT = Decimal(20)


def line(quantity: int, unit_cost: str, rate: str = "20") -> OrderLine:
    unpriced = OrderLine(id=1, order_id=1, product_id=1, sku="PHONE", name="Phone", quantity=quantity)
    return unpriced.at_price(Decimal(unit_cost), Decimal(rate))


@pytest.mark.parametrize("country", ["GB", "IM"])
def test_the_uk_and_the_isle_of_man_pay_vat(country: str) -> None:
    assert tax_rate(country, VAT) == VAT


@pytest.mark.parametrize("country", ["JE", "GG", "IE", "FR", "DE", "US", "GI"])
def test_other_countries_pay_no_vat(country: str) -> None:
    assert tax_rate(country, VAT) == 0


@pytest.mark.parametrize(
    ("quantity", "unit_cost", "rate", "net", "tax"),
    [
        (3, "50.00", "20", "150.00", "30.00"),
        (12, "1.79", "20", "21.48", "4.30"),  # 4.296
        (1, "0.01", "20", "0.01", "0.00"),  # 0.002
        (1, "0.03", "20", "0.03", "0.01"),  # 0.006
        (1, "0.60", "17.5", "0.60", "0.11"),  # 0.105: half goes up, not to the even penny
        (1, "0.20", "17.5", "0.20", "0.04"),  # 0.035
        (100_000, "9999.99", "20", "999999000.00", "199999800.00"),
        (7, "19.99", "0", "139.93", "0.00"),
    ],
)
def test_a_lines_net_is_exact_and_its_tax_is_rounded_half_up(
    quantity: int, unit_cost: str, rate: str, net: str, tax: str
) -> None:
    priced = line(quantity, unit_cost, rate)
    assert (str(priced.cost_net), str(priced.cost_tax)) == (net, tax)


def test_an_orders_tax_is_the_sum_of_its_lines_taxes() -> None:
    three = [line(1, "1.99")] * 3
    assert total_costs(three) == (Decimal("5.97"), Decimal("1.20"))


def test_an_order_without_lines_costs_nothing() -> None:
    assert [str(cost) for cost in total_costs([])] == ["0.00", "0.00"]


@pytest.mark.parametrize(
    ("quantity", "pence"), [(1, 300), (4, 300), (5, 200), (9, 200), (10, 100), (11, 100), (100_000, 100)]
)
def test_the_lines_quantity_determines_the_price_break(quantity: int, pence: int) -> None:
    assert UnitCosts(300, 200, 100).at(quantity) == pence


def test_the_packing_determines_the_references_prefix() -> None:
    assert order_reference(100_001, "own", "ORD-", "PLN-") == "ORD-100001"
    assert order_reference(100_001, "plain", "ORD-", "PLN-") == "PLN-100001"
