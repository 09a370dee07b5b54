"""Suggestions of where money goes are those that a plain reading of all balances, names and numbers finds."""

import asyncio
import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from itertools import accumulate
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from support.cluster import Cluster
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.payments.queries.suggested_places import Payer, customers_to_suggest

CUSTOMERS = 30
MANY = 130  # invoices of one customer, more than are counted to know how many may come to an amount
COMPANIES = (
    "Abe",
    "Acme",
    "Acme Telecoms",
    "Acme Telecoms of Leeds",
    "Northern Wholesale",
    "Northern Wholesale Supply",
)
PAYERS = ("", "acme", "acme telecoms of", "j smith", "northern whole")
TEXTS = ("transfer", "for 12", "ACME TELECOMS OF LEE", "northern wholesale su", "acm", "invoice 7 and 31", "ABE 40")
MOST = 20, 5  # customers by amount, and by each other reason
ENOUGH = 12  # letters of a name that a bank has cut

# Neither orders and invoices nor files are read.
WITHOUT_ORDERS = """
    alter table invoice_balance drop constraint invoice_balance_invoice_fkey,
        drop constraint invoice_balance_order_id_fkey;
    alter table bank_line drop constraint bank_line_bank_file_id_fkey
"""
BALANCE = (
    "insert into invoice_balance (invoice, order_id, customer_id, due_at, gross, paid)"
    " values (%s, 1, %s, timestamptz '2026-05-01' + %s * interval '1 day', %s, %s)"
)
CUSTOMER = (
    "insert into customer (id, email_address, email_key, first_name, last_name, company) overriding system value"
    " values (%s, %s, %s, 'Sam', 'Fitter', %s)"
)
PAYMENT = (
    "insert into payment (id, customer_id, amount, recorded_at, received_on, counts_from, method, reference)"
    " overriding system value values (%s, %s, 1, now(), '2026-05-01', now(), 'bank_transfer', '')"
)
LINE = (
    "insert into bank_line (id, bank_file_id, line, day_written, amount_written, reference, received_on, amount, usual,"
    " identity, occurrence, state, why, payment_id, changed_at) overriding system value"
    " values (%s, 1, 1, '', '', %s, '2026-05-02', %s, %s, %s, 1, %s, '', %s, now())"
)


class Books:
    """Random balances, payments and lines, and a plain reading of them."""

    companies: dict[int, str]
    balances: list[tuple[int, int, int, Decimal, bool]]  # number, customer, day, gross, and whether it is paid
    placed: list[tuple[int, str, int]]  # payment, payer and customer
    lines: dict[int, tuple[Decimal, str, str]]  # amount, text and payer

    @classmethod
    def of_dues(cls, amount: Decimal, *dues: list[Decimal]) -> "Books":
        """Customers with only these dues, the oldest first, and a line of an amount."""
        made = cls.__new__(cls)
        made.companies = {owner: f"Customer {owner}" for owner, _ in enumerate(dues, start=1)}
        each = [(owner, due) for owner, of_owner in enumerate(dues, start=1) for due in of_owner]
        made.balances = [(number, owner, number, due, False) for number, (owner, due) in enumerate(each, start=1)]
        made.placed, made.lines = [], {100: (amount, "transfer", "")}
        return made

    def __init__(self, random: Random) -> None:
        pence = (1, 2, 100, 250, 400) if random.random() < 0.5 else (300, 500, 700)
        self.companies = {number: random.choice(COMPANIES) for number in range(1, CUSTOMERS + 1)}
        owners = [random.choice(range(1, CUSTOMERS)) for _ in range(random.choice((20, 200)))] + [CUSTOMERS] * MANY
        self.balances = [
            (number, owner, random.choice((0, 3, 5)), Decimal(random.choice(pence)) / 100, random.random() < 0.3)
            for number, owner in enumerate(owners, start=1)
        ]
        self.placed = [(number, random.choice(PAYERS), random.choice((1, 2, 3))) for number in range(1, 30)]
        sums = [so_far for owner in self.companies for so_far in accumulate(due for _, due in self.due(owner))]
        self.lines = {
            100 + number: (
                random.choice(sums) if random.random() < 0.7 else Decimal(random.randrange(1, 9000)) / 100,
                f"{payer} {random.choice(TEXTS)}".strip() if random.random() < 0.8 else random.choice(TEXTS),
                payer,
            )
            for number, payer in enumerate(random.choices(PAYERS, k=12))
        }

    def due(self, owner: int) -> list[tuple[int, Decimal]]:
        """The invoices of a customer that are not paid, the oldest first, with what is due."""
        of_owner = [
            (day, number, gross) for number, who, day, gross, paid in self.balances if who == owner and not paid
        ]
        return [(number, gross) for _, number, gross in sorted(of_owner)]

    def store(self, connection: Connection) -> None:
        """Write it all."""
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute("truncate invoice_balance, customer, payment, bank_line cascade")
            names = [(number, f"{number}@shop.example", f"{number}@shop.example", name)
                     for number, name in self.companies.items()]  # fmt: skip
            cursor.executemany(CUSTOMER, names)
            balances = [(n, who, day, gross, gross if paid else 0) for n, who, day, gross, paid in self.balances]
            cursor.executemany(BALANCE, balances)
            cursor.executemany(PAYMENT, [(number, who) for number, _, who in self.placed])
            placed = [(number, "", 1, usual, f"p{number}", "placed", number) for number, usual, _ in self.placed]
            waiting = [(number, text, amount, payer, f"w{number}", "unplaced", None)
                       for number, (amount, text, payer) in self.lines.items()]  # fmt: skip
            cursor.executemany(LINE, [*placed, *waiting])

    def likely(self) -> set[tuple[Any, ...]]:
        """Who may have paid each line, with what leads there."""
        found = set()
        for line, (amount, text, payer) in self.lines.items():
            fitting = [owner for owner in self.companies if self._fits(owner, amount)]
            times = {who: [each for each in self.placed if payer and each[1:] == (payer, who)] for who in (1, 2, 3)}
            earlier = sorted((-len(each), who) for who, each in times.items() if each)
            named = sorted((not whole, -letters, owner) for owner in self.companies
                           for whole, letters in self._named(owner, text.lower(), payer))  # fmt: skip
            numbered = self._numbered(text, payer)
            chosen = {*fitting[: MOST[0]], *(who for _, who in earlier[: MOST[1]])}
            chosen |= {owner for _, _, owner in named[: MOST[1]]} | {who for _, who in numbered[: MOST[1]]}
            whole_of = {owner: not part for part, _, owner in named}
            due_of = {who: not paid for paid, who in numbered}
            for who in chosen:
                count = len(times.get(who, []))
                last = date(2026, 5, 2) if count else None
                name = whole_of.get(who), due_of.get(who)
                found.add((line, who, count, last, *(name[0] is each for each in (True, False)),
                           *(name[1] is each for each in (True, False))))  # fmt: skip
        return found

    def _fits(self, owner: int, amount: Decimal) -> bool:
        dues = [due for _, due in self.due(owner)]
        return amount in dues or amount in accumulate(dues)

    def _named(self, owner: int, text: str, payer: str) -> Iterator[tuple[bool, int]]:
        """Whether a text has the whole name, and how many letters of it; nothing if it has too little."""
        name = self.companies[owner].lower()
        matches = []
        if len(name) > 3 and self.due(owner) and name[:ENOUGH] in text:
            for each in (text, payer):
                tail = each[each.find(name[:ENOUGH]) :] if name[:ENOUGH] in each else None
                if name in each:
                    matches.append((True, len(name)))
                elif tail is not None and name.startswith(tail):
                    matches.append((False, len(tail)))
        if matches:
            yield any(whole for whole, _ in matches), max(letters for _, letters in matches)

    def _numbered(self, text: str, payer: str) -> list[tuple[bool, int]]:
        """Whether only paid invoices of a customer are named, and the customer, those with due ones first."""
        numbers = {int(each) for each in re.findall("[0-9]+", text.lower().removeprefix(f"{payer} "))}
        named: dict[int, bool] = {}
        for number, who, _, _, paid in self.balances:
            if number in numbers:
                named[who] = named.get(who, True) and paid
        return sorted((paid, who) for who, paid in named.items())


@pytest.fixture(scope="module")
def url(postgres: Cluster) -> Iterator[str]:
    with postgres.database() as found, psycopg.connect(found, autocommit=True) as connection:
        connection.execute(WITHOUT_ORDERS)
        yield found


async def suggested(url: str, line_ids: list[int]) -> list[Payer]:
    async with Database(url, connections=1) as database, reading(database) as tx:
        return await customers_to_suggest(tx, line_ids)


def told_of(payer: Payer) -> tuple[Any, ...]:
    flags = payer.is_named, payer.is_begun, payer.is_numbered, payer.is_numbered_paid
    return (payer.line_id, payer.customer_id, payer.times, payer.last_on, *flags)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("seed", range(12))
def test_the_customers_to_suggest_are_those_of_a_plain_reading(url: str, seed: int) -> None:
    books = Books(Random(seed))  # noqa: S311 the same each time
    with psycopg.connect(url, autocommit=True) as connection:
        books.store(connection)
    found = asyncio.run(suggested(url, list(books.lines)))
    assert len(found) == len({told_of(payer) for payer in found})
    assert {told_of(payer) for payer in found} == books.likely()
    assert found
    for line in (min(books.lines), max(books.lines)):  # alone, with a bound of its own
        alone = asyncio.run(suggested(url, [line]))
        assert {told_of(payer) for payer in alone} == {each for each in books.likely() if each[0] == line}


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("count", [2, 3, 99, 100, 101, 120])
def test_all_the_smallest_invoices_come_to_an_amount(url: str, count: int) -> None:
    smallest = [Decimal("0.03")] * count
    books = Books.of_dues(sum(smallest, Decimal(0)), [Decimal("9.00")] * 3, smallest, [Decimal("9.00")])
    with psycopg.connect(url, autocommit=True) as connection:
        books.store(connection)
    found = asyncio.run(suggested(url, [100]))
    assert [payer.customer_id for payer in found] == [2]
    assert {told_of(payer) for payer in found} == books.likely()
