"""A state machine of every step of the reseller's side, over HTTP, beside a naive twin that keeps the same books."""

from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import httpx2
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from support.backoffice import BackOfficeSite
from support.desk_history import DeskHistory
from support.naive_desk import NaiveDesk
from support.naive_money import NaivePayment, NaiveReturn
from support.naive_orders import UNKNOWN, RejectedError, uk_day
from support.orders import faults_in_the_books
from support.reseller_checks import assert_statement_agrees
from support.reseller_steps import confirm_as_customer, order_as_customer, quote_as_customer
from support.reseller_twin import (
    UNKNOWN_NUMBER,
    Done,
    can_be_billed,
    can_be_confirmed,
    can_come_back,
    can_leave,
    is_open,
    is_pending,
    is_quote,
    is_unmoved,
    some_order,
)
from support.shop import EUROPE, NEXT_DAY, STANDARD
from tradecounter.orders.cancel_order import expire_orders

# What the books of a return say happened: the event and the audit entry.
AFTER_THE_SALE = {
    "credit": ("credit_note.issued", "credit_note.issue"),
    "close": ("order.returned", "return.close"),
    "close by credit": ("order.returned", ""),  # the credit note's entry says it
}

which = st.integers(0, 15)
units = st.integers(1, 5)
methods = st.sampled_from((None, STANDARD, STANDARD, NEXT_DAY))
items = st.lists(st.tuples(st.integers(0, 1), units), min_size=1, max_size=3)
flags = st.booleans()
seldom = st.integers(0, 7).map(lambda number: number == 7)
pounds = st.decimals(min_value="0.01", max_value=90, places=2)
costs = st.sampled_from((None, None, None, Decimal("5.55"), Decimal("0.40")))


class History(DeskHistory):
    """Every step, as a rule."""

    @initialize()
    def begin(self) -> None:
        """Begin with one of everything, so that few steps lead to any state."""
        self.buy(0, [(0, 3), (1, 2)], STANDARD, by_customer=True, at_once=True, override=False)
        self.dispatch(0, 0, None)
        self.invoice(0, part=True)
        self.buy(1, [(0, 5), (1, 3)], NEXT_DAY, by_customer=False, at_once=True, override=False)
        self.buy(0, [(1, 2)], None, by_customer=True, at_once=False, override=False)
        self.request_quote(1, [(0, 2)], STANDARD)
        self.pay(0, 0, Decimal(40), 1, "BACS 1", of_invoice=False, is_refund=False, force=False)
        self.send_back(0, 0, 2)
        self.import_prices(0, 950)
        self.begin_desk()

    @rule(customer=st.integers(0, 1), wanted=items, method=methods, by_customer=flags, at_once=flags, override=seldom)
    def buy(
        self,
        customer: int,
        wanted: list[tuple[int, int]],
        method: int | None,
        *,
        by_customer: bool,
        at_once: bool,
        override: bool,
    ) -> None:
        client, sold = self.clients[customer], self.sold(wanted)
        if by_customer:
            override = False
            response = order_as_customer(client, sold, method, at_once=at_once)
        else:
            response = self.steps.order(client.id, sold, method, override=override, at_once=at_once)

        def work(books: NaiveDesk) -> Done:
            self.admit(books, client.id, as_customer=by_customer)
            order = books.create(client.id, sold, self.now, method, override=override, at_once=at_once)
            self.add(books, order, response)
            if at_once:
                books.confirm(order.code, self.now, override=override)
                return [("order.created", "order.create"), ("order.confirmed", "order.confirm")]
            return [("order.created", "order.create")]

        self.take(response, work)

    @rule(customer=st.integers(0, 1), wanted=items, method=methods)
    def request_quote(self, customer: int, wanted: list[tuple[int, int]], method: int | None) -> None:
        client, sold = self.clients[customer], self.sold(wanted)
        response = quote_as_customer(client, sold, method)

        def work(books: NaiveDesk) -> Done:
            self.admit(books, client.id, as_customer=True)
            self.add(books, books.create(client.id, sold, self.now, method, quote=True), response)
            return [("quote.requested", "quote.request")]

        self.take(response, work)

    def admit(self, books: NaiveDesk, customer: int, *, as_customer: bool) -> None:
        if as_customer and books.customers[customer].blocked:
            raise RejectedError(401)

    @precondition(some_order(can_be_confirmed))
    @rule(number=which, method=methods, by_customer=flags, override=seldom)
    def confirm(self, number: int, method: int | None, *, by_customer: bool, override: bool) -> None:
        order = self.order(number, can_be_confirmed)
        if by_customer:
            override = False
            client = next(client for client in self.clients if client.id == order.customer)
            response = confirm_as_customer(client, order.code, method)
        else:
            response = self.steps.confirm(order.code, method, override=override, kind=order.kind)

        def work(books: NaiveDesk) -> Done:
            self.admit(books, order.customer, as_customer=by_customer)
            new = books.confirm(order.code, self.now, method, override=override)
            return [("order.confirmed", "order.confirm")] if new else []

        self.take(response, work)

    @precondition(some_order(is_quote, is_pending))
    @rule(
        number=which,
        cost=costs,
        discount=st.sampled_from((None, Decimal("7.5"), Decimal(60))),
        carriage=st.sampled_from((None, None, Decimal("3.33"))),
        force=flags,
    )
    def price(
        self, number: int, cost: Decimal | None, discount: Decimal | None, carriage: Decimal | None, *, force: bool
    ) -> None:
        quotes = list(filter(is_quote, self.books.orders.values()))
        quote = self.pick(list(filter(is_pending, quotes)), quotes, number)
        by_sku = {} if cost is None else {self.skus[number % 2]: cost}
        by_method = {} if carriage is None else {NEXT_DAY: carriage}
        preview = self.steps.price(quote.code, by_sku, discount, by_method, force=force, dry_run=True)
        response = self.steps.price(quote.code, by_sku, discount, by_method, force=force)
        assert preview.json() == response.json()

        def work(books: NaiveDesk) -> Done:
            books.price(quote.code, self.now, by_sku, discount, by_method, force=force)
            return [("quote.priced", "quote.price")]

        self.take(response, work)

    @precondition(some_order(is_quote, is_pending))
    @rule(number=which)
    def decline(self, number: int) -> None:
        quotes = list(filter(is_quote, self.books.orders.values()))
        quote = self.pick(list(filter(is_pending, quotes)), quotes, number)

        def work(books: NaiveDesk) -> Done:
            books.cancel(quote.code, self.now, declines=True)
            return [("quote.declined", "quote.decline")]

        self.take(self.steps.decline(quote.code), work)

    @precondition(some_order(is_open))
    @rule(number=which, line=which, quantity=st.integers(0, 7), cost=costs, new=flags, override=seldom)
    def amend(self, number: int, line: int, quantity: int, cost: Decimal | None, *, new: bool, override: bool) -> None:
        order = self.order(number, is_open)
        changes: list[dict[str, Any]] = [{"id": order.lines[line % len(order.lines)].id, "quantity": quantity}]
        if new:
            changes.append({"sku": self.skus[line % 2], "quantity": max(quantity, 1)})
        if cost is not None:
            changes[-1]["unit_cost"] = cost
        self.try_amendment(order.code, changes, override=override)

    @precondition(some_order(is_unmoved))
    @rule(number=which, method=methods, move=st.sampled_from((None, False, True)), rename=flags)
    def readdress(self, number: int, method: int | None, move: bool | None, *, rename: bool) -> None:
        order = self.order(number, is_unmoved)
        if move and number % 4:
            method = EUROPE
        self.try_amendment(order.code, [], method, abroad=move, reference="PO-2" if rename else None)

    def try_amendment(
        self,
        code: str,
        changes: list[dict[str, Any]],
        method: int | None = None,
        *,
        abroad: bool | None = None,
        reference: str | None = None,
        override: bool = False,
    ) -> None:
        """Preview an amendment and make it."""
        preview, response = (
            self.steps.amend(
                code, changes, method, abroad=abroad, reference=reference, override=override, dry_run=dry_run
            )
            for dry_run in (True, False)
        )
        assert preview.status_code == response.status_code
        if response.is_success:
            assert without_new_ids(preview.json()) == without_new_ids(response.json())

        def work(books: NaiveDesk) -> Done:
            before = books.orders[code].amendments
            added = books.amend(code, changes, method, abroad=abroad, renamed=reference is not None, override=override)
            if added:
                assert response.is_success, response.text
                for line, item in zip(added, response.json()["items"][-len(added) :], strict=True):
                    line.id = item["id"]
            return [("order.amended", "order.amend")] * (books.orders[code].amendments - before)

        self.take(response, work)

    @precondition(some_order(is_open))
    @rule(number=which, line=which, quantity=st.none() | units)
    def cancel(self, number: int, line: int, quantity: int | None) -> None:
        order = self.order(number, is_open)
        items = None if quantity is None else [(order.lines[line % len(order.lines)].id, quantity)]

        def work(books: NaiveDesk) -> Done:
            books.cancel(order.code, self.now, items)
            if order.kind == "quote" and not order.is_confirmed:
                return [("quote.declined", "quote.decline")]
            return [("order.cancelled", "order.cancel")]

        self.take(self.steps.cancel(order.code, items), work)

    @precondition(some_order(can_leave))
    @rule(number=which, line=which, quantity=st.none() | units)
    def dispatch(self, number: int, line: int, quantity: int | None) -> None:
        order = self.order(number, can_leave)
        chosen = self.pick([each for each in order.lines if each.allocated], order.lines, line)
        if quantity is not None and line % 3 and chosen.allocated:
            quantity = min(quantity, chosen.allocated)
        items = None if quantity is None else [(chosen.id, quantity)]

        def work(books: NaiveDesk) -> Done:
            books.dispatch(order.code, items)
            return [("order.dispatched", "order.dispatch")]

        self.take(self.steps.dispatch(order.code, items), work)

    @precondition(some_order(can_be_billed))
    @rule(number=which, part=flags)
    def invoice(self, number: int, *, part: bool) -> None:
        order = self.order(number, can_be_billed)
        response = self.steps.invoice(order.code, part=part)
        issued = (response.json().get("invoices") or [UNKNOWN])[-1]

        def work(books: NaiveDesk) -> Done:
            new = books.invoice(order.code, issued, self.now, part=part)
            return [("invoice.issued", "invoice.issue")] if new else []

        self.take(response, work)

    @rule(
        number=which,
        customer=st.integers(0, 1),
        amount=pounds | st.none(),
        of_invoice=flags,
        is_refund=seldom,
        days=st.integers(0, 2),
        reference=st.sampled_from(("", "BACS 1", "BACS 2")),
        force=seldom,
    )
    def pay(
        self,
        number: int,
        customer: int,
        amount: Decimal | None,
        days: int,
        reference: str,
        *,
        of_invoice: bool,
        is_refund: bool,
        force: bool,
    ) -> None:
        invoices, whose = list(self.books.invoices.values()), self.clients[customer].id
        invoice = self.pick([i for i in invoices if i.due], invoices, number) if of_invoice and invoices else None
        if invoice is not None:
            whose = self.books.order_of(invoice.number).customer
        due = self.books.unallocated(whose) if is_refund else invoice.due if invoice else self.books.outstanding(whose)
        amount = (due or Decimal("7.50")) if amount is None else amount
        received_on, target = uk_day(self.now) - timedelta(days=days), None if invoice is None else invoice.number
        response = self.steps.pay(
            amount,
            customer=whose,
            invoice=target,
            reference=reference,
            received_on=received_on,
            method="refund" if is_refund else "bank_transfer",
            force=force,
        )
        payment = NaivePayment(response.json().get("id", UNKNOWN), whose, amount, received_on, reference, is_refund)

        def work(books: NaiveDesk) -> Done:
            books.pay(payment, target, force=force)
            return [("payment.recorded", "payment.record")]

        self.take(response, work)

    @precondition(lambda self: self.books.invoices)
    @rule(chosen=st.lists(st.tuples(which, pounds), min_size=1, max_size=3))
    def import_bank_file(self, chosen: list[tuple[int, Decimal]]) -> None:
        numbers = [*self.books.invoices, UNKNOWN_NUMBER]
        day = uk_day(self.now)
        lines = [(day, amount, f"Invoice {numbers[number % len(numbers)]}") for number, amount in chosen]
        response = self.steps.bank_file(lines)
        ids = self.new_numbers("select id from payment where customer_id = any(%s) order by id", self.books.payments)

        def work(books: NaiveDesk) -> Done:
            recorded = repeated = 0
            seen = Counter[tuple[date, Decimal, str]]()
            for line in lines:
                seen[line] += 1
                known = books.bank_lines.get((*line, seen[line]))
                if known is not None:
                    repeated += not books.payments[known].is_reversed
                    continue
                line_day, amount, reference = line
                invoice = books.invoices.get(int(reference.split()[1]))
                if invoice is None or not invoice.due:
                    continue
                whose = books.order_of(invoice.number).customer
                payment = NaivePayment(UNKNOWN, whose, amount, line_day, reference, is_refund=False)
                if not books.is_duplicate(payment):
                    payment.id = ids[recorded]
                    books.pay(payment, invoice.number)
                    books.bank_lines[*line, seen[line]] = payment.id
                    recorded += 1
            assert response.json()["recorded"] == recorded
            assert response.json()["repeated"] == repeated
            assert len(response.json()["unplaced"]) == len(lines) - recorded - repeated
            return [("payment.recorded", "payment.record")] * recorded + [(None, "bank_file.import")]

        self.take(response, work)

    @precondition(lambda self: not all(payment.is_reversed for payment in self.books.payments.values()))
    @rule(number=which)
    def reverse(self, number: int) -> None:
        payments = list(self.books.payments.values())
        payment = self.pick([each for each in payments if not each.is_reversed], payments, number)

        def work(books: NaiveDesk) -> Done:
            books.reverse(payment.id)
            return [("payment.reversed", "payment.reverse")]

        self.take(self.steps.reverse(payment.id), work)

    @precondition(lambda self: self.books.invoices)
    @rule(number=which, line=which, quantity=units, net=st.none() | pounds)
    def credit(self, number: int, line: int, quantity: int, net: Decimal | None) -> None:
        invoices = list(self.books.invoices.values())
        invoice = self.pick([each for each in invoices if each.left_net], invoices, number)
        chosen = invoice.lines[line % len(invoice.lines)]
        lines = [(chosen.line_id, min(quantity, chosen.units) if line % 4 else quantity)] if net is None else []
        if net is not None and line % 3 == 0:
            net = invoice.left_net or net
        response = self.steps.credit(invoice.number, lines=lines, net=net)
        note = response.json().get("number", UNKNOWN)

        def work(books: NaiveDesk) -> Done:
            steps = books.credit(invoice.number, note, lines=lines, net=net)
            return [("credit_note.issued", "credit_note.issue"), *[AFTER_THE_SALE[step] for step in steps]]

        self.take(response, work)

    @precondition(some_order(can_come_back))
    @rule(number=which, line=which, quantity=st.integers(1, 3))
    def send_back(self, number: int, line: int, quantity: int) -> None:
        order = self.order(number, can_come_back)
        chosen = self.pick([each for each in order.lines if each.dispatched], order.lines, line)
        response = self.steps.open_return(order.code, [(chosen.id, quantity)])
        number_of_return = str(response.json().get("number"))

        def work(books: NaiveDesk) -> Done:
            books.open_return(order.code, number_of_return, [(chosen.id, quantity)])
            return [("order.returned", "return.open")]

        self.take(response, work)

    def a_return(self, number: int, *states: str) -> tuple[str, NaiveReturn]:
        every = list(self.books.returns.items())
        return self.pick([each for each in every if each[1].state in states], every, number)

    @precondition(lambda self: any(found.state == "open" for found in self.books.returns.values()))
    @rule(number=which, restock=st.integers(0, 3), scrap=st.integers(0, 1), credit=flags)
    def receive(self, number: int, restock: int, scrap: int, *, credit: bool) -> None:
        name, found = self.a_return(number, "open")
        [(line_id, expected)] = found.lines.items()
        if number % 3:
            restock = min(restock, expected.quantity - expected.received - scrap)
        received = [(line_id, max(restock, 0), scrap)]
        response = self.steps.receive(name, received, credit=credit)
        notes = self.new_numbers(
            "select number from credit_note where customer_id = any(%s) order by number",
            {number for entries in self.books.entries.values() for kind, number, _ in entries if kind == "credit_note"},
        )

        def work(books: NaiveDesk) -> Done:
            steps = books.receive(name, received, notes if credit else None)
            return [("order.returned", "return.receive"), *[AFTER_THE_SALE[step] for step in steps]]

        self.take(response, work)

    @precondition(lambda self: any(found.state != "closed" for found in self.books.returns.values()))
    @rule(number=which)
    def close_return(self, number: int) -> None:
        name, _ = self.a_return(number, "open", "received")

        def work(books: NaiveDesk) -> Done:
            books.close_return(name)
            return [("order.returned", "return.close")]

        self.take(self.steps.close_return(name), work)

    @rule(sku=st.integers(0, 1), available=st.integers(0, 9))
    def import_stock(self, sku: int, available: int) -> None:
        def work(books: NaiveDesk) -> Done:
            books.stock(self.skus[sku], available)
            return [("import.applied", "import.apply")]

        self.take(self.steps.stock(self.skus[sku], available), work)

    @rule(sku=st.integers(0, 1), change=st.integers(-4, 6).filter(bool))
    def adjust_stock(self, sku: int, change: int) -> None:
        def work(books: NaiveDesk) -> Done:
            books.adjust(self.skus[sku], change)
            return [(None, "stock.adjust")]

        self.take(self.steps.adjust(self.skus[sku], change), work)

    @rule(sku=st.integers(0, 1), cost=st.integers(30, 1200))
    def import_prices(self, sku: int, cost: int) -> None:
        single = Decimal(cost) / 100
        prices = (single, single, single - Decimal("0.03"))
        response = self.steps.prices(self.skus[sku], prices)

        def work(books: NaiveDesk) -> Done:
            books.load_prices(response.json()["id"], self.skus[sku], prices, self.now)
            return [("import.applied", "import.apply")]

        self.take(response, work)
        self.refresh()

    @precondition(lambda self: self.books.imports)
    @rule(number=which, force=flags)
    def roll_back(self, number: int, *, force: bool) -> None:
        imports = list(self.books.imports)
        chosen = imports[number % len(imports)]

        def work(books: NaiveDesk) -> Done:
            books.roll_back(chosen, self.now, force=force)
            return [("import.rolled_back", "import.roll_back")]

        self.take(self.steps.roll_back(chosen, force=force), work)
        self.refresh()

    @rule(customer=st.integers(0, 1), limit=st.sampled_from((0, 150, 300, 600)), term_days=st.sampled_from((7, 30)))
    def change_terms(self, customer: int, limit: int, term_days: int) -> None:
        whose = self.clients[customer].id

        def work(books: NaiveDesk) -> Done:
            terms = books.customers[whose]
            if (terms.credit_limit, terms.term_days) == (Decimal(limit), term_days):
                return []
            terms.credit_limit, terms.term_days = Decimal(limit), term_days
            return [("customer.changed", "customer.edit")]

        self.take(self.steps.terms(whose, credit_limit=limit, term_days=term_days), work)

    @rule(customer=st.integers(0, 1), unblock=st.integers(0, 3).map(bool))
    def block(self, customer: int, *, unblock: bool) -> None:
        """Block a customer, or unblock it; one that is blocked is mostly unblocked."""
        whose = self.clients[customer].id
        lifts = unblock and self.books.customers[whose].blocked

        def work(books: NaiveDesk) -> Done:
            books.block(whose, blocked=not lifts)
            return [("customer.changed", "customer.unblock") if lifts else ("customer.blocked", "customer.block")]

        self.take(self.steps.unblock(whose) if lifts else self.steps.block(whose), work)
        self.refresh()

    @rule(hours=st.sampled_from((1, 1, 25, 8 * 24, 40 * 24)), expire=flags)
    def wait(self, hours: int, *, expire: bool) -> None:
        """Let time pass; the worker may mark what has expired, or not yet."""
        self.shop.clock.advance(timedelta(hours=hours))
        self.refresh()
        if expire:
            self.expire()

    def expire(self) -> None:
        self.shop.in_transaction(lambda tx: expire_orders(tx, self.now))

        def work(books: NaiveDesk) -> Done:
            return [
                ("quote.expired" if order.kind == "quote" else "order.expired", f"{order.kind}.expire")
                for order in books.expire(self.now)
            ]

        self.take(httpx2.Response(204), work)

    def teardown(self) -> None:
        """Compare all statements; leave nothing that expires during the next history."""
        for customer in self.books.customers:
            assert_statement_agrees(self.shop, self.steps, self.books, customer)
        self.shop.clock.advance(timedelta(days=8))
        self.shop.in_transaction(lambda tx: expire_orders(tx, self.now))
        assert faults_in_the_books(self.shop) == {}


def history_of(office: BackOfficeSite) -> type[History]:
    """The state machine of a shop, with counts of its own."""
    own = {"office": office, "staff": office.caller(), "taken": Counter(), "rejected": Counter()}
    return type("HistoryOfTheShop", (History,), own)


def without_new_ids(shown: dict[str, Any]) -> dict[str, Any]:
    """An amended order without what differs between a preview and the amendment."""
    items = [{name: value for name, value in item.items() if name != "id"} for item in shown["items"]]
    return {**shown, "items": items, "history": None}
