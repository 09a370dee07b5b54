"""A naive twin of stock and orders: units are counted one after another, and every total is worked out from them.

Written from the rules of the trade alone. A step that a rule forbids raises `RejectedError`; whoever takes a step tries
it on a copy of the books.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

from support.shop import EUROPE, NEXT_DAY, STANDARD

PENNY = Decimal("0.01")
VAT = Decimal(20)
PENDING_LIFETIME = timedelta(hours=24)
QUOTE_LIFETIME = timedelta(days=7)
UNKNOWN = -1  # the id of a line that no order has

Units = Sequence[tuple[int, int]]


class RejectedError(Exception):
    """A rule forbids the step; the response has one of these statuses."""

    def __init__(self, *statuses: int) -> None:
        super().__init__(*statuses)
        self.statuses = set(statuses)


def reject_if(**reasons: bool) -> None:
    """Reject with the statuses whose reasons are true: `s409=order.is_open`."""
    if found := [int(name[1:4]) for name, reason in reasons.items() if reason]:
        raise RejectedError(*found)


def pence(amount: Decimal) -> Decimal:
    return amount.quantize(PENNY, ROUND_HALF_UP)


def share(percent: Decimal, amount: Decimal) -> Decimal:
    return pence(amount * percent / 100)


@dataclass
class NaiveProduct:
    """A product's costs for 1, 5 and 10 units, and its units."""

    sku: str
    costs: tuple[Decimal, Decimal, Decimal]
    weight_kg: Decimal
    purchase_cost: Decimal
    available: int
    received: int


@dataclass
class NaiveCustomer:
    """A customer's terms; `contract` has its own costs by SKU, to which no discount applies."""

    id: int
    credit_limit: Decimal
    term_days: int = 30
    discount: Decimal = Decimal(0)
    contract: dict[str, Decimal] = field(default_factory=dict)
    blocked: bool = False

    def cost(self, product: NaiveProduct, quantity: int) -> Decimal:
        if product.sku in self.contract:
            return self.contract[product.sku]
        cost = product.costs[(quantity >= 5) + (quantity >= 10)]
        return pence(cost * (100 - self.discount) / 100)


@dataclass
class NaiveLine:
    """A line of an order; `wanted` is ordered less cancelled, `unbilled` came back before it was invoiced."""

    id: int
    sku: str
    cost: Decimal
    wanted: int
    requested_cost: Decimal
    allocated: int = 0
    dispatched: int = 0
    cancelled: int = 0
    restocked: int = 0
    scrapped: int = 0
    unbilled: int = 0
    invoiced: int = 0

    @property
    def back_ordered(self) -> int:
        return self.wanted - self.allocated - self.dispatched

    @property
    def returned(self) -> int:
        return self.restocked + self.scrapped

    @property
    def net(self) -> Decimal:
        return self.cost * (self.wanted - self.unbilled)


@dataclass
class NaiveOrder:
    """An order or a quote; `number` is its place in the sequence of confirmations."""

    code: str
    customer: int
    kind: str
    lines: list[NaiveLine]
    method: int | None
    options: dict[int, Decimal]
    expires_at: datetime | None
    state: str = "pending"
    number: int = 0
    rate: Decimal = VAT
    term_days: int = 0
    carriage: Decimal = Decimal(0)
    abroad: bool = False
    paid: Decimal = Decimal(0)
    credited: Decimal = Decimal(0)
    invoices: list[int] = field(default_factory=list)
    renamed: bool = False
    amendments: int = 0  # that changed something

    @property
    def is_confirmed(self) -> bool:
        return self.state == "confirmed"

    @property
    def left(self) -> int:
        return sum(line.wanted - line.dispatched for line in self.lines)

    @property
    def dispatched(self) -> int:
        return sum(line.dispatched for line in self.lines)

    @property
    def items_gross(self) -> Decimal:
        return sum((line.net + share(self.rate, line.net) for line in self.lines), Decimal(0))

    @property
    def gross(self) -> Decimal:
        return self.items_gross + self.carriage + share(self.rate, self.carriage)

    @property
    def due(self) -> Decimal:
        return self.gross - self.paid - self.credited if self.is_confirmed else Decimal(0)

    @property
    def status(self) -> str | None:
        if not self.is_confirmed:
            return "Cancelled" if self.state == "cancelled" else None
        if not self.dispatched:
            return "Back-ordered" if any(line.back_ordered for line in self.lines) else "Awaiting dispatch"
        if not self.invoices:
            return "Part dispatched" if self.left else "Dispatched"
        if self.left or any(line.invoiced < line.dispatched - line.unbilled for line in self.lines):
            return "Part invoiced"
        return "Invoiced" if self.due else "Completed"

    def line(self, line_id: int) -> NaiveLine | None:
        return next((line for line in self.lines if line.id == line_id), None)

    def has_expired(self, now: datetime) -> bool:
        return self.state == "expired" or (
            self.state == "pending" and self.expires_at is not None and now > self.expires_at
        )


def offered(weight: Decimal, *, abroad: bool) -> dict[int, Decimal]:
    """The net carriage of each method that takes a weight."""
    if abroad:
        return {EUROPE: Decimal(20)} if weight <= 100 else {}
    methods = {NEXT_DAY: Decimal(10)}
    if weight <= 30:
        methods[STANDARD] = pence(5 + weight / 2)
    return methods


class NaiveOrders:
    """The books of stock and orders."""

    def __init__(self, products: Iterable[NaiveProduct], customers: Iterable[NaiveCustomer]) -> None:
        self.products = {product.sku: product for product in products}
        self.customers = {customer.id: customer for customer in customers}
        self.orders: dict[str, NaiveOrder] = {}
        self.confirmations = 0

    def outstanding(self, customer: int) -> Decimal:
        return sum((order.due for order in self.orders.values() if order.customer == customer), Decimal(0))

    def level(self, sku: str) -> tuple[int, int, int]:
        lines = [line for order in self.confirmed() for line in order.lines if line.sku == sku]
        every = [line for order in self.orders.values() for line in order.lines if line.sku == sku]
        allocated, product = sum(line.allocated for line in lines), self.products[sku]
        on_hand = product.received - sum(line.dispatched - line.restocked for line in every)
        assert on_hand == product.available + allocated
        return product.available, allocated, sum(line.back_ordered for line in lines)

    def confirmed(self) -> list[NaiveOrder]:
        """Confirmed orders, the earliest confirmed first."""
        found = [order for order in self.orders.values() if order.is_confirmed]
        return sorted(found, key=lambda order: order.number)

    def _serve(self) -> None:
        for order in self.confirmed():
            for line in order.lines:
                while line.back_ordered > 0 and self.products[line.sku].available:
                    line.allocated += 1
                    self.products[line.sku].available -= 1

    def _want(self, line: NaiveLine, wanted: int) -> None:
        """Change the wanted units; those that are no longer wanted come from the back-order first."""
        line.wanted = wanted
        while line.back_ordered < 0:
            line.allocated -= 1
            self.products[line.sku].available += 1

    def _weight(self, order: NaiveOrder) -> Decimal:
        return sum((self.products[line.sku].weight_kg * line.wanted for line in order.lines), Decimal(0))

    def _weight_left(self, order: NaiveOrder) -> Decimal:
        weights = (self.products[line.sku].weight_kg * (line.wanted - line.dispatched) for line in order.lines)
        return sum(weights, Decimal(0))

    def _require_credit(self, customer: NaiveCustomer, gross: Decimal) -> None:
        reject_if(s402=gross > customer.credit_limit - self.outstanding(customer.id))

    def create(
        self,
        customer_id: int,
        items: Sequence[tuple[str, int]],
        now: datetime,
        method: int | None = None,
        *,
        quote: bool = False,
        override: bool = False,
        at_once: bool = False,
    ) -> NaiveOrder:
        """An order or a quote without ids, which the response has; one that is confirmed `at_once` needs a method."""
        customer = self.customers[customer_id]
        reject_if(
            s400=any(sku not in self.products for sku, _ in items) or method == EUROPE,
            s409=customer.blocked,
        )
        costs = [customer.cost(self.products[sku], quantity) for sku, quantity in items]
        lines = [NaiveLine(UNKNOWN, sku, c, n, c) for (sku, n), c in zip(items, costs, strict=True)]
        expires_at = None if quote else now + PENDING_LIFETIME
        order = NaiveOrder("", customer_id, "quote" if quote else "order", lines, method, {}, expires_at)
        order.options = offered(self._weight(order), abroad=False)
        reject_if(s400=method is not None and method not in order.options, s412=at_once and method is None)
        carriage = Decimal(0) if method is None else order.options[method]
        if not override:
            self._require_credit(customer, order.items_gross + carriage + share(VAT, carriage))
        return order

    def confirm(self, code: str, now: datetime, method: int | None = None, *, override: bool = False) -> bool:
        """Confirm an order or a quote; whether it was not confirmed before."""
        order = self.orders[code]
        customer = self.customers[order.customer]
        chosen = order.method if method is None else method
        if order.is_confirmed:
            reject_if(s400=chosen != order.method)
            return False
        reject_if(
            s410=order.state == "cancelled" or order.has_expired(now),
            s409=customer.blocked,
            s412=chosen is None or (order.kind == "quote" and order.expires_at is None),
            s400=chosen is not None and chosen not in order.options,
        )
        assert chosen is not None
        carriage = order.options[chosen]
        if not override:
            self._require_credit(customer, order.items_gross + carriage + share(VAT, carriage))
        self.confirmations += 1
        order.method, order.carriage, order.number = chosen, carriage, self.confirmations
        order.state, order.term_days = "confirmed", customer.term_days
        self._serve()
        return True

    def price(
        self,
        code: str,
        now: datetime,
        costs: dict[str, Decimal],
        discount: Decimal | None,
        carriage: dict[int, Decimal],
        *,
        force: bool,
    ) -> None:
        quote = self.orders[code]
        reject_if(
            s409=quote.kind == "order" or quote.state != "pending" or quote.has_expired(now),
            s400=not set(costs) <= {line.sku for line in quote.lines},
        )
        for line in quote.lines:
            reduced = line.cost if discount is None else pence(line.requested_cost * (100 - discount) / 100)
            line.cost = costs.get(line.sku, reduced)
            too_low = line.cost < self.products[line.sku].purchase_cost or line.cost * 2 < line.requested_cost
            reject_if(s400=not force and line.cost < line.requested_cost and too_low)
        quote.options |= carriage
        quote.expires_at = now + QUOTE_LIFETIME

    def cancel(self, code: str, now: datetime, items: Units | None = None, *, declines: bool = False) -> None:
        order = self.orders[code]
        reject_if(
            s409=order.state in {"cancelled", "expired"}
            or order.has_expired(now)
            or (order.is_confirmed and (order.left == 0 or declines))
            or (not order.is_confirmed and items is not None),
            s404=declines and order.kind == "order",
        )
        if items is None:
            items = [(line.id, line.wanted - line.dispatched) for line in order.lines if line.wanted > line.dispatched]
        for line_id, units in items:
            line = order.line(line_id)
            reject_if(s400=line is None or not 1 <= units <= line.wanted - line.dispatched)
        if not order.is_confirmed or (
            not order.dispatched and sum(n for _, n in items) == order.left
        ):  # the whole order keeps its units as they were
            for line in order.lines if order.is_confirmed else ():
                self.products[line.sku].available += line.allocated
                line.allocated = 0
            order.state = "cancelled"
        else:
            for line_id, units in items:
                line = order.line(line_id)
                assert line is not None
                self._want(line, line.wanted - units)
                line.cancelled += units
        self._serve()

    def amend(
        self,
        code: str,
        changes: Sequence[dict[str, Any]],
        method: int | None = None,
        *,
        abroad: bool | None = None,
        renamed: bool = False,
        override: bool = False,
    ) -> list[NaiveLine]:
        """Amend an order; its new lines, without ids. `abroad` names a new delivery address."""
        order = self.orders[code]
        customer, before, left = self.customers[order.customer], order.gross, self._weight_left(order)
        reject_if(s409=not order.is_confirmed or order.left == 0)
        reject_if(s400=not changes and method is None and abroad is None and not renamed)
        moved = (method is not None and method != order.method) or (abroad is not None and abroad != order.abroad)
        reject_if(s409=moved and order.dispatched > 0)
        added, units = [], [line.wanted for line in order.lines]
        costs = [line.cost for line in order.lines]
        for change in changes:
            line = order.line(change.get("id", UNKNOWN))
            cost = change.get("unit_cost")
            if line is not None:
                wanted = change.get("quantity", line.wanted)
                repriced = cost is not None and cost != line.cost
                reject_if(s409=wanted < line.dispatched or (repriced and line.dispatched > 0))
                self._want(line, wanted)
                line.cost = line.cost if cost is None else cost
            else:
                product = self.products.get(change.get("sku", ""))
                reject_if(s400=product is None)
                assert product is not None
                today = customer.cost(product, change["quantity"])
                cost = today if cost is None else cost
                added.append(NaiveLine(UNKNOWN, product.sku, cost, change["quantity"], today))
        reject_if(s400=not any(line.wanted for line in [*order.lines, *added]))
        same_units = not added and units == [line.wanted for line in order.lines]
        same_costs = costs == [line.cost for line in order.lines]
        order.amendments += moved or not same_units or not same_costs or (renamed and not order.renamed)
        order.renamed = order.renamed or renamed
        order.lines = [*(line for line in order.lines if line.wanted or line.cancelled), *added]
        if moved or not same_units:
            self._carry(order, method, abroad, left)
        if order.gross > before:
            reject_if(s409=customer.blocked)
            room = customer.credit_limit - (self.outstanding(customer.id) - order.gross + before)
            reject_if(s402=not override and order.gross - before > room)
        self._serve()
        return added

    def _carry(self, order: NaiveOrder, method: int | None, abroad: bool | None, before: Decimal) -> None:
        """Work out the carriage of other units; it stays once a part is dispatched, or if support set it.

        What is left then, which weighed `before`, has to fit its method if units were added.
        """
        if order.dispatched:
            left = self._weight_left(order)
            fits = order.kind == "quote" or left <= before or order.method in offered(left, abroad=order.abroad)
            reject_if(s400=not fits)
            return
        readdressed = abroad is not None and abroad != order.abroad
        order.abroad = order.abroad if abroad is None else abroad
        order.rate = Decimal(0) if order.abroad else VAT
        kept = order.options if order.kind == "quote" and not readdressed else {}
        order.options = {**offered(self._weight(order), abroad=order.abroad), **kept}
        order.method = order.method if method is None else method
        reject_if(s400=order.method not in order.options)
        assert order.method is not None
        order.carriage = order.options[order.method]

    def dispatch(self, code: str, items: Units | None) -> None:
        order = self.orders[code]
        reject_if(s409=not order.is_confirmed or order.left == 0)
        if items is None:
            items = [(line.id, line.allocated) for line in order.lines if line.allocated]
            reject_if(s409=not items)
        for line_id, units in items:
            line = order.line(line_id)
            reject_if(s400=line is None or not 1 <= units <= line.wanted - line.dispatched)
            assert line is not None
            reject_if(s409=units > line.allocated)
            line.allocated -= units
            line.dispatched += units

    def stock(self, sku: str, available: int) -> None:
        """Set the units for sale, as a file does."""
        product = self.products[sku]
        product.received += available - product.available
        product.available = available
        self._serve()

    def adjust(self, sku: str, change: int) -> None:
        """Change the units on hand; those that are allocated to orders stay."""
        product = self.products[sku]
        reject_if(s409=product.available + change < 0)
        product.available += change
        product.received += change
        self._serve()

    def expire(self, now: datetime) -> list[NaiveOrder]:
        """Mark what has expired; returns it."""
        found = [order for order in self.orders.values() if order.state == "pending" and order.has_expired(now)]
        for order in found:
            order.state = "expired"
        return found


def uk_day(moment: datetime) -> date:
    return moment.astimezone(ZoneInfo("Europe/London")).date()
