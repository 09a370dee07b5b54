"""Whatever happens to orders after the sale, stock and credit are those of a naive twin that counts along."""

import itertools
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from support.book_keeping import Twin, TwinLine, TwinOrder
from support.orders import amend, buy, cancel, dispatch, faults_in_the_books, level, outstanding, read, rows, sell
from support.service import Service
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError
from tradecounter.ordering.returns.open_return import open_return
from tradecounter.ordering.returns.receive_return import receive_return

PRICES = (Decimal("9.99"), Decimal("0.35"))

_numbers = itertools.count(1)
which = st.integers(0, 7)
units = st.integers(1, 4)


class Books(RuleBasedStateMachine):
    """Orders of one customer for two products of their own."""

    shop: Service

    def __init__(self) -> None:
        super().__init__()
        self.customer = self.shop.customer()
        self.placed: list[dict[str, Any]] = []
        skus = [f"TWIN-{next(_numbers)}" for _ in PRICES]
        self.prices = dict(zip(skus, PRICES, strict=True))
        for sku, price in self.prices.items():
            sell(self.shop, sku, price, available=3, weight_kg=0)
        self.skus = skus
        self.twin = Twin(dict.fromkeys(skus, 3))

    def chosen(self, order: int, line: int) -> tuple[dict[str, Any], TwinOrder, int, TwinLine]:
        number = order % len(self.placed)
        twin = self.twin.orders[number]
        line_id = list(twin.lines)[line % len(twin.lines)]
        return self.placed[number], twin, line_id, twin.lines[line_id]

    def twin_line(self, sku: str, wanted: int) -> TwinLine:
        return TwinLine(sku, self.prices[sku], wanted)

    def change(self, allowed: bool, work: Any) -> bool:
        """Do the work, which succeeds if and only if it is allowed."""
        if allowed:
            work()
            return True
        with pytest.raises(DomainError):
            work()
        return False

    @rule(items=st.lists(st.tuples(st.integers(0, 1), units), min_size=1, max_size=2))
    def buy(self, items: list[tuple[int, int]]) -> None:
        placed = buy(self.customer, [(self.skus[sku], quantity) for sku, quantity in items])
        ids = [item["id"] for item in placed["items"]]
        lines = [self.twin_line(self.skus[sku], quantity) for sku, quantity in items]
        self.placed.append(placed)
        self.twin.orders.append(TwinOrder(dict(zip(ids, lines, strict=True))))
        self.twin.serve()

    @rule(sku=st.integers(0, 1), quantity=st.integers(0, 6))
    def stock(self, sku: int, quantity: int) -> None:
        self.shop.must_load("stock", [{"sku": self.skus[sku], "available": quantity}])
        self.twin.stock(self.skus[sku], quantity)

    @precondition(lambda self: self.placed)
    @rule(order=which, line=which, quantity=units)
    def dispatch(self, order: int, line: int, quantity: int) -> None:
        placed, twin, line_id, found = self.chosen(order, line)
        allowed = not twin.cancelled and quantity <= found.allocated
        if self.change(allowed, lambda: dispatch(self.shop, placed, (line_id, quantity))):
            found.allocated -= quantity
            found.dispatched += quantity

    @precondition(lambda self: self.placed)
    @rule(order=which, line=which, quantity=units)
    def cancel_part(self, order: int, line: int, quantity: int) -> None:
        placed, twin, line_id, found = self.chosen(order, line)
        allowed = not twin.cancelled and quantity <= found.wanted - found.dispatched
        if self.change(allowed, lambda: cancel(self.shop, placed, "a test", (line_id, quantity))):
            self.twin.cancel(twin, found, quantity)

    @precondition(lambda self: self.placed)
    @rule(order=which, line=which, quantity=st.integers(0, 6), price=st.none() | st.just("5.55"))
    def amend_line(self, order: int, line: int, quantity: int, price: str | None) -> None:
        placed, twin, line_id, found = self.chosen(order, line)
        left = sum(other.wanted for other in twin.lines.values()) - found.wanted + quantity
        allowed = (
            not twin.cancelled
            and twin.undispatched > 0
            and quantity >= found.dispatched
            and left > 0
            and (price is None or not found.dispatched or Decimal(price) == found.price)
        )
        item = {"id": line_id, "quantity": quantity, "unit_cost": price}
        if self.change(allowed, lambda: amend(self.shop, placed, items=[item])):
            self.twin.want(found, quantity)
            found.price = found.price if price is None else Decimal(price)
            if not found.wanted and not found.cancelled:
                del twin.lines[line_id]
            self.twin.serve()

    @precondition(lambda self: self.placed)
    @rule(order=which, sku=st.integers(0, 1), quantity=units)
    def add_line(self, order: int, sku: int, quantity: int) -> None:
        placed, twin, _, _ = self.chosen(order, 0)
        allowed = not twin.cancelled and twin.undispatched > 0
        item = {"sku": self.skus[sku], "quantity": quantity}
        if self.change(allowed, lambda: amend(self.shop, placed, items=[item])):
            line_id = read(self.customer, placed)["items"][-1]["id"]
            twin.lines[line_id] = self.twin_line(self.skus[sku], quantity)
            self.twin.serve()

    @precondition(lambda self: any(order.dispatched for order in self.twin.orders))
    @rule(order=which, line=which, restocked=st.integers(0, 2), scrapped=st.integers(0, 1))
    def send_back(self, order: int, line: int, restocked: int, scrapped: int) -> None:
        placed, twin, line_id, found = self.chosen(order, line)
        quantity = restocked + scrapped
        name, now = str(placed["order_reference"]), self.shop.clock.now()

        async def work(tx: Transaction) -> None:
            number = await open_return(tx, name, [(line_id, quantity)], "a test", now)
            await receive_return(tx, number, [(line_id, restocked)], [(line_id, scrapped)], now)

        allowed = not twin.cancelled and 1 <= quantity <= found.dispatched - found.returned
        if self.change(allowed, lambda: self.shop.in_transaction(work)):
            found.restocked += restocked
            found.scrapped += scrapped
            self.twin.available[found.sku] += restocked
            self.twin.serve()

    @invariant()
    def books_agree(self) -> None:
        for sku in self.skus:
            assert level(self.shop, sku) == self.twin.level(sku)
        assert outstanding(self.shop, self.customer) == sum(order.gross for order in self.twin.orders)
        found = rows(
            self.shop,
            "select l.id, l.quantity, l.allocated, l.back_ordered, l.dispatched, l.cancelled, l.returned"
            " from order_line l join orders o on o.id = l.order_id"
            " where o.customer_id = %s and o.state = 'confirmed' order by l.id",
            self.customer.id,
        )
        assert found == sorted(
            (line_id, line.wanted, line.allocated, line.back_ordered, line.dispatched, line.cancelled, line.returned)
            for order in self.twin.orders
            if not order.cancelled
            for line_id, line in order.lines.items()
        )
        assert faults_in_the_books(self.shop) == {}


def test_stock_and_credit_are_those_of_a_naive_twin(shop: Service) -> None:
    run_state_machine_as_test(
        type("BooksOfTheShop", (Books,), {"shop": shop}),
        settings=settings(max_examples=8, stateful_step_count=16, deadline=None, derandomize=True),
    )
