"""What all rules of the state machine share: the shop and its twin, a step and what must agree after it."""

import copy
import itertools
from collections import Counter
from collections.abc import Callable, Container, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, LiteralString, TypeVar

import httpx2
from hypothesis.stateful import RuleBasedStateMachine

from support.backoffice import BackOfficeSite
from support.naive_desk import NaiveDesk, NaiveUser
from support.naive_orders import NaiveCustomer, NaiveOrder, NaiveProduct, RejectedError, uk_day
from support.orders import rows, sell
from support.pages import Person, customer_user, signed_in_again, staff_member, text_of
from support.reseller_checks import assert_books_agree, assert_desk_agrees, assert_statement_agrees, log_since
from support.reseller_steps import ResellerSteps
from support.service import Customer, Service

SELLER = {
    "seller_name": "Trade & Sons",
    "seller_address": "7 Sales Street, York, YO1 7HH",
    "seller_vat_number": "GB123456782",
}
COSTS = ((Decimal("9.99"), Decimal("9.49"), Decimal("8.75")), (Decimal("0.35"), Decimal("0.33"), Decimal("0.33")))
CONTRACT = Decimal("0.31")
PURCHASE = (Decimal("6.10"), Decimal("0.20"))
WEIGHTS = (Decimal("1.5"), Decimal("0.33"))
SUCCESS = (200, 201, 204)
UNKNOWN_NUMBER = 999_999_999

_numbers = itertools.count(1)
Found = TypeVar("Found")
Done = list[tuple[str | None, str]]  # the type of an event, if there is one, and the action of an audit entry


def is_open(order: NaiveOrder) -> bool:
    return order.is_confirmed and order.left > 0


def is_unmoved(order: NaiveOrder) -> bool:
    return is_open(order) and not order.dispatched


def can_leave(order: NaiveOrder) -> bool:
    return any(line.allocated for line in order.lines)


def can_be_billed(order: NaiveOrder) -> bool:
    return order.status in {"Dispatched", "Part dispatched", "Part invoiced"}


def can_come_back(order: NaiveOrder) -> bool:
    return order.dispatched > 0


def is_pending(order: NaiveOrder) -> bool:
    return order.state == "pending"


def can_be_confirmed(order: NaiveOrder) -> bool:
    return is_pending(order) and order.expires_at is not None


def is_quote(order: NaiveOrder) -> bool:
    return order.kind == "quote"


def some_order(*likely: Callable[[NaiveOrder], bool]) -> Callable[[Any], bool]:
    """The precondition that the books have an order of which all this is true."""
    return lambda self: any(all(test(order) for test in likely) for order in self.books.orders.values())


class BesideTwin(RuleBasedStateMachine):
    """Two customers, one of them with a discount and a contract price, and two products of their own."""

    office: BackOfficeSite
    staff: httpx2.Client
    taken: ClassVar[Counter[str]] = Counter()  # how often each rule's step was taken
    rejected: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        shop = self.shop
        self.steps = ResellerSteps(self.staff)
        self.skus = [f"HISTORY-{next(_numbers)}" for _ in COSTS]
        for sku, weight, purchase in zip(self.skus, WEIGHTS, PURCHASE, strict=True):
            sell(shop, sku, available=6, weight_kg=str(weight), purchase_cost=str(purchase))
        self.clients: list[Customer] = [
            shop.customer(credit="300.00"),
            shop.customer(credit="500.00", discount="12.50"),
        ]
        own = [NaiveCustomer(client.id, Decimal(300)) for client in self.clients]
        own[1] = NaiveCustomer(
            self.clients[1].id, Decimal(500), discount=Decimal("12.5"), contract={self.skus[1]: CONTRACT}
        )
        contract = {"customer_id": own[1].id, "sku": self.skus[1], "single_unit_cost": str(CONTRACT)}
        shop.must_load("contract-prices", [contract])
        names = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
        prices = [
            {"price_list": "default", "sku": sku} | dict(zip(names, map(str, cost), strict=True))
            for sku, cost in zip(self.skus, COSTS, strict=True)
        ]
        shop.must_load("price-list", prices)
        products = [
            NaiveProduct(sku, cost, weight, purchase, 6, 6)
            for sku, cost, weight, purchase in zip(self.skus, COSTS, WEIGHTS, PURCHASE, strict=True)
        ]
        self.books = NaiveDesk(products, own)
        self.refresh()
        self.people: list[Person] = []
        for client in self.clients:
            self.employ(client.id, is_owner=True)
            self.employ(client.id, is_owner=False)
        self.member = staff_member(shop, self.office.url, "administrator")
        self.signed_in_at: dict[int, object] = {}
        self.mark = log_since(shop, (0, 0))[1]

    @classmethod
    def summary(cls) -> str:
        """How often each step was taken and rejected, in lines."""
        names = sorted(cls.taken | cls.rejected)
        return "".join(f"{name:26} taken {cls.taken[name]:5}, rejected {cls.rejected[name]:5}\n" for name in names)

    @property
    def shop(self) -> Service:
        return self.office.service

    def employ(self, customer: int, *, is_owner: bool) -> None:
        """Add a customer's user."""
        person = customer_user(self.shop, customer, "owner" if is_owner else "buyer")
        self.people.append(person)
        self.books.users[person.id] = NaiveUser(person.id, customer, is_owner)

    def enter(self, person: Person) -> Person:
        """Sign a person in again if the session may have ended since, because of the time or a block."""
        since = (self.now, [customer.blocked for customer in self.books.customers.values()])
        if self.signed_in_at.get(id(person)) != since:
            signed_in_again(self.shop, person)
            self.signed_in_at[id(person)] = since
        return person

    def refresh(self) -> None:
        self.shop.refresh()
        self.office.refresh()

    def take(self, response: httpx2.Response, work: Callable[[NaiveDesk], Done | None]) -> bool:
        """Do in the books what a request has done; it may fail only with a status that the books expect."""
        outcomes = self.taken if response.is_success else self.rejected
        outcomes[work.__qualname__.split(".")[1]] += 1
        before, tried = self.books, copy.deepcopy(self.books)
        done, statuses = None, set(SUCCESS)
        try:
            done = work(tried)
        except RejectedError as rejected:
            statuses = rejected.statuses
        else:
            self.books = tried
        assert response.status_code in statuses, (response.status_code, statuses, text_of(response)[:3000])
        found, self.mark = log_since(self.shop, self.mark)
        expected = sorted(
            [("event", event) for event, _ in done or () if event]
            + [("audit", action) for _, action in done or () if action]
        )
        assert sorted(found) == expected, (sorted(found), expected)
        assert_books_agree(self.shop, self.books)
        assert_desk_agrees(self.shop, self.books)
        today = uk_day(self.now)
        for customer in self.books.customers:
            if before.account(customer, today) != self.books.account(customer, today):
                assert_statement_agrees(self.shop, self.steps, self.books, customer)
        return response.is_success

    def add(self, books: NaiveDesk, order: NaiveOrder, response: httpx2.Response) -> None:
        """Take the ids of a new order from the response."""
        assert response.is_success, response.text
        shown = response.json()
        order.code = shown["confirmation_code"]
        for line, item in zip(order.lines, shown["items"], strict=True):
            line.id = item["id"]
        books.orders[order.code] = order

    def pick(self, likely: Sequence[Found], every: Sequence[Found], number: int) -> Found:
        """One of those with which the step should succeed, or now and then any other."""
        chosen = every if number == 15 or not likely else likely
        return chosen[number % len(chosen)]

    def new_numbers(self, statement: LiteralString, known: Container[int]) -> list[int]:
        """The numbers of the customers' documents that the books do not know yet."""
        found = rows(self.shop, statement, list(self.books.customers))
        return [number for (number,) in found if number not in known]

    def order(self, number: int, likely: Callable[[NaiveOrder], bool]) -> NaiveOrder:
        every = list(self.books.orders.values())
        return self.pick([order for order in every if likely(order)], every, number)

    def sold(self, wanted: Sequence[tuple[int, int]]) -> list[tuple[str, int]]:
        return [(self.skus[sku], quantity) for sku, quantity in wanted]

    @property
    def now(self) -> datetime:
        return self.shop.clock.now()
