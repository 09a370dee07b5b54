"""What waits for staff, in the order in which a role deals with it."""

from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import Generic, TypeVar

from msgspec import Struct

from tradecounter.billing.debtors import read_debtor_totals
from tradecounter.billing.queries.debtors import DebtorTotals, last_balance_change
from tradecounter.customer_requests.queries import requests_waiting
from tradecounter.db.jobs import failed_jobs
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import Role
from tradecounter.kit.clock import uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import counted, plural
from tradecounter.orders.queries.today import MOST_COUNTED, Waiting, count_to_dispatch, orders_waiting
from tradecounter.orders.rules import BACK_ORDERED, DISPATCHED, PART_DISPATCHED, PART_INVOICED
from tradecounter.payments.queries.bank_lines import WaitingLines, lines_waiting
from tradecounter.products.queries.products import MOST_TO_MEND, TO_MEND, Shown, count_products_to_mend
from tradecounter.quotes.queries import quotes_waiting
from tradecounter.returns.queries import returns_waiting
from tradecounter.webhooks.queries.endpoints import webhooks_in_trouble

Value = TypeVar("Value")

# What each role deals with first; the others follow.
_FIRST: Mapping[Role, Sequence[str]] = {
    "warehouse": ("dispatch", "part", "rest", "return", "back-order"),
    "finance": ("unplaced", "overdue", "invoice", "rest", "credit", "quote"),
    "support": ("request", "quote", "job", "back-order", "return", "webhook"),
    "catalogue": TO_MEND,
    "administrator": ("job", "webhook", "quote", "overdue", "dispatch"),
}
_ALL = (
    "job",
    "webhook",
    "request",
    "quote",
    "overdue",
    "unplaced",
    "dispatch",
    "part",
    "back-order",
    "invoice",
    "rest",
    "return",
    "credit",
    *TO_MEND,
)
_TILES = {"dispatch", "back-order", "quote", "overdue", "job"}
_OF_BILLING = {"invoice", "rest", "credit"}  # which only people who may invoice can do
_LISTED_FOR_WAREHOUSE = {"dispatch", "return"}  # what its own lists on the page have
# The name of a tile, what to do, and the state of products that want work.
_PRODUCTS: Mapping[Shown, tuple[str, str, str]] = {
    "below_cost": ("Below cost", "{} sold below cost", "bad"),
    "back_ordered": ("Out of stock, orders wait", "{} out of stock, and orders wait", "warn"),
    "without_price": ("Without price", "{} without a price", "warn"),
    "without_picture": ("Without picture", "{} without a picture", ""),
    "without_description": ("Without description", "{} without a description", ""),
    "without_ean": ("Without EAN", "{} without an EAN", ""),
}
_KEPT_SECONDS = 120.0  # with years of data, some figures take tens of milliseconds
_STATUSES = {
    "part": PART_DISPATCHED,
    "back-order": BACK_ORDERED,
    "invoice": DISPATCHED,
    "rest": PART_INVOICED,
}


class Task(Struct, frozen=True):
    """Something that waits: a figure with its name for a tile, what to do in a sentence, and the list behind it."""

    kind: str
    name: str
    figure: str
    text: str
    path: str
    state: str
    oldest: datetime | None = None
    waits: bool = True


class Today(Struct, frozen=True):
    """What waits, and what customers owe, which is None for those who may not see it.

    `listed` are the kinds of tasks that other parts of the page show.
    """

    tasks: list[Task]
    debtors: DebtorTotals | None
    of_catalogue: bool
    listed: Collection[str] = ()

    @property
    def tiles(self) -> list[Task]:
        """The tasks whose figures are always shown."""
        return [task for task in self.tasks if task.kind in _TILES or (self.of_catalogue and task.kind in _PRODUCTS)]

    @property
    def waiting(self) -> list[Task]:
        """The tasks with something to do that no other part of the page shows."""
        return [task for task in self.tasks if task.waits and task.kind not in self.listed]

    @property
    def is_done(self) -> bool:
        """Whether nothing waits."""
        return not any(task.waits for task in self.tasks)


class Kept(Struct, Generic[Value]):
    """Keeps what was read until it is wanted for another key, or for two minutes."""

    _value: Value | None = None
    _key: Hashable = None
    _read_at: float = 0.0

    async def read(self, key: Hashable, read: Callable[[], Awaitable[Value]]) -> Value:
        """Return what is kept for a key; otherwise read it."""
        if self._value is None or self._key != key or monotonic() - self._read_at > _KEPT_SECONDS:
            began = monotonic()
            self._value = await read()
            self._key, self._read_at = key, began
        return self._value


async def read_today(
    tx: Transaction, roles: Sequence[Role], allowed: Callable[[str], bool], now: datetime, kept: Kept[DebtorTotals]
) -> Today:
    """Return what waits for a person with some roles; `allowed` tells which scopes these have."""
    tasks: list[Task] = []
    debtors = None
    if allowed("orders:read"):
        tasks.append(_to_dispatch(await count_to_dispatch(tx)))
        tasks += _orders(await orders_waiting(tx, list(_STATUSES.values())))
        tasks += _returns(await returns_waiting(tx))
        asked = await requests_waiting(tx)
        tasks.append(
            _task("request", "Requests", asked.count, "{} to answer", "request", "/request", "warn", asked.oldest)
        )
    if allowed("quotes:read"):
        tasks.append(_quotes(await quotes_waiting(tx)))
    if allowed("billing:read"):
        # A change whose transaction was still open while a later one was seen shows after the two minutes.
        changed = await last_balance_change(tx), uk_date(now)
        debtors = await kept.read(changed, lambda: read_debtor_totals(tx, now))
        tasks.append(_overdue(debtors))
        tasks.append(_unplaced(await lines_waiting(tx)))
    if allowed("events:read"):
        failed = sum(jobs.count for jobs in await failed_jobs(tx))
        tasks.append(_task("job", "Failed jobs", failed, "{} failed: look why, and run it again", "job", "/job", "bad"))
        trouble = await webhooks_in_trouble(tx)
        stopped = [f"{plural(trouble.stopped, 'webhook')} stopped"] if trouble.stopped else []
        failing = [f"{plural(trouble.failing, 'webhook')} {'fails' if trouble.failing == 1 else 'fail'}"]
        text = f"{', '.join(stopped + (failing if trouble.failing else []))}: look at the last deliveries"
        count = trouble.stopped + trouble.failing
        tasks.append(Task("webhook", "Webhooks in trouble", f"{count:,}", text, "/webhook", "bad" if count else "",
                          waits=bool(count)))  # fmt: skip
    if allowed("catalogue:write"):
        tasks += _products(await count_products_to_mend(tx))
    if not allowed("billing:write"):
        tasks = [task for task in tasks if task.kind not in _OF_BILLING]
    listed = [*(_LISTED_FOR_WAREHOUSE if "warehouse" in roles else ()), *(_PRODUCTS if "catalogue" in roles else ())]
    return Today(_in_order(tasks, roles), debtors, "catalogue" in roles, listed)


def _in_order(tasks: Iterable[Task], roles: Sequence[Role]) -> list[Task]:
    order = list(dict.fromkeys([kind for role in roles for kind in _FIRST[role]] + list(_ALL)))
    return sorted(tasks, key=lambda task: order.index(task.kind))


def _task(
    kind: str,
    name: str,
    count: int,
    text: str,
    noun: str,
    path: str,
    state: str,
    oldest: datetime | None = None,
    most: int | None = None,
) -> Task:
    """Return a task with its `count`, up to `most`; its state is that of the tile when there are any."""
    said = text.format(plural(count, noun, most=most))
    return Task(kind, name, counted(count, most), said, path, state if count else "", oldest, bool(count))


def _to_dispatch(waiting: Waiting) -> Task:
    path = "/order?status=To+dispatch&sort=placed"
    return _task("dispatch", "To dispatch", waiting.count, "{} can be dispatched", "order", path, "", waiting.oldest,
                 MOST_COUNTED)  # fmt: skip


def _orders(counts: Mapping[str, Waiting]) -> list[Task]:
    said = {
        "part": ("Part dispatched", "{} part dispatched", ""),
        "back-order": ("Back-ordered", "{} waits for stock: look at the expected dates", "warn"),
        "invoice": ("To invoice", "{} to invoice", ""),
        "rest": ("Part invoiced", "{} part invoiced: the rest is to be dispatched or invoiced", ""),
    }
    tasks = []
    for kind, (name, text, state) in said.items():
        status = _STATUSES[kind]
        waiting = counts.get(status, Waiting(0, None))
        path = f"/order?status={status.replace(' ', '+')}&sort=placed"
        said_of = text if waiting.count == 1 else text.replace(" waits ", " wait ")
        tasks.append(_task(kind, name, waiting.count, said_of, "order", path, state, waiting.oldest, MOST_COUNTED))
    return tasks


def _returns(counts: Mapping[str, Waiting]) -> list[Task]:
    opened, received = (counts.get(state, Waiting(0, None)) for state in ("open", "received"))
    return [
        _task("return", "Returns expected", opened.count, "{} to receive", "return", "/return?state=open", "",
              opened.oldest),
        _task("credit", "Returns to credit", received.count, "{} to credit", "return", "/return?state=received", "",
              received.oldest),
    ]  # fmt: skip


def _products(counts: Mapping[Shown, int]) -> list[Task]:
    tasks = []
    for shown, (name, text, state) in _PRODUCTS.items():
        count = counts[shown]
        tasks.append(_task(shown, name, count, text, "product", f"/product?show={shown}", state, most=MOST_TO_MEND))
    return tasks


def _quotes(waiting: Waiting) -> Task:
    return _task("quote", "Quotes to price", waiting.count, "{} to price", "quote", "/quote", "warn", waiting.oldest)


def _overdue(debtors: DebtorTotals) -> Task:
    text = ""
    if debtors.late:
        most = f": {debtors.first}"
        if debtors.late > 1:
            most = f"; {debtors.first} owes most, {in_pounds(debtors.most_overdue)}"
        text = f"{in_pounds(debtors.overdue)} is overdue from {plural(debtors.late, 'customer')}{most}"
    figure = in_pounds(debtors.overdue)
    state = "bad" if debtors.overdue else ""
    return Task("overdue", "Overdue", figure, text, "/money", state, waits=bool(debtors.overdue))


def _unplaced(waiting: WaitingLines) -> Task:
    text = f"{{}} of bank files to place, {in_pounds(waiting.pounds)}"
    return _task("unplaced", "Unplaced money", waiting.count, text, "line", "/bank-line", "warn", waiting.oldest)
