"""What becomes of orders, step by step: each is an operation with an idempotency key, and is written down when it is
acknowledged.

A story is all operations on one order, one after another. Several stories run at once; they share the customers'
accounts, the stock, and the numbers of invoices and credit notes.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import count
from random import Random
from typing import Any

from rigs.kill.ledger import Ledger, SoldLine, SoldOrder
from rigs.kill.sender import Sender
from support.shop import STANDARD, order

PLENTY = "CABLE"
RETURNABLE = "PHONE"
SCARCE = "SWITCH"  # there is none until an order needs it: then it is adjusted, and serves back-orders
_CLIENTS = 8
_PENNY = Decimal("0.01")


@dataclass(frozen=True)
class Buyer:
    """A customer's id and API key."""

    id: int
    key: str


def tell_stories(sender: Sender, ledger: Ledger, buyers: list[Buyer], enough: Callable[[], bool], seed: int) -> None:
    """Tell stories from several clients at once, until it is enough; stories that have begun are told to their end."""
    numbers = count(1)

    def tell(_client: int) -> None:
        while not enough():
            number = next(numbers)
            chance = Random(seed * 100_000 + number)  # noqa: S311 no secret
            Story(sender, ledger, buyers[number % len(buyers)], number, chance).tell()

    with ThreadPoolExecutor(_CLIENTS) as clients:
        list(clients.map(tell, range(_CLIENTS)))


class Story:
    """The operations on one order."""

    def __init__(self, sender: Sender, ledger: Ledger, buyer: Buyer, number: int, chance: Random) -> None:
        self.sender, self.ledger, self.buyer, self.chance = sender, ledger, buyer, chance
        self._number, self._step = number, 0
        self._recipient = f"order-{number}@buyer.example"
        self._payments: list[tuple[int, Decimal]] = []
        self._gross: dict[int, Decimal] = {}
        self.order: SoldOrder

    def tell(self) -> None:
        """Take the order from its creation to what came back of it; some steps only with some orders."""
        if self._maybe(0.7):
            self.place()
        else:
            self.place_by_staff()
        self.supply()
        if self._maybe(0.3):
            self.note()
        if self._maybe(0.5):
            self.cancel(self._line(PLENTY))
        self.dispatch([(self._line(RETURNABLE), 1)])
        self.track()
        if self._maybe(0.5):
            self.invoice(part=True)
            self.pay(self.order.invoices[0], half=True)
        self.dispatch([(line, line.left) for line in self.order.lines if line.left])
        self.invoice(part=False)
        self.pay(None if self._maybe(0.4) else self.order.invoices[-1], half=False)
        if self._maybe(0.4):
            self.reverse()
        if self._maybe(0.5):
            self.credit()
        if self._maybe(0.6):
            self.take_back(self._line(RETURNABLE))

    def _maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def _line(self, sku: str) -> SoldLine:
        return next(line for line in self.order.lines if line.sku == sku)

    def _key(self) -> str:
        self._step += 1
        return f"key-{self._number}-{self._step}"

    def _staff(self, step: str, key: str, body: Any) -> Any:
        return self.sender.staff_post(f"/api/order/{self.order.reference}/{step}", key, body)

    def _happened(self, type_: str, mark: str = "") -> None:
        self.ledger.happened(f"order/{self.order.id}", type_, mark)

    def _body(self, key: str) -> dict[str, Any]:
        items = [(RETURNABLE, self.chance.randint(2, 4)), (PLENTY, self.chance.randint(3, 12))]
        if self._maybe(0.3):
            items.append((SCARCE, 1))
        contact = {"email_address": self._recipient}
        return order(items, customer_reference=key, order_notifications=contact)

    def _sold(self, id_: int, placed: dict[str, Any]) -> None:
        shown = self.sender.staff_get(f"/api/order/{id_}").json()
        lines = [SoldLine(item["id"], item["product"]["sku"], item["quantity"]) for item in shown["items"]]
        self.order = SoldOrder(id_, placed["order_reference"], self.buyer.id, self._recipient, lines)
        self.ledger.orders.append(self.order)
        self._happened("order.created")
        self._happened("order.confirmed")

    def place(self) -> None:
        """The customer creates and confirms the order at once."""
        key = self._key()
        body = {**self._body(key), "auto_confirm": True, "shipping_method": {"id": STANDARD}}
        placed = self.sender.customer_post(self.buyer.key, "/order", key, body)
        self._sold(placed["order_id"], placed)
        self.ledger.done(f"order/{placed['confirmation_code']}", "order.create", order=key)
        self.ledger.audited[f"order/{self.order.reference}", "order.confirm"] += 1

    def place_by_staff(self) -> None:
        """Support creates the order, then confirms it."""
        key, confirming = self._key(), self._key()
        created = self.sender.staff_post("/api/order", key, {**self._body(key), "customer_id": self.buyer.id})
        self.ledger.done(key, "order.create", order=key)
        path = f"/api/order/{created['confirmation_code']}/confirm"
        placed = self.sender.staff_post(path, confirming, {"shipping_method": {"id": STANDARD}})
        self._sold(placed["id"], placed)
        self.ledger.done(confirming, "order.confirm")

    def supply(self) -> None:
        """What the order needs of the scarce product arrives; it serves the earliest order that waits."""
        for line in self.order.lines:
            if line.sku == SCARCE:
                key = self._key()
                item = {"sku": SCARCE, "change": line.ordered, "reason": key}
                self.sender.staff_post("/api/stock/adjustment", key, {"items": [item]})
                self.ledger.adjust(SCARCE, line.ordered)
                self.ledger.done(key, "stock.adjust")

    def note(self) -> None:
        key = self._key()
        self._staff("note", key, {"text": key})
        self.order.notes.append(key)
        self.ledger.done(key, "order.note", note=key)

    def cancel(self, line: SoldLine) -> None:
        """Cancel a unit."""
        key = self._key()
        self._staff("cancel", key, {"items": [{"id": line.id, "quantity": 1}], "reason": key})
        line.cancelled += 1
        self._happened("order.cancelled", key)
        self.ledger.done(key, "order.cancel", cancelled_part=key)

    def dispatch(self, units: list[tuple[SoldLine, int]]) -> None:
        key = self._key()
        items = [{"id": line.id, "quantity": quantity} for line, quantity in units]
        self._staff("dispatch", key, {"items": items, "tracking_number": key})
        for line, quantity in units:
            line.dispatched += quantity
        self.order.shipments.append(key)
        self._happened("order.dispatched", key)
        self.ledger.done(key, "order.dispatch", shipment=key)

    def track(self) -> None:
        key = self._key()
        self._staff("tracking", key, {"type": "Collected", "description": key})
        self._happened("order.tracking_updated", key)
        self.ledger.done(key, "order.track", tracking=key)

    def invoice(self, *, part: bool) -> None:
        key = self._key()
        numbers = self._staff("invoice", key, {"part": part})["invoices"]
        [number] = set(numbers) - set(self.order.invoices)
        self.order.invoices.append(number)
        self._gross[number] = Decimal(str(self.sender.staff_get(f"/api/invoice/{number}").json()["cost_gross"]))
        self.ledger.owe(self.buyer.id, "invoice", number, self._gross[number])
        self._happened("invoice.issued", str(number))
        self.ledger.done(key, "invoice.issue", invoice=str(number))

    def pay(self, invoice: int | None, *, half: bool) -> None:
        """Pay an invoice, or an amount into the account; money beyond what is due stays there."""
        key = self._key()
        gross = self._gross[invoice or self.order.invoices[-1]]
        amount = (gross / 2).quantize(_PENNY, ROUND_HALF_UP) if half else gross + self.chance.randint(0, 1)
        of = {"customer_id": self.buyer.id} if invoice is None else {"invoice": invoice}
        paid = self.sender.staff_post("/api/payment", key, {**of, "amount": float(amount), "reference": key})
        self._payments.append((paid["id"], amount))
        self.ledger.owe(self.buyer.id, "payment", paid["id"], -amount)
        self.ledger.happened(f"payment/{paid['id']}", "payment.recorded", key)
        self.ledger.done(key, "payment.record", payment=key)

    def reverse(self) -> None:
        """Reverse the latest payment."""
        key, (payment, amount) = self._key(), self._payments.pop()
        self.sender.staff_post(f"/api/payment/{payment}/reverse", key, {"reason": key})
        self.ledger.owe(self.buyer.id, "reversal", payment, amount)
        self.ledger.happened(f"payment/{payment}", "payment.reversed", key)
        self.ledger.done(key, "payment.reverse", reversal=key)

    def credit(self) -> None:
        """Credit a unit of the latest invoice, or a pound of it."""
        key, number = self._key(), self.order.invoices[-1]
        what = {"lines": [{"item_id": self._line(PLENTY).id, "quantity": 1}]} if self._maybe(0.5) else {"amount": 1}
        issued = self.sender.staff_post(f"/api/invoice/{number}/credit-note", key, {**what, "reason": key})
        self._credited(issued, key)
        self.ledger.done(key, "credit_note.issue", credit_note=key)

    def _credited(self, issued: dict[str, Any], reason: str) -> None:
        self.order.credit_notes.append(issued["number"])
        self.ledger.owe(self.buyer.id, "credit_note", issued["number"], -Decimal(str(issued["cost_gross"])))
        self._happened("credit_note.issued", reason)

    def take_back(self, line: SoldLine) -> None:
        """A unit comes back, is restocked or scrapped, and credited."""
        opening, receiving = self._key(), self._key()
        body = {"items": [{"id": line.id, "quantity": 1}], "reason": opening}
        number = self._staff("return", opening, body)["number"]
        self.order.returns.append(number)
        self._happened("order.returned", f"{number} open")
        self.ledger.done(opening, "return.open", opened_return=opening)
        restock = int(self._maybe(0.5))
        units = {"id": line.id, "restock": restock, "scrap": 1 - restock}
        self.sender.staff_post(f"/api/return/{number}/receive", receiving, {"items": [units], "credit": True})
        line.restocked += restock
        self._happened("order.returned", f"{number} received")
        shown = self.sender.staff_get(f"/api/order/{self.order.reference}").json()
        [note] = set(shown["credit_notes"]) - set(self.order.credit_notes)
        reason = f"Return {number}: {opening}"
        self._credited(self.sender.staff_get(f"/api/credit-note/{note}").json(), reason)
        self._happened("order.returned", f"{number} closed")
        self.ledger.done(receiving, "return.receive", "credit_note.issue", credit_note=reason)
