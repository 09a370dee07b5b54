"""A naive twin of what people do on pages: baskets, requests for approval, requests about orders, and goods in.

Written from the rules of the trade alone, as `support/naive_orders.py` is.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

from support.naive_money import NaiveBooks
from support.naive_orders import NaiveOrder, reject_if

MOST_OPEN_REQUESTS = 50
Items = Sequence[tuple[str, int]]


@dataclass
class NaiveBasketLine:
    """Units of a product; `place` is greater than that of every line that was there before."""

    place: int
    sku: str
    quantity: int


@dataclass
class NaiveUser:
    """A customer's user, who orders; an owner also decides about requests for approval."""

    id: int
    customer: int
    is_owner: bool
    limit: Decimal | None = None
    basket: list[NaiveBasketLine] = field(default_factory=list)

    @property
    def last(self) -> int:
        return max((line.place for line in self.basket), default=0)

    def may_confirm(self, gross: Decimal) -> bool:
        return self.is_owner or self.limit is None or gross <= self.limit


class NaiveForm(NamedTuple):
    """What the form of an order shows of a basket: its lines, and the place of the last one."""

    lines: list[tuple[str, int]]
    seen: int


@dataclass
class NaiveApproval:
    """A request of a user to confirm an order with a shipping method."""

    user: int
    method: int
    state: str = "waiting"


@dataclass
class NaiveRequest:
    """What a customer's user asks about an order."""

    code: str
    kind: str
    items: list[tuple[int, int]]
    is_open: bool = True


@dataclass
class NaiveList:
    """Products that a user keeps to order from; a shared list is for all users of the customer."""

    user: int
    customer: int
    is_shared: bool
    units: dict[str, int]

    def is_for(self, user: NaiveUser) -> bool:
        return self.customer == user.customer and (self.is_shared or self.user == user.id)


class NaiveDesk(NaiveBooks):
    """The books of the reseller, with the people who use the pages."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)
        self.users: dict[int, NaiveUser] = {}
        self.places = 0
        self.in_baskets: dict[str, int] = {}  # the users who made orders that have not left their baskets, by code
        self.approvals: dict[str, NaiveApproval] = {}
        self.requests: dict[int, NaiveRequest] = {}
        self.deliveries: dict[tuple[str, date], int] = {}
        self.lists: dict[int, NaiveList] = {}

    def sign_in(self, user: NaiveUser) -> None:
        """Nobody of a blocked customer may open a page."""
        reject_if(s403=self.customers[user.customer].blocked)

    # Baskets

    def form(self, user: NaiveUser) -> NaiveForm:
        return NaiveForm([(line.sku, line.quantity) for line in user.basket], user.last)

    def put(self, user: NaiveUser, items: Items) -> None:
        """Add units to the basket."""
        for sku, quantity in items:
            line = next((line for line in user.basket if line.sku == sku), None)
            if line is None:
                self.places += 1
                user.basket.append(NaiveBasketLine(self.places, sku, quantity))
            else:
                line.quantity += quantity

    def merge(self, user: NaiveUser, lines: Items, seen: int) -> tuple[list[tuple[str, int]], bool]:
        """The lines of a form with those that came into the basket since it was shown; whether there are any."""
        own = {sku for sku, _ in lines}
        new = [(line.sku, line.quantity) for line in user.basket if line.place > seen and line.sku not in own]
        return [*lines, *new], bool(new)

    def save(self, user: NaiveUser, lines: Items) -> None:
        """Have the basket contain these lines and nothing else; a line that stays keeps its place."""
        wanted = dict(lines)
        user.basket = [line for line in user.basket if line.sku in wanted]
        for line in user.basket:
            line.quantity = wanted.pop(line.sku)
        self.put(user, list(wanted.items()))

    def take_out(self, order: NaiveOrder) -> None:
        """Take what was ordered out of the basket of who made the order, once.

        What a quote asks for left it when the quote was requested, and what a program orders was in none.
        """
        if order.code not in self.in_baskets:
            return
        user = self.users[self.in_baskets.pop(order.code)]
        units: Counter[str] = Counter()
        for line in order.lines:
            units[line.sku] += line.wanted
        for basket_line in user.basket:
            basket_line.quantity -= units[basket_line.sku]
        user.basket = [line for line in user.basket if line.quantity > 0]

    def confirm(self, code: str, now: datetime, method: int | None = None, *, override: bool = False) -> bool:
        new = super().confirm(code, now, method, override=override)
        if new:
            self.take_out(self.orders[code])
        return new

    def confirm_as_user(self, user: NaiveUser, code: str, now: datetime, method: int | None) -> bool:
        """Confirm an order on its page; whether it was not confirmed before."""
        new = self.confirm(code, now, method)
        reject_if(s403=new and not user.may_confirm(self.orders[code].gross))
        return new

    def withdraw(self, code: str, now: datetime) -> None:
        """Discard an order that was not placed."""
        reject_if(s409=self.orders[code].number > 0)
        self.cancel(code, now)

    # Lists

    def save_list(self, user: NaiveUser, list_id: int, items: Items, *, is_shared: bool) -> None:
        """Have a list contain these products, in this order, and belong to this user if it is not shared."""
        units: Counter[str] = Counter()
        for sku, quantity in items:
            units[sku] += quantity
        self.lists[list_id] = NaiveList(user.id, user.customer, is_shared, dict(units))

    def list_of(self, user: NaiveUser, list_id: int) -> NaiveList:
        found = self.lists[list_id]
        reject_if(s404=not found.is_for(user))
        return found

    # Approvals

    def ask_approval(self, user: NaiveUser, code: str, now: datetime, method: int | None) -> None:
        order = self.orders[code]
        reject_if(s409=order.state != "pending" or order.expires_at is None or order.has_expired(now))
        chosen = order.method if method is None else method
        reject_if(
            s412=chosen is None,
            s400=chosen is not None and chosen not in order.options,
            s409=code in self.approvals and self.approvals[code].state != "declined",
        )
        assert chosen is not None
        self.approvals[code] = NaiveApproval(user.id, chosen)
        self.take_out(order)

    def waiting(self, code: str) -> NaiveApproval:
        reject_if(s404=code not in self.approvals)
        order = self.orders[code]
        ended = order.number > 0 or order.state == "cancelled" or (order.kind == "quote" and order.state == "expired")
        reject_if(s409=self.approvals[code].state != "waiting" or ended)
        return self.approvals[code]

    def approve(self, code: str, now: datetime) -> bool:
        """Confirm what a user asked for; whether it was not confirmed before."""
        approval = self.waiting(code)
        new = self.confirm(code, now, approval.method)
        approval.state = "approved"
        return new

    def decline_approval(self, code: str, now: datetime) -> bool:
        """Decline what a user asked for; whether an order was cancelled."""
        approval, order = self.waiting(code), self.orders[code]
        approval.state = "declined"
        cancels = order.kind == "order" and order.state == "pending" and not order.has_expired(now)
        if cancels:
            self.cancel(code, now)
        return cancels

    def price_again(self, code: str, now: datetime) -> NaiveOrder:
        """A new order at today's prices for one that has expired, which waits in its place; without ids."""
        approval, order = self.waiting(code), self.orders[code]
        reject_if(s409=order.kind == "quote" or not order.has_expired(now))
        made = self.create(order.customer, [(line.sku, line.wanted) for line in order.lines], now)
        assert approval.method in made.options  # its units are the same
        return made

    # Requests about orders

    def ask(self, user: NaiveUser, request_id: int, request: NaiveRequest, text: str) -> None:
        order = self.orders[request.code]
        reject_if(s404=not order.number)
        for line_id, units in request.items:
            line = order.line(line_id)
            assert line is not None
            to_come = 0 if order.state == "cancelled" else line.wanted - line.dispatched
            most = {"cancel": to_come, "return": line.dispatched - line.returned}
            reject_if(s400=not 0 < units <= most.get(request.kind, 0))
        reject_if(s400=not request.items and (request.kind != "message" or not text))
        waiting = [each for each in self.requests.values() if self.orders[each.code].customer == user.customer]
        reject_if(s409=sum(each.is_open for each in waiting) >= MOST_OPEN_REQUESTS)
        self.requests[request_id] = request

    def answer(self, request_id: int, text: str) -> None:
        request = self.requests[request_id]
        reject_if(s409=not request.is_open, s400=not text)
        request.is_open = False

    # The warehouse

    def receive_goods(self, sku: str, day: date, expected: int, units: int | None, *, ends: bool) -> None:
        """Book in what came of a delivery of which a page said that so many units are expected."""
        reject_if(s400=(units is None and not ends) or (sku, day) not in self.deliveries)
        reject_if(s409=self.deliveries[sku, day] != expected)
        came = units or 0
        rest = 0 if ends else max(expected - came, 0)
        self.deliveries[sku, day] = rest
        if not rest:
            del self.deliveries[sku, day]
        if came:
            self.adjust(sku, came)

    def count(self, counted: Iterable[tuple[str, int]]) -> bool:
        """Set the units on hand; whether any product had other ones."""
        differing = []
        for sku, units in counted:
            available, allocated, _ = self.level(sku)
            if units == available + allocated:
                continue
            reject_if(s409=units < allocated)
            differing.append((sku, units - available - allocated))
        for sku, change in differing:
            self.adjust(sku, change)
        return bool(differing)
