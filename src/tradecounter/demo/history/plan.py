"""Plans the demo's history: the same orders, dates and sums for the same seed and date, with lives drawn at random."""

import hashlib
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Literal

from msgspec import Struct, field

from tradecounter.demo.history.happenings import DatedDeed, Diary, Happening, NewOrder
from tradecounter.demo.history.steps import (
    Accepted,
    Agreed,
    BankFile,
    Blocked,
    Bounced,
    Damaged,
    Expired,
    GivenUp,
    LimitRaised,
    MailFailed,
    Noted,
    PaidUp,
    Prepaid,
    PricesTakenBack,
    Promised,
    Received,
    ReceivedAndCredited,
    Returned,
    TokenRevoked,
)
from tradecounter.sandbox.steps import (
    Cancelled,
    Credited,
    Declined,
    Dispatched,
    Filmed,
    Invoiced,
    PartCancelled,
    Priced,
    Settled,
    Supplied,
    Tracked,
)

Pays = Literal["on time", "late", "monthly", "never"]

_DRAWS = 1_000_000  # of a product; `Shelf` takes the remainder
_TOWNS = ("Southampton", "Halifax", "Bristol", "Leeds", "Shrewsbury", "Preston", "Cardiff")
_NOTES = (
    "The customer asks for delivery before noon; the gate closes at 16:00.",
    "Called the customer: the purchase order follows by e-mail.",
    "Leave the pallet with goods-in, not with reception.",
    "The customer collects the next order at the trade counter.",
)
_REASONS = ("Wrong model ordered", "Faulty on arrival", "The site needs fewer units", "The box is damaged")


class Buyer(Struct, frozen=True):
    """The e-mail address of a customer, and how and when it pays."""

    email: str
    pays: Pays
    term_days: int


class Lives(Struct):
    """Writes lives into a diary.

    `unpaid` are orders with an unpaid invoice: code, customer and days since the invoice. `dispatched` have left.
    """

    diary: Diary
    draw: Random
    unpaid: list[tuple[str, str, int]] = field(default_factory=list)
    dispatched: list[str] = field(default_factory=list)
    _orders: int = 0
    _returns: int = 0

    def live_an_order(self, buyer: Buyer, days_ago: int) -> None:
        """Place an order; what becomes of it is drawn."""
        day = self.diary.day(days_ago)
        match self.draw.choices(("ends well", "expires", "is cancelled", "waits for stock"), (84, 5, 4, 7))[0]:
            case "expires":
                self._expire(buyer, day)
            case "is cancelled":
                self._cancel(buyer, day)
            case "waits for stock":
                self._back_order(buyer, day)
            case _:
                changes, in_two = self._chance(5), self._chance(5)
                code = self._confirm(buyer, day, least=3 if changes or in_two else 1)
                if changes:
                    less = PartCancelled(1, "You asked for one unit less.")
                    self.diary.add(self.diary.after(day, 0), 12.8, code, "support", less)
                if self._chance(10):
                    self.diary.add(day, 13.4, code, "support", Noted(self.draw.choice(_NOTES)))
                dispatched = self.diary.after(day, self.draw.choice((0, 0, 1, 1, 2)))
                self._deliver(code, buyer, dispatched, in_two=in_two)

    def live_a_plain_order(self, buyer: Buyer, days_ago: int) -> None:
        """Place an order that is dispatched and invoiced on the same day."""
        day = self.diary.day(days_ago)
        self._deliver(self._confirm(buyer, day), buyer, day)

    def live_a_quote(self, buyer: Buyer, days_ago: int, number: int) -> None:
        """Request a quote; the customer accepts it, lets it expire, or support declines it."""
        day, code = self.diary.day(days_ago), self._code()
        order = self._new_order(buyer, kind="quote", most=12)
        priced = self.diary.after(day, 1)
        discount = Priced("The price holds for a single delivery.", self.draw.randint(4, 11))
        offered = DatedDeed(priced, 10.1, "support", discount)
        match number % 4:
            case 1:
                ends = DatedDeed(priced + timedelta(days=7), 23.9, "system", Expired())
                self.diary.place(day, self._hour(), code, order, offered, ends)
            case 2:
                self.diary.place(day, self._hour(), code, order)
                reason = "The manufacturer gives no project price for this quantity."
                self.diary.add(priced, 11.3, code, "support", Declined(reason))
            case _:
                bought = self.diary.after(priced, 2)
                accepted = DatedDeed(bought, 9.4, "customer", Accepted())
                self.diary.place(day, self._hour(), code, order, offered, accepted)
                self._deliver(code, buyer, self.diary.after(bought, 1))

    def live_recent_days(self, emails: tuple[str, ...]) -> None:
        """Place what is open now: orders to confirm and to dispatch, quotes to price and to accept."""
        yesterday = self.diary.today - timedelta(days=1)
        for number, email in enumerate(emails):
            buyer = Buyer(email, "on time", 30)
            self._back_order(buyer, self.diary.day(4 + number))
            self.diary.place(yesterday, 12.1, self._code(), self._new_order(buyer, kind="pending"))
            self._confirm(buyer, yesterday)
            self.diary.place(yesterday, 13.2, self._code(), self._new_order(buyer, kind="quote", most=20))
            if number % 2:
                discount = Priced("Please confirm this week.", 7)
                day = self.diary.day(3)
                code = self._code()
                order = self._new_order(buyer, kind="quote", most=15)
                self.diary.place(day, 11.0, code, order, DatedDeed(day, 15.5, "support", discount))

    def _chance(self, percent: int) -> bool:
        return self.draw.randrange(100) < percent

    def _confirm(self, buyer: Buyer, day: date, least: int = 1) -> str:
        code = self._code()
        self.diary.place(day, self._hour(), code, self._new_order(buyer, least=least))
        return code

    def _expire(self, buyer: Buyer, day: date) -> None:
        ends = day + timedelta(days=8)
        expiry = [DatedDeed(ends, 23.9, "system", Expired())] if self.diary.has_come(ends) else []
        self.diary.place(day, self._hour(), self._code(), self._new_order(buyer, kind="pending"), *expiry)

    def _cancel(self, buyer: Buyer, day: date) -> None:
        code = self._confirm(buyer, day)
        reason = self.draw.choice(("You asked us to cancel it.", "The product is no longer made."))
        self.diary.add(day, 13.9, code, "support", Cancelled(reason))

    def _back_order(self, buyer: Buyer, day: date) -> None:
        """Order products that are out of stock: a supplier delivers them after two weeks, or announces them."""
        code = self._code()
        self.diary.place(day, self._hour(), code, self._new_order(buyer, most=4, from_stock=False))
        arrives = self.diary.after(day, 12)
        if self.diary.add(arrives, 8.2, code, "warehouse", Supplied("Delivery from the supplier")):
            self._deliver(code, buyer, arrives)
        else:
            # The delivery is due after today, whatever the day of the order.
            due = (self.diary.today - day).days + self.draw.randint(3, 15)
            self.diary.add(self.diary.after(day, 0), 15.1, code, "warehouse", Promised(in_days=due))

    def _deliver(self, code: str, buyer: Buyer, day: date, *, in_two: bool = False) -> None:
        """Dispatch an order, track it, invoice it; the customer pays it as it usually does, and may send units back."""
        tracking = f"NW-{5000 + self._orders}-{self.draw.randint(1000, 9999)}"
        if in_two:
            self.diary.add(day, 14.6, code, "warehouse", Dispatched(lines=1, most=1, tracking=tracking))
            day = self.diary.after(day, 9)
        numbered = not in_two and self._chance(30)
        if not self.diary.add(day, 15.0, code, "warehouse", Dispatched(tracking=tracking, numbered=numbered)):
            return
        self.dispatched.append(code)
        if numbered:
            self.diary.add(day, 15.6, code, "warehouse", Filmed())
        town = self.draw.choice(_TOWNS)
        self.diary.add(day, 17.2, code, "program", Tracked("Collected", "The courier has the parcel.", town))
        self.diary.add(self.diary.after(day, 1), 11.8, code, "program", Tracked("Delivered", "Signed for.", town))
        if self._chance(4) and buyer.pays != "never":
            return  # finance has not invoiced it yet
        self.diary.add(day, 17.5, code, "finance", Invoiced())
        self._pay(code, buyer, day)
        if self._chance(16) and buyer.pays != "never":
            self._send_back(code, day)

    def _pay(self, code: str, buyer: Buyer, invoiced: date) -> None:
        reference = f"{buyer.email.partition('@')[2].partition('.')[0].upper()} {self._orders}"
        extra = Decimal("12.50") if self._chance(3) else Decimal(0)
        days = buyer.term_days + (self.draw.randint(-6, 2) if buyer.pays == "on time" else self.draw.randint(8, 48))
        is_paid = False
        if buyer.pays in ("on time", "late"):
            if self._chance(6):
                part = Settled(reference=reference, percent=60)
                self.diary.add(self.diary.after(invoiced, days), 10.3, code, "finance", part)
            else:
                whole = Settled(reference=reference, extra=extra)
                is_paid = self.diary.add(self.diary.after(invoiced, max(days, 1)), 10.3, code, "finance", whole)
        if not is_paid:
            self.unpaid.append((code, buyer.email, (self.diary.today - invoiced).days))

    def _send_back(self, code: str, dispatched: date) -> None:
        """Return units: some are still expected, others are received or credited, and one never came back."""
        self._returns += 1
        opened, arrived = self.diary.after(dispatched, 4), self.diary.after(dispatched, 8)
        reason = _REASONS[self._returns % len(_REASONS)]
        if not self.diary.add(opened, 11.1, code, "support", Returned(1, reason)):
            return
        match self._returns % 6:
            case 0:
                self.diary.add(arrived, 16.2, code, "support", GivenUp())
            case 1:
                self.diary.add(arrived, 9.1, code, "warehouse", Received(1))
            case 2:
                self.diary.add(arrived, 12.2, code, "finance", Credited(Decimal("5.00"), "Goodwill for the delay"))
            case 3:
                self.diary.add(arrived, 9.1, code, "warehouse", ReceivedAndCredited(1, restock=False))
            case _:
                self.diary.add(arrived, 9.1, code, "warehouse", ReceivedAndCredited(1))

    def _new_order(
        self,
        buyer: Buyer,
        kind: Literal["pending", "confirmed", "quote"] = "confirmed",
        most: int = 6,
        *,
        least: int = 1,
        from_stock: bool = True,
    ) -> NewOrder:
        lines = [
            (self.draw.randrange(_DRAWS), self.draw.randint(least, most))
            for _ in range(self.draw.randint(1, 4 if from_stock else 1))
        ]
        reference = f"PO-{40200 + self._orders * 7}"
        return NewOrder(customer=buyer.email, reference=reference, lines=lines, kind=kind, from_stock=from_stock)

    def _code(self) -> str:
        self._orders += 1
        return hashlib.sha256(f"demo history {self._orders}".encode()).hexdigest()[:32]

    def _hour(self) -> float:
        return 8 + self.draw.randrange(240) / 60


_SEED = 2026
_DAYS = 91
_NEWLY_PAID = range(8, 41)  # days since the invoice


class _Trade(Struct, frozen=True):
    """How much a customer orders."""

    buyer: Buyer
    orders: int
    quotes: int


_HARBOURLINE = "orders@harbourline.example"
_RAVENSCLOUGH = "stores@ravensclough.example"
_COPPERFIELD = "orders@copperfieldnetworks.example"
_LARKSPUR = "hello@larkspurcafe.example"
_DUNMORE = "purchasing@dunmoreit.example"
_BRACEWELL = "site@bracewellbuild.example"

_TRADES = (
    _Trade(Buyer(_HARBOURLINE, "on time", 45), orders=26, quotes=4),
    _Trade(Buyer("purchasing@fenwickbrook.example", "on time", 30), orders=8, quotes=2),
    _Trade(Buyer("einkauf@nordkai.example", "late", 30), orders=16, quotes=2),
    _Trade(Buyer("it@thornaby-schools.example", "on time", 30), orders=18, quotes=4),
    _Trade(Buyer(_RAVENSCLOUGH, "monthly", 60), orders=26, quotes=3),
    _Trade(Buyer(_COPPERFIELD, "on time", 30), orders=30, quotes=4),
    _Trade(Buyer("sales@meridianshop.example", "on time", 14), orders=34, quotes=0),
    _Trade(Buyer(_BRACEWELL, "late", 30), orders=16, quotes=4),
    _Trade(Buyer(_LARKSPUR, "on time", 7), orders=8, quotes=0),
)
_UNPAID = (111, 86, 59, 31)  # days ago; the invoices of the customer who never pays are overdue at every age


def plan(today: date) -> list[Happening]:
    """Return what happens up to yesterday, in order of time."""
    draw = Random(_SEED)  # noqa: S311 not a secret
    diary = Diary(today)
    lives = Lives(diary, draw)
    for trade in _TRADES:
        for days_ago in sorted((draw.randint(1, _DAYS) for _ in range(trade.orders)), reverse=True):
            lives.live_an_order(trade.buyer, days_ago)
        for number in range(trade.quotes):
            lives.live_a_quote(trade.buyer, draw.randint(12, _DAYS - 5), number)
    for days_ago in _UNPAID:
        lives.live_a_plain_order(Buyer(_DUNMORE, "never", 0), days_ago)
    lives.live_recent_days((_HARBOURLINE, _COPPERFIELD, _RAVENSCLOUGH, _BRACEWELL))
    _run_the_office(diary, lives)
    return sorted(diary.happenings, key=lambda happening: happening.at)


def _run_the_office(diary: Diary, lives: Lives) -> None:
    """Add what happens besides orders."""
    for month, days_ago in enumerate((74, 44, 15), start=1):
        diary.add(diary.day(days_ago), 9.5, _RAVENSCLOUGH, "finance", PaidUp(f"RHS PAYMENT RUN {month}"))
    diary.add(diary.day(1), 17.9, _LARKSPUR, "finance", Prepaid(Decimal(900), "ON ACCOUNT"))
    diary.add(diary.day(20), 10.4, "studio@oatfield.example", "finance", Prepaid(Decimal(180), "PREPAYMENT OATFIELD"))
    diary.add(diary.day(58), 14.1, _COPPERFIELD, "finance", LimitRaised(Decimal(5000)))
    diary.add(diary.day(41), 7.6, "prices", "catalogue", PricesTakenBack())
    diary.add(diary.day(27), 16.8, "tokens", "administrator", TokenRevoked("Old price engine"))
    diary.add(
        diary.day(5), 9.3, _DUNMORE, "finance", Blocked("Four invoices are overdue, the oldest for three months.")
    )
    old = [code for code, email, ago in lives.unpaid if ago in _NEWLY_PAID and email not in (_DUNMORE, _RAVENSCLOUGH)]
    diary.add(diary.day(2), 9.8, "bank", "finance", BankFile(old[:4]))
    diary.add(diary.day(3), 10.6, old[4], "finance", Bounced("DD RETURNED"))
    recent = lives.dispatched
    diary.add(diary.day(30), 11.7, _COPPERFIELD, "catalogue", Agreed(recent[0], percent=94))
    diary.add(diary.day(33), 15.2, recent[1], "warehouse", Damaged())
    diary.add(diary.day(4), 12.9, recent[-1], "system", MailFailed())
