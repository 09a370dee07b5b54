"""What was acknowledged to the clients of a trial: what must then be in the database, once each."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from threading import Lock
from typing import Any

Entry = tuple[str, int, Decimal]  # of an account: its kind, its number, and what it adds to the debt
Happening = tuple[str, str]  # the type of an event, and what distinguishes it from others of its subject


@dataclass
class SoldLine:
    """A line's units."""

    id: int
    sku: str
    ordered: int
    cancelled: int = 0
    dispatched: int = 0
    restocked: int = 0

    @property
    def left(self) -> int:
        return self.ordered - self.cancelled - self.dispatched


@dataclass
class SoldOrder:
    """A confirmed order."""

    id: int
    reference: str
    customer_id: int
    recipient: str  # of its mails
    lines: list[SoldLine]
    invoices: list[int] = field(default_factory=list)
    credit_notes: list[int] = field(default_factory=list)
    returns: list[str] = field(default_factory=list)
    shipments: list[str] = field(default_factory=list)  # tracking numbers
    notes: list[str] = field(default_factory=list)


@dataclass
class Ledger:
    """Acknowledged operations, as several clients write them down."""

    operations: int = 0
    orders: list[SoldOrder] = field(default_factory=list)
    entries: defaultdict[int, list[Entry]] = field(default_factory=lambda: defaultdict(list))  # by customer
    adjusted: Counter[str] = field(default_factory=Counter)  # units by SKU
    events: defaultdict[str, list[Happening]] = field(default_factory=lambda: defaultdict(list))  # by subject
    audited: Counter[tuple[str, str]] = field(default_factory=Counter)  # acting user or else subject, and action
    marks: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # keys, by their place
    _lock: Lock = field(default_factory=Lock)

    def happened(self, subject: str, type_: str, mark: str = "") -> None:
        """Expect an event."""
        self.events[subject].append((type_, mark))

    def done(self, who: str, *actions: str, **marks: str) -> None:
        """Count an operation; expect entries in the audit log, and marks that it left in the tables."""
        with self._lock:
            self.operations += 1
            self.audited.update((who, action) for action in actions)
            for place, mark in marks.items():
                self.marks[place][mark] += 1

    def adjust(self, sku: str, units: int) -> None:
        """Expect units of a product on hand."""
        with self._lock:
            self.adjusted[sku] += units

    def owe(self, customer_id: int, kind: str, number: int, amount: Any) -> None:
        """Expect an entry of a customer's account."""
        with self._lock:
            self.entries[customer_id].append((kind, number, Decimal(str(amount))))

    def on_hand(self, sku: str, at_first: int) -> int:
        """The units of a product that must be on hand."""
        lines = [line for order in self.orders for line in order.lines if line.sku == sku]
        return at_first + self.adjusted[sku] - sum(line.dispatched - line.restocked for line in lines)
