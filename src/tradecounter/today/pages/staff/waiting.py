"""What waits for staff, in the order in which a role deals with it."""

from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

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
from tradecounter.webhooks.queries.endpoints import Trouble, webhooks_in_trouble

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
_KEPT_SECONDS = 120.0  # with years of data, some figures take tens of milliseconds
_STATUSES = {
    "part": PART_DISPATCHED,
    "back-order": BACK_ORDERED,
    "invoice": DISPATCHED,
    "rest": PART_INVOICED,
}
_RETURN_STATES = {"return": "open", "credit": "received"}


class TaskKind(Struct, frozen=True):
    """A kind of records that wait: the name and the state of its tile, what to do, their noun, and their list.

    `{}` in the text is how many there are, up to `most`. `of_several` is the text for several, if it differs.
    """

    name: str
    text: str
    noun: str
    path: str
    state: str = ""
    of_several: str = ""
    most: int | None = None


def _orders(name: str, text: str, status: str, state: str = "", of_several: str = "") -> TaskKind:
    path = f"/order?status={status.replace(' ', '+')}&sort=placed"
    return TaskKind(name, text, "order", path, state, of_several, MOST_COUNTED)


def _products(shown: Shown, name: str, text: str, state: str = "") -> TaskKind:
    return TaskKind(name, text, "product", f"/product?show={shown}", state, most=MOST_TO_MEND)


_KINDS: Mapping[str, TaskKind] = {
    "dispatch": _orders("To dispatch", "{} can be dispatched", "To dispatch"),
    "part": _orders("Part dispatched", "{} part dispatched", PART_DISPATCHED),
    "back-order": _orders(
        "Back-ordered",
        "{} waits for stock: look at the expected dates",
        BACK_ORDERED,
        "warn",
        "{} wait for stock: look at the expected dates",
    ),
    "invoice": _orders("To invoice", "{} to invoice", DISPATCHED),
    "rest": _orders("Part invoiced", "{} part invoiced: the rest is to be dispatched or invoiced", PART_INVOICED),
    "return": TaskKind("Returns expected", "{} to receive", "return", "/return?state=open"),
    "credit": TaskKind("Returns to credit", "{} to credit", "return", "/return?state=received"),
    "request": TaskKind("Requests", "{} to answer", "request", "/request", "warn"),
    "quote": TaskKind("Quotes to price", "{} to price", "quote", "/quote", "warn"),
    "unplaced": TaskKind("Unplaced money", "{} of bank files to place", "line", "/bank-line", "warn"),
    "job": TaskKind("Failed jobs", "{} failed: look why, and run it again", "job", "/job", "bad"),
    "below_cost": _products("below_cost", "Below cost", "{} sold below cost", "bad"),
    "back_ordered": _products("back_ordered", "Out of stock, orders wait", "{} out of stock, and orders wait", "warn"),
    "without_price": _products("without_price", "Without price", "{} without a price", "warn"),
    "without_picture": _products("without_picture", "Without picture", "{} without a picture"),
    "without_description": _products("without_description", "Without description", "{} without a description"),
    "without_ean": _products("without_ean", "Without EAN", "{} without an EAN"),
}
_NONE = Waiting(0, None)


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
        return [task for task in self.tasks if task.kind in _TILES or (self.of_catalogue and task.kind in TO_MEND)]

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
        tasks.append(_task("dispatch", await count_to_dispatch(tx)))
        orders, returns = await orders_waiting(tx, list(_STATUSES.values())), await returns_waiting(tx)
        tasks += [_task(kind, orders.get(status, _NONE)) for kind, status in _STATUSES.items()]
        tasks += [_task(kind, returns.get(state, _NONE)) for kind, state in _RETURN_STATES.items()]
        tasks.append(_task("request", await requests_waiting(tx)))
    if allowed("quotes:read"):
        tasks.append(_task("quote", await quotes_waiting(tx)))
    if allowed("billing:read"):
        # A change whose transaction was still open while a later one was seen shows after the two minutes.
        changed = await last_balance_change(tx), uk_date(now)
        debtors = await kept.read(changed, lambda: read_debtor_totals(tx, now))
        tasks.append(_overdue(debtors))
        tasks.append(_unplaced(await lines_waiting(tx)))
    if allowed("events:read"):
        tasks.append(_task("job", Waiting(sum(jobs.count for jobs in await failed_jobs(tx)), None)))
        tasks.append(_webhooks(await webhooks_in_trouble(tx)))
    if allowed("catalogue:write"):
        counts = await count_products_to_mend(tx)
        tasks += [_task(shown, Waiting(counts[shown], None)) for shown in TO_MEND]
    if not allowed("billing:write"):
        tasks = [task for task in tasks if task.kind not in _OF_BILLING]
    listed = [*(_LISTED_FOR_WAREHOUSE if "warehouse" in roles else ()), *(TO_MEND if "catalogue" in roles else ())]
    return Today(_in_order(tasks, roles), debtors, "catalogue" in roles, listed)


def _in_order(tasks: Iterable[Task], roles: Sequence[Role]) -> list[Task]:
    order = list(dict.fromkeys([kind for role in roles for kind in _FIRST[role]] + list(_ALL)))
    return sorted(tasks, key=lambda task: order.index(task.kind))


def _task(name: str, waiting: Waiting) -> Task:
    kind, count = _KINDS[name], waiting.count
    text = kind.of_several if kind.of_several and count != 1 else kind.text
    return Task(
        kind=name,
        name=kind.name,
        figure=counted(count, kind.most),
        text=text.format(plural(count, kind.noun, most=kind.most)),
        path=kind.path,
        state=kind.state if count else "",
        oldest=waiting.oldest,
        waits=bool(count),
    )


def _webhooks(trouble: Trouble) -> Task:
    stopped = [f"{plural(trouble.stopped, 'webhook')} stopped"] if trouble.stopped else []
    failing = [f"{plural(trouble.failing, 'webhook')} {'fails' if trouble.failing == 1 else 'fail'}"]
    text = f"{', '.join(stopped + (failing if trouble.failing else []))}: look at the last deliveries"
    count = trouble.stopped + trouble.failing
    state = "bad" if count else ""
    return Task("webhook", "Webhooks in trouble", f"{count:,}", text, "/webhook", state, waits=bool(count))


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


def _unplaced(lines: WaitingLines) -> Task:
    task = _task("unplaced", Waiting(lines.count, lines.oldest))
    return replace(task, text=f"{task.text}, {in_pounds(lines.pounds)}")
