"""After any sequence of steps, credit, stock and orders agree with each other and with a simple model."""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.orders import confirm, faults_in_the_books, level, outstanding, sell
from support.service import Customer, Service
from support.shop import NEXT_DAY, STANDARD, order

SKUS = ("BOOK-1", "BOOK-2", "BOOK-3")
LIMIT = Decimal("300.00")


@dataclass(frozen=True)
class Create:
    customer: int
    items: list[tuple[str, int]]
    method: int | None


@dataclass(frozen=True)
class Confirm:
    which: int
    method: int


@dataclass(frozen=True)
class Import:
    available: dict[str, int]


customers = st.integers(0, 1)
skus = st.sampled_from(SKUS)
methods = st.sampled_from((STANDARD, NEXT_DAY))
creations = st.builds(
    Create,
    customers,
    st.lists(st.tuples(skus, st.integers(1, 6)), min_size=1, max_size=3),
    st.none() | methods,
)
confirmations = st.builds(Confirm, st.integers(0, 9), methods)
imports = st.builds(Import, st.dictionaries(skus, st.integers(0, 12), min_size=1))
histories = st.lists(st.one_of(creations, creations, confirmations, confirmations, imports), min_size=15, max_size=25)


@dataclass
class Shop:
    """The shop under test, its customers and their pending orders."""

    service: Service
    customers: list[Customer]
    created: list[tuple[Customer, dict[str, Any]]]

    def create(self, step: Create) -> None:
        customer = self.customers[step.customer]
        method = None if step.method is None else {"id": step.method}
        response = customer.post("/order", order(step.items, shipping_method=method))
        assert response.status_code in {201, 402}
        if response.status_code == 201:
            self.created.append((customer, response.json()))

    def confirm(self, step: Confirm) -> None:
        if not self.created:
            return
        customer, pending = self.created.pop(step.which % len(self.created))
        owed = outstanding(self.service, customer)
        before = {sku: level(self.service, sku) for sku in SKUS}
        gross = gross_of(pending, step.method)

        status = confirm(customer, pending, step.method).status_code

        fits = owed + gross <= LIMIT
        assert status == (200 if fits else 402)
        assert outstanding(self.service, customer) == owed + (gross if fits else 0)
        wanted: Counter[str] = Counter()
        for item in pending["items"] if fits else ():
            wanted[item["sku"]] += item["quantity"]
        for sku in SKUS:
            available, allocated, back_ordered = before[sku]
            taken = min(available, wanted[sku])
            expected = (available - taken, allocated + taken, back_ordered + wanted[sku] - taken)
            assert level(self.service, sku) == expected

    def load(self, step: Import) -> None:
        before = {sku: level(self.service, sku) for sku in step.available}
        self.service.must_load("stock", [{"sku": sku, "available": n} for sku, n in step.available.items()])
        for sku, units in step.available.items():
            _, allocated, back_ordered = before[sku]
            served = min(units, back_ordered)
            assert level(self.service, sku) == (units - served, allocated + served, back_ordered - served)


def gross_of(pending: dict[str, Any], method: int) -> Decimal:
    """Return a pending order's gross total with shipping, with 20 per cent VAT on everything."""
    [shipping] = [option["cost_net"] for option in pending["shipping_options"] if option["id"] == method]
    tax = (Decimal(str(shipping)) * Decimal("0.2")).quantize(Decimal("0.01"))
    return Decimal(str(pending["cost_gross"])) + Decimal(str(shipping)) + tax


@pytest.fixture(scope="module")
def stocked(shop: Service) -> Service:
    for sku, cost in zip(SKUS, (10, "19.99", 35), strict=True):
        sell(shop, sku, cost, available=8)
    return shop


@given(histories)
@settings(max_examples=10, deadline=None, derandomize=True)
def test_stock_and_credit_totals_match_the_orders_after_every_step(
    stocked: Service, history: list[Create | Confirm | Import]
) -> None:
    shop = Shop(stocked, [stocked.customer(credit=str(LIMIT)) for _ in range(2)], [])
    for step in history:
        match step:
            case Create():
                shop.create(step)
            case Confirm():
                shop.confirm(step)
            case Import():
                shop.load(step)
        assert faults_in_the_books(stocked) == {}
