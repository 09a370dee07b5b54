"""The rules of people on pages: baskets, approvals, requests about orders, and goods in."""

import itertools
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from support import desk_steps as steps
from support.naive_desk import NaiveDesk, NaiveForm, NaiveRequest, NaiveUser
from support.naive_orders import UNKNOWN, NaiveOrder, reject_if, uk_day
from support.orders import rows
from support.pages import Person
from support.reseller_twin import BesideTwin, Done, can_be_confirmed, is_pending, is_quote, some_order
from support.shop import NEXT_DAY, STANDARD

ANSWER = "An answer"

_numbers = itertools.count(1)
which = st.integers(0, 15)
people = st.integers(0, 3)
units = st.integers(1, 5)
methods = st.sampled_from((None, STANDARD, STANDARD, NEXT_DAY))
wishes = st.lists(st.tuples(st.integers(0, 1), units), min_size=1, max_size=3)
flags = st.booleans()
seldom = st.integers(0, 7).map(lambda number: number == 7)


def key() -> str:
    """What tells a form that is sent twice from another one."""
    return f"{next(_numbers):032x}"


def is_any(_: NaiveOrder) -> bool:
    return True


def was_ordered(order: NaiveOrder) -> bool:
    return order.number > 0


class DeskHistory(BesideTwin):
    """Everything that people do on pages, as a rule. The first user of each customer is an owner, the other a buyer."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: dict[int, tuple[dict[str, str], NaiveForm]] = {}
        self.slips: list[dict[str, str]] = []

    def begin_desk(self) -> None:
        """Begin with an order that waits for approval and an approved one, a basket, a delivery and a request."""
        self.limit(0, Decimal(20))
        self.limit(1, Decimal(20))
        self.put(1, 0, 2)
        self.order_basket(0, stale=False, quote=False, twice=False)
        self.ask_approval(1, STANDARD, as_owner=False)
        self.put(3, 1, 4)
        self.order_basket(1, stale=False, quote=False, twice=False)
        self.ask_approval(1, STANDARD, as_owner=False)
        self.approve(1, as_owner=True, also_ended=False)
        self.put(3, 1, 4)
        self.create_list(3, [(0, 2), (1, 3)], shared=True)
        self.expect_delivery(0, 4, 3)
        self.ask(0, 0, "message", 0, ANSWER, as_owner=False)

    def user(self, place: int) -> tuple[Person, NaiveUser]:
        person = self.people[place]
        return self.enter(person), self.books.users[person.id]

    def decides(self, user: NaiveUser) -> None:
        """Only owners decide about requests for approval."""
        reject_if(s403=not user.is_owner)

    def user_of(self, order: NaiveOrder, *, as_owner: bool) -> tuple[Person, NaiveUser]:
        place = next(place for place, client in enumerate(self.clients) if client.id == order.customer)
        return self.user(2 * place + (not as_owner))

    # Baskets

    @rule(who=people, sku=st.integers(0, 1), quantity=units, twice=flags)
    def put(self, who: int, sku: int, quantity: int, *, twice: bool = False) -> None:
        person, user = self.user(who)
        response = steps.put_into_basket(person, self.skus[sku], quantity, key() if twice else "")

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            books.put(books.users[user.id], [(self.skus[sku], quantity)])
            return []

        self.take(response, work)

    def open_form(self, who: int, *, stale: bool) -> tuple[Person, NaiveUser, dict[str, str], NaiveForm]:
        """The form of an order as it is, or as a person had it in another window before."""
        person, user = self.user(who)
        if stale and user.id in self.forms:
            return person, user, *self.forms[user.id]
        fields, form = steps.basket_form(person), self.books.form(user)
        if fields:
            assert steps.lines_of_form(fields) == form.lines
            self.forms[user.id] = fields, form
        return person, user, fields, form

    @rule(who=people, line=which, quantity=st.integers(0, 12), step=st.sampled_from(("set", "remove", "quick")))
    def change_basket(self, who: int, line: int, quantity: int, step: str, *, stale: bool = False) -> None:
        person, user, fields, form = self.open_form(who, stale=stale)
        lines, changed = list(form.lines), dict(fields)
        place = line % max(len(lines), 1)
        if step == "quick":
            sku = self.skus[line % 2]
            changed |= {"quick-0-sku": sku, "quick-0-quantity": str(quantity + 1)}
            there = dict(lines)
            there[sku] = there.get(sku, 0) + quantity + 1
            lines = list(there.items())
        elif step == "remove":
            changed["remove"] = str(place)
            lines = [each for number, each in enumerate(lines) if number != place]
        elif lines:
            changed[f"items-{place}-quantity"] = str(quantity)
            lines[place] = (lines[place][0], quantity)
            lines = [each for each in lines if each[1]]
        response = steps.send_basket(person, changed, "update")

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            own = books.users[user.id]
            books.save(own, books.merge(own, lines, form.seen)[0])
            return []

        self.take(response, work)

    @precondition(lambda self: self.forms)
    @rule(who=people, line=which, quantity=st.integers(0, 12), step=st.sampled_from(("set", "remove", "quick")))
    def change_basket_in_another_window(self, who: int, line: int, quantity: int, step: str) -> None:
        self.change_basket(who, line, quantity, step, stale=True)

    @rule(number=which, stale=flags, quote=seldom, twice=flags)
    def order_basket(self, number: int, *, stale: bool, quote: bool, twice: bool) -> None:
        """Order what the form has; the basket stays as it is until the order is confirmed."""
        places = range(len(self.people))
        who = self.pick([place for place in places if self.user(place)[1].basket], places, number)
        person, user, fields, form = self.open_form(who, stale=stale)
        sent = steps.send_basket(
            person, fields | {"once": key() if twice else ""}, "quote" if quote else "order", twice=twice
        )
        response = steps.made_of(self.shop, sent)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            own = books.users[user.id]
            lines, has_new = books.merge(own, form.lines, form.seen)
            if has_new:  # it is shown first
                assert response.status_code == 200, response.text
                books.save(own, lines)
                return []
            reject_if(s400=not lines)
            # Who lacks the credit for an order can ask for a quote on the same page.
            order = books.create(user.customer, lines, self.now, quote=quote, override=quote)
            self.add(books, order, response)
            books.save(own, [] if quote else lines)
            if not quote:
                books.in_baskets[order.code] = user.id
            return [("quote.requested", "quote.request") if quote else ("order.created", "order.create")]

        self.take(response, work)

    @precondition(some_order(can_be_confirmed))
    @rule(number=which, method=methods, as_owner=flags)
    def confirm_on_page(self, number: int, method: int | None, *, as_owner: bool) -> None:
        order = self.order(number, can_be_confirmed)
        person, user = self.user_of(order, as_owner=as_owner)
        response = steps.confirm_on_page(person, order.code, method, order.kind)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            if was_ordered(order) and not is_quote(order):  # whatever was sent, the browser goes to the order's page
                return []
            new = books.confirm_as_user(books.users[user.id], order.code, self.now, method)
            return [("order.confirmed", "order.confirm")] if new else []

        self.take(response, work)

    @precondition(some_order(is_pending))
    @rule(number=which, as_owner=flags)
    def discard(self, number: int, *, as_owner: bool) -> None:
        order = self.order(number, is_pending)
        person, user = self.user_of(order, as_owner=as_owner)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            books.withdraw(order.code, self.now)
            return [("quote.declined", "quote.decline") if is_quote(order) else ("order.cancelled", "order.cancel")]

        self.take(steps.discard(person, order.code), work)

    # Lists

    @rule(who=people, wanted=wishes, shared=flags)
    def create_list(self, who: int, wanted: list[tuple[int, int]], *, shared: bool) -> None:
        person, user = self.user(who)
        response = steps.save_list(person, self.sold(wanted), "new", shared=shared)
        new = int(response.headers.get("Location", "0").rpartition("/")[2]) if response.status_code == 204 else UNKNOWN

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            books.save_list(user, new, self.sold(wanted), is_shared=shared)
            return [(None, "saved_list.create")]

        self.take(response, work)

    def a_list(self, number: int, user: NaiveUser) -> int:
        """A list that a user may use; now and then any other."""
        own = [list_id for list_id, found in self.books.lists.items() if found.is_for(user)]
        return self.pick(own, list(self.books.lists), number)

    @precondition(lambda self: self.books.lists)
    @rule(number=which, who=people, wanted=wishes, shared=flags)
    def change_list(self, number: int, who: int, wanted: list[tuple[int, int]], *, shared: bool) -> None:
        person, user = self.user(who)
        chosen = self.a_list(number, user)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            before = books.list_of(user, chosen)
            stored = (before.user, list(before.units.items()))
            books.save_list(user, chosen, self.sold(wanted), is_shared=shared)
            after = books.lists[chosen]
            return [] if (after.user, list(after.units.items())) == stored else [(None, "saved_list.change")]

        self.take(steps.save_list(person, self.sold(wanted), f"{chosen}/change", shared=shared), work)

    @precondition(lambda self: self.books.lists)
    @rule(number=which, who=people)
    def put_list(self, number: int, who: int) -> None:
        """Put all products of a list into the basket."""
        person, user = self.user(who)
        chosen = self.a_list(number, user)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            books.put(books.users[user.id], list(books.list_of(user, chosen).units.items()))
            return []

        self.take(steps.list_step(person, chosen, "basket"), work)

    @precondition(lambda self: self.books.lists)
    @rule(number=which, who=people)
    def delete_list(self, number: int, who: int) -> None:
        person, user = self.user(who)
        chosen = self.a_list(number, user)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            books.list_of(user, chosen)
            del books.lists[chosen]
            return [(None, "saved_list.delete")]

        self.take(steps.list_step(person, chosen, "delete"), work)

    # Approvals

    @rule(customer=st.integers(0, 1), limit=st.sampled_from((None, Decimal(20), Decimal("60.50"))))
    def limit(self, customer: int, limit: Decimal | None) -> None:
        """An owner gives the buyer another limit."""
        (owner, _), (_, buyer) = self.user(2 * customer), self.user(2 * customer + 1)
        response = steps.limit_user(owner, buyer.id, limit)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(buyer)
            if books.users[buyer.id].limit == limit:
                return []
            books.users[buyer.id].limit = limit
            return [(None, "user.change_role")]

        self.take(response, work)

    @precondition(some_order(can_be_confirmed))
    @rule(number=which, method=methods, as_owner=seldom)
    def ask_approval(self, number: int, method: int | None, *, as_owner: bool) -> None:
        approvals = self.books.approvals

        def is_open(order: NaiveOrder) -> bool:
            may_ask = order.code not in approvals or approvals[order.code].state == "declined"
            return can_be_confirmed(order) and may_ask

        order = self.order(number, is_open)
        person, user = self.user_of(order, as_owner=as_owner)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            books.ask_approval(user, order.code, self.now, method)
            return [("order.approval_requested", f"{order.kind}.request_approval")]

        self.take(steps.ask_approval(person, order.code, method), work)

    def asked(self, number: int, likely: Callable[[NaiveOrder], bool]) -> NaiveOrder:
        """An order for whose approval somebody asked: mostly one that waits and of which this is true."""
        approvals = self.books.approvals
        every = [order for order in self.books.orders.values() if order.code in approvals]
        waiting = [order for order in every if approvals[order.code].state == "waiting"]
        return self.pick([order for order in waiting if likely(order)] or waiting, every, number)

    @precondition(lambda self: self.books.approvals)
    @rule(number=which, as_owner=st.integers(0, 5).map(bool), also_ended=flags)
    def approve(self, number: int, *, as_owner: bool, also_ended: bool) -> None:
        order = self.asked(number, is_any if also_ended else is_pending)
        person, user = self.user_of(order, as_owner=as_owner)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            self.decides(user)
            new = books.approve(order.code, self.now)
            return [("order.confirmed", "order.confirm")] * new + [(None, "order.approve")]

        self.take(steps.decide(person, order.code, "approve"), work)

    @precondition(lambda self: self.books.approvals)
    @rule(number=which, as_owner=st.integers(0, 5).map(bool), also_ended=flags)
    def decline_approval(self, number: int, *, as_owner: bool, also_ended: bool) -> None:
        order = self.asked(number, is_any if also_ended else is_pending)
        person, user = self.user_of(order, as_owner=as_owner)

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            self.decides(user)
            cancels = books.decline_approval(order.code, self.now)
            entry = (None, f"{order.kind}.decline_approval")
            return [("order.cancelled", "order.cancel")] * cancels + [entry]

        self.take(steps.decide(person, order.code, "decline"), work)

    @precondition(lambda self: self.books.approvals)
    @rule(number=which, as_owner=st.integers(0, 5).map(bool), a_day_later=flags)
    def price_again(self, number: int, *, as_owner: bool, a_day_later: bool) -> None:
        """Price an order again, perhaps after the day for which its prices held."""
        if a_day_later:
            self.shop.clock.advance(timedelta(hours=25))
            self.refresh()
        order = self.asked(number, lambda order: order.has_expired(self.now))
        person, user = self.user_of(order, as_owner=as_owner)
        response = steps.made_of(self.shop, steps.decide(person, order.code, "price"))

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            self.decides(user)
            made = books.price_again(order.code, self.now)
            self.add(books, made, response)
            books.approvals[made.code] = books.approvals.pop(order.code)
            return [("order.created", "order.create"), (None, "order.price_again")]

        self.take(response, work)

    # Requests about orders

    @precondition(some_order(was_ordered))
    @rule(
        number=which,
        line=which,
        kind=st.sampled_from(("cancel", "cancel", "return", "return", "message")),
        quantity=st.integers(0, 4),
        text=st.sampled_from(("", "Please")),
        as_owner=flags,
    )
    def ask(self, number: int, line: int, kind: str, quantity: int, text: str, *, as_owner: bool) -> None:
        order = self.order(number, was_ordered)
        person, user = self.user_of(order, as_owner=as_owner)
        chosen = order.lines[line % len(order.lines)].id
        [(name,)] = rows(
            self.shop,
            "select coalesce(order_reference, confirmation_code) from orders where confirmation_code = %s",
            order.code,
        )
        response = steps.ask(person, name, kind, [(chosen, quantity)], text)
        found = self.new_numbers(
            "select r.id from customer_request r join orders o on o.id = order_id where customer_id = any(%s)",
            self.books.requests,
        )
        request = NaiveRequest(order.code, kind, [(chosen, quantity)] if quantity else [])

        def work(books: NaiveDesk) -> Done:
            books.sign_in(user)
            books.ask(user, found[0] if found else UNKNOWN, request, text)
            return [("request.opened", "request.open")]

        self.take(response, work)

    @precondition(lambda self: self.books.requests)
    @rule(number=which, text=st.sampled_from(("", ANSWER, ANSWER, ANSWER)))
    def answer(self, number: int, text: str) -> None:
        every = list(self.books.requests)
        chosen = self.pick([each for each in every if self.books.requests[each].is_open], every, number)

        def work(books: NaiveDesk) -> Done:
            books.answer(chosen, text)
            return [("request.closed", "request.close")]

        self.take(steps.answer(self.enter(self.member), chosen, text), work)

    # The warehouse

    @rule(sku=st.integers(0, 1), quantity=units, days=st.integers(1, 9))
    def expect_delivery(self, sku: int, quantity: int, days: int) -> None:
        day = uk_day(self.now) + timedelta(days=days)

        def work(books: NaiveDesk) -> Done:
            books.deliveries[self.skus[sku], day] = quantity
            return [("import.applied", "import.apply")]

        self.take(self.steps.expect(self.skus[sku], quantity, day), work)

    @precondition(lambda self: self.books.deliveries or self.slips)
    @rule(number=which, quantity=st.sampled_from((None, 0, 1, 2, 3, 4, 6)), ends=seldom, stale=seldom, twice=flags)
    def receive_goods(self, number: int, quantity: int | None, *, ends: bool, stale: bool, twice: bool) -> None:
        """Book in what came, on the page as it is, or on a page that somebody had open before."""
        if self.books.deliveries and not (stale and self.slips):
            sku = sorted(self.books.deliveries)[number % len(self.books.deliveries)][0]
            found = steps.delivery_slips(self.enter(self.member), sku)
            assert {(slip["sku"], day_of(slip)): int(slip["incoming"]) for slip in found} == {
                key: units for key, units in self.books.deliveries.items() if key[0] == sku
            }
            self.slips += [slip for slip in found if slip not in self.slips]
            slip = found[number % len(found)]
        else:
            slip = self.slips[number % len(self.slips)]
        once = key() if twice else ""
        response = steps.receive_goods(self.enter(self.member), slip, quantity, once, ends=ends)

        def work(books: NaiveDesk) -> Done:
            books.receive_goods(slip["sku"], day_of(slip), int(slip["incoming"]), quantity, ends=ends)
            return [(None, "delivery.receive"), *([(None, "stock.adjust")] if quantity else [])]

        self.take(response, work)

    @rule(changes=st.lists(st.integers(-3, 3), min_size=1, max_size=2))
    def count_stock(self, changes: list[int]) -> None:
        """Count units that differ so much from those that should be there."""
        counted = []
        for sku, change in zip(self.skus, changes, strict=False):
            available, allocated, _ = self.books.level(sku)
            counted.append((sku, max(available + allocated + change, 0)))
        response = steps.count_stock(self.enter(self.member), counted)

        def work(books: NaiveDesk) -> Done:
            return [(None, "stock.adjust")] if books.count(counted) else []

        self.take(response, work)


def day_of(slip: dict[str, str]) -> date:
    return datetime.fromisoformat(slip["expected_on"]).astimezone(ZoneInfo("Europe/London")).date()
