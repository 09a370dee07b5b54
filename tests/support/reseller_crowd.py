"""Clients of the reseller that take random steps on the same few customers, orders and products at once."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

import httpx2

from support.backoffice import BackOfficeSite, backoffice_of
from support.events import assert_contiguous, number_events
from support.orders import faults_in_the_books, outstanding, rows, sell
from support.reseller_checks import pounds
from support.reseller_steps import ResellerSteps, confirm_as_customer, order_as_customer, quote_as_customer
from support.reseller_twin import SELLER
from support.service import MORNING, Customer, Service
from support.shop import NEXT_DAY, STANDARD

CLIENTS, STEPS = 6, 45
LIMIT = Decimal(400)
COUNTED = ("CROWD-1", "CROWD-2")  # whose stock only adjustments change, by units
SKUS = (*COUNTED, "CROWD-3")
STOCK = 12

# The events and audit entries of a step that changes something.
RECORDED = {
    "price": ("quote.priced", "quote.price"),
    "decline": ("quote.declined", "quote.decline"),
    "amend": ("order.amended", "order.amend"),
    "dispatch": ("order.dispatched", "order.dispatch"),
    "open_return": ("order.returned", "return.open"),
    "receive": ("order.returned", "return.receive"),
    "adjust": (None, "stock.adjust"),
    "stock": ("import.applied", "import.apply"),
}


@dataclass
class Crowd:
    """What all clients know: documents by number, responses by step, and the units that were received."""

    careful: Customer  # whose payments are never reversed, so that it never owes more than its limit
    other: Customer
    codes: list[str] = field(default_factory=list)
    quotes: list[str] = field(default_factory=list)
    invoices: list[int] = field(default_factory=list)
    payments: list[int] = field(default_factory=list)
    returns: list[str] = field(default_factory=list)
    statuses: list[tuple[str, int]] = field(default_factory=list)
    received: list[tuple[str, int]] = field(default_factory=list)

    def succeeded(self) -> Counter[str]:
        return Counter(step for step, status in self.statuses if status < 300)


@dataclass
class Client:
    """A client with a connection of its own, which chooses steps by its own random numbers."""

    crowd: Crowd
    steps: ResellerSteps
    random: Random

    def run(self) -> None:
        for step in self.random.choices(*zip(*self.weighted(), strict=True), k=STEPS):
            step()

    def weighted(self) -> list[tuple[Callable[[], None], int]]:
        return [
            (self.buy, 6),
            (self.quote, 2),
            (self.price, 2),
            (self.decline, 1),
            (self.confirm, 4),
            (self.amend, 5),
            (self.cancel, 3),
            (self.dispatch, 8),
            (self.invoice, 6),
            (self.pay, 5),
            (self.reverse, 2),
            (self.credit, 4),
            (self.send_back, 4),
            (self.receive, 4),
            (self.close_return, 1),
            (self.adjust, 3),
            (self.stock, 2),
        ]

    def sent(self, step: str, response: httpx2.Response) -> Any:
        """A successful response's body."""
        self.crowd.statuses.append((step, response.status_code))
        return response.json() if response.is_success else None

    def customer(self) -> Customer:
        return self.random.choice((self.crowd.careful, self.crowd.other))

    def items(self) -> list[tuple[str, int]]:
        return [(sku, self.random.randint(1, 4)) for sku in self.random.sample(SKUS, self.random.randint(1, 2))]

    def code(self) -> str:
        return self.random.choice(self.crowd.codes)

    def shown(self) -> dict[str, Any]:
        """An order as it is just now; others may change it before the next request."""
        found: dict[str, Any] = self.steps.staff.get(f"/api/order/{self.code()}").json()
        return found

    def buy(self) -> None:
        customer, at_once = self.customer(), self.random.random() < 0.7
        if self.random.random() < 0.5:
            response = order_as_customer(customer, self.items(), STANDARD, at_once=at_once)
        else:
            response = self.steps.order(customer.id, self.items(), NEXT_DAY, override=False, at_once=at_once)
        if made := self.sent("order", response):
            self.crowd.codes.append(made["confirmation_code"])

    def quote(self) -> None:
        if made := self.sent("quote", quote_as_customer(self.customer(), self.items(), STANDARD)):
            self.crowd.codes.append(made["confirmation_code"])
            self.crowd.quotes.append(made["confirmation_code"])

    def price(self) -> None:
        if self.crowd.quotes:
            code = self.random.choice(self.crowd.quotes)
            self.sent("price", self.steps.price(code, {}, Decimal(10), {}, force=False))

    def decline(self) -> None:
        if self.crowd.quotes:
            self.sent("decline", self.steps.decline(self.random.choice(self.crowd.quotes)))

    def confirm(self) -> None:
        code = self.code()
        if self.random.random() < 0.3:
            self.sent("confirm", confirm_as_customer(self.customer(), code, None))
        else:
            self.sent("confirm", self.steps.confirm(code, None, override=False))

    def amend(self) -> None:
        order = self.shown()
        item = self.random.choice(order["items"])
        changes: list[dict[str, Any]] = [{"id": item["id"], "quantity": self.random.randint(0, 5)}]
        if self.random.random() < 0.3:
            changes.append({"sku": self.random.choice(SKUS), "quantity": 2})
        name = f"PO-{self.random.getrandbits(64):x}"  # so that each amendment changes something
        self.sent("amend", self.steps.amend(order["confirmation_code"], changes, reference=name))

    def cancel(self) -> None:
        order = self.shown()
        item = self.random.choice(order["items"])
        items = None if self.random.random() < 0.3 else [(item["id"], 1)]
        self.sent("cancel", self.steps.cancel(order["confirmation_code"], items))

    def dispatch(self) -> None:
        order = self.shown()
        item = self.random.choice(order["items"])
        items = None if self.random.random() < 0.6 else [(item["id"], 1)]
        self.sent("dispatch", self.steps.dispatch(order["confirmation_code"], items))

    def invoice(self) -> None:
        if made := self.sent("invoice", self.steps.invoice(self.code(), part=self.random.random() < 0.8)):
            self.crowd.invoices.extend(made["invoices"][-1:])

    def pay(self) -> None:
        amount = Decimal(self.random.randint(100, 6000)) / 100
        careful, refund = self.random.random() < 0.5, self.random.random() < 0.2
        if careful and self.crowd.invoices and not refund:
            self.sent("pay", self.steps.pay(amount, invoice=self.random.choice(self.crowd.invoices)))
            return
        whose = self.crowd.careful if careful else self.crowd.other
        response = self.steps.pay(amount, customer=whose.id, method="refund" if refund else "card")
        if (made := self.sent("pay", response)) and not careful:
            self.crowd.payments.append(made["id"])

    def reverse(self) -> None:
        if self.crowd.payments:
            self.sent("reverse", self.steps.reverse(self.random.choice(self.crowd.payments)))

    def credit(self) -> None:
        if self.crowd.invoices:
            number = self.random.choice(self.crowd.invoices)
            lines = self.steps.staff.get(f"/api/invoice/{number}").json()["lines"]
            chosen = [(self.random.choice(lines)["item_id"], 1)]
            net = Decimal(self.random.randint(1, 900)) / 100 if self.random.random() < 0.4 else None
            self.sent("credit", self.steps.credit(number, lines=[] if net else chosen, net=net))

    def send_back(self) -> None:
        order = self.shown()
        item = self.random.choice(order["items"])
        if made := self.sent("open_return", self.steps.open_return(order["confirmation_code"], [(item["id"], 1)])):
            self.crowd.returns.append(made["number"])

    def receive(self) -> None:
        if self.crowd.returns:
            number = self.random.choice(self.crowd.returns)
            [item] = self.steps.staff.get(f"/api/return/{number}").json()["items"]
            good = self.random.randint(0, 1)
            received = [(item["id"], good, 1 - good)]
            self.sent("receive", self.steps.receive(number, received, credit=self.random.random() < 0.6))

    def close_return(self) -> None:
        if self.crowd.returns:
            self.sent("close_return", self.steps.close_return(self.random.choice(self.crowd.returns)))

    def adjust(self) -> None:
        sku, change = self.random.choice(COUNTED), self.random.choice((-2, -1, 1, 2, 3))
        if self.sent("adjust", self.steps.adjust(sku, change)):
            self.crowd.received.append((sku, change))

    def stock(self) -> None:
        self.sent("stock", self.steps.stock(SKUS[-1], self.random.randint(0, 8)))


def _run(office: BackOfficeSite, crowd: Crowd, seed: int) -> None:
    """Let all clients take their steps, beside the sequencer; the careful customer never exceeds its limit."""
    clients = [
        Client(crowd, ResellerSteps(office.caller()), Random(seed * 100 + number))  # noqa: S311 a test's choices
        for number in range(CLIENTS)
    ]
    with ThreadPoolExecutor(CLIENTS) as threads:
        running = [threads.submit(client.run) for client in clients]
        while wait(running, timeout=0.05).not_done:
            number_events(office.service)
            assert outstanding(office.service, crowd.careful) <= LIMIT
        for each in running:
            each.result()


def assert_crowd_agrees(shop: Service, seed: int) -> None:
    """Let clients take steps on a filled shop; afterwards stock, money, orders, documents and logs agree."""
    for sku, cost in zip(SKUS, ("9.99", "0.35", "4.20"), strict=True):
        sell(shop, sku, cost, available=STOCK, weight_kg="0.33")
    crowd = Crowd(shop.customer(credit=str(LIMIT)), shop.customer(credit=str(LIMIT)))
    with backoffice_of(shop, **SELLER) as office:
        for customer in (crowd.careful, crowd.other):
            placed = order_as_customer(customer, [(sku, 3) for sku in SKUS], STANDARD, at_once=True)
            crowd.codes.append(placed.json()["confirmation_code"])
            crowd.statuses.append(("order", placed.status_code))
        _run(office, crowd, seed)
        steps = ResellerSteps(office.caller())
        for customer in (crowd.careful, crowd.other):
            _assert_statement_adds_up(shop, steps, customer)
    assert [found for found in crowd.statuses if found[1] >= 500] == []
    assert faults_in_the_books(shop) == {}
    assert outstanding(shop, crowd.careful) <= LIMIT
    assert rows(shop, "select deadlocks from pg_stat_database where datname = current_database()") == [(0,)]
    _assert_stock_is_what_came_less_what_went(shop, crowd)
    _assert_logged_once(shop, crowd)


def _assert_statement_adds_up(shop: Service, steps: ResellerSteps, customer: Customer) -> None:
    shown = steps.statement(customer.id)
    due = sum(pounds(amount) for amount in shown["ageing"].values())
    [(expected, unallocated)] = rows(
        shop,
        "select (select coalesce(sum(due), 0) from invoice_balance where customer_id = %s),"
        " (select coalesce(sum(unallocated), 0) from account_balance where customer_id = %s)",
        customer.id,
        customer.id,
    )
    assert (due, pounds(shown["unallocated"])) == (expected, unallocated)
    assert pounds(shown["closing_balance"]) == due - unallocated


def _assert_stock_is_what_came_less_what_went(shop: Service, crowd: Crowd) -> None:
    found = rows(
        shop,
        "select p.sku, s.available + s.allocated, coalesce(sum(l.dispatched), 0), coalesce(sum(r.restocked), 0)"
        " from stock_level s join product p on p.id = s.product_id left join order_line l on l.product_id = p.id"
        " left join lateral (select sum(restocked) as restocked from return_line where line_id = l.id) as r on true"
        " where p.sku = any(%s) group by 1, 2 order by 1",
        list(COUNTED),
    )
    for sku, on_hand, dispatched, restocked in found:
        received = STOCK + sum(units for which, units in crowd.received if which == sku)
        assert on_hand == received - dispatched + restocked, sku


def _assert_logged_once(shop: Service, crowd: Crowd) -> None:
    """Each change has one event and one audit entry, and a step without a change has none."""
    number_events(shop)
    assert_contiguous(shop)
    [counts] = rows(
        shop,
        "select (select count(*) from orders where kind = 'order'), (select count(*) from orders where kind = 'quote'),"
        " (select count(*) from orders where number is not null), (select count(*) from invoice),"
        " (select count(*) from credit_note), (select count(*) from payment),"
        " (select count(*) from payment where reversed_at is not null)",
    )
    documents = (
        ("order.created", "order.create"),
        ("quote.requested", "quote.request"),
        ("order.confirmed", "order.confirm"),
        ("invoice.issued", "invoice.issue"),
        ("credit_note.issued", "credit_note.issue"),
        ("payment.recorded", "payment.record"),
        ("payment.reversed", "payment.reverse"),
    )
    events: Counter[str] = Counter()
    actions: Counter[str] = Counter()
    for (event, action), count in zip(documents, counts, strict=True):
        events[event] += count
        actions[action] += count
    succeeded = crowd.succeeded()
    assert (succeeded["order"], succeeded["quote"]) == counts[:2]
    for step, (type_, action) in RECORDED.items():
        actions[action] += succeeded[step]
        if type_ is not None:
            events[type_] += succeeded[step]
    [(closed, by_credit)] = rows(
        shop,
        "select (select count(*) from order_return where state = 'closed'),"
        " (select count(*) from audit_entry cross join jsonb_array_elements(after -> 'closed_returns'))",
    )
    events["order.returned"] += closed
    actions["return.close"] += closed - by_credit  # the credit note's entry says it
    found = Counter(dict(rows(shop, "select type, count(*) from event where occurred_at = %s group by 1", MORNING)))
    entries = Counter(dict(rows(shop, "select action, count(*) from audit_entry where at = %s group by 1", MORNING)))
    del entries["token.create"]
    cancelled = [found.pop("order.cancelled", 0) + found["quote.declined"] - succeeded["decline"]]
    events["quote.declined"] = found["quote.declined"]
    cancelled.append(entries.pop("order.cancel", 0) + entries["quote.decline"] - succeeded["decline"])
    actions["quote.decline"] = entries["quote.decline"]
    assert cancelled == [succeeded["cancel"]] * 2
    assert found == +events
    assert entries == +actions
