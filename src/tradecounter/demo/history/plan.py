"""Plans the demo's history: the same orders, dates and sums for the same seed and date."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from random import Random

from tradecounter.demo.history.happenings import Diary, Happening
from tradecounter.demo.history.money_steps import BankFile, Bounced, PaidUp, Prepaid
from tradecounter.demo.history.office_steps import (
    Agreed,
    Blocked,
    Damaged,
    LimitRaised,
    MailFailed,
    PricesTakenBack,
    TokenRevoked,
)
from tradecounter.demo.history.order_lives import Lives, Pays

_SEED = 2026
_DAYS = 91
_NEWLY_PAID = range(8, 41)  # days since the invoice


@dataclass(frozen=True, slots=True)
class _Trade:
    """How much a customer orders, and how it pays."""

    email: str
    orders: int
    quotes: int
    pays: Pays
    term_days: int


_HARBOURLINE = "orders@harbourline.example"
_RAVENSCLOUGH = "stores@ravensclough.example"
_COPPERFIELD = "orders@copperfieldnetworks.example"
_LARKSPUR = "hello@larkspurcafe.example"
_DUNMORE = "purchasing@dunmoreit.example"
_BRACEWELL = "site@bracewellbuild.example"

_TRADES = (
    _Trade(_HARBOURLINE, 26, 4, "on time", 45),
    _Trade("purchasing@fenwickbrook.example", 8, 2, "on time", 30),
    _Trade("einkauf@nordkai.example", 16, 2, "late", 30),
    _Trade("it@thornaby-schools.example", 18, 4, "on time", 30),
    _Trade(_RAVENSCLOUGH, 26, 3, "monthly", 60),
    _Trade(_COPPERFIELD, 30, 4, "on time", 30),
    _Trade("sales@meridianshop.example", 34, 0, "on time", 14),
    _Trade(_BRACEWELL, 16, 4, "late", 30),
    _Trade(_LARKSPUR, 8, 0, "on time", 7),
)
_UNPAID = (111, 86, 59, 31)  # days ago; the invoices of the customer who never pays are overdue at every age


def plan(today: date) -> list[Happening]:
    """Return what happens up to yesterday, in order of time."""
    draw = Random(_SEED)  # noqa: S311 not a secret
    diary = Diary(today)
    lives = Lives(diary, draw)
    for trade in _TRADES:
        for days_ago in sorted((draw.randint(1, _DAYS) for _ in range(trade.orders)), reverse=True):
            lives.live_an_order(trade.email, days_ago, trade.pays, trade.term_days)
        for number in range(trade.quotes):
            lives.live_a_quote(trade.email, draw.randint(12, _DAYS - 5), number, trade.pays, trade.term_days)
    for days_ago in _UNPAID:
        lives.live_a_plain_order(_DUNMORE, days_ago)
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
