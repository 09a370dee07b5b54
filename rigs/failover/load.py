"""Clients of the service while machines fail: stories of orders, and rivals for little credit and few units.

A rival's order is cancelled, or dispatched, invoiced and paid; then as many units come in as have left.
"""

import itertools
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

import httpx2

from rigs.kill.ledger import SoldLine, SoldOrder
from rigs.kill.sender import Acknowledged, Sender
from rigs.kill.stories import Buyer
from rigs.kill.trial import Trial
from support.service import Service
from support.shop import STANDARD, order, price, product

SKU = "FEW"
UNITS = 5
LIMIT = Decimal(600)
PAID = "-pay"  # ends the reference of a payment, which begins with that of the order
_PAUSE_SECONDS = 0.3
_SERVED = 0.4  # of the orders of rivals, if there are units for them
# 500 is noted as a fault, and the clients go on. The others are HAProxy's, when a node is lost or does not respond.
_UNKNOWN = frozenset({500, 502, 504})


@dataclass
class TimedSender(Sender):
    """A sender that notes when each change was acknowledged, and what else it was told."""

    writes: list[float] = field(default_factory=list)  # monotonic seconds
    statuses: Counter[str] = field(default_factory=Counter)
    calm_since: float | None = None  # monotonic seconds; None while there are faults, during which nobody gives up
    in_doubt: int = 0  # responses that say that the change may have been carried out

    def __post_init__(self) -> None:
        self.repeats |= _UNKNOWN
        self.http.event_hooks["response"].append(self._note)

    def gives_up(self, began: float) -> bool:
        return self.calm_since is not None and super().gives_up(max(began, self.calm_since))

    def _note(self, response: httpx2.Response) -> None:
        self.statuses[str(response.status_code)] += 1
        if response.status_code == 500:
            self.faults.append(f"{response.request.method} {response.request.url}: 500 {response.read().decode()}")
        if response.status_code == 503 and "may have been carried out" in response.read().decode():
            self.in_doubt += 1
        is_write = response.request.method == "POST" and response.is_success
        if is_write and response.headers.get("Idempotent-Replay") != "true":
            self.writes.append(time.monotonic())


@dataclass
class Rivals:
    """Clients of one customer with little credit, who want more units of one product than there are."""

    buyer: Buyer
    trial: Trial
    sender: Sender
    rejected: Counter[str] = field(default_factory=Counter)

    def run_until(self, done: threading.Event, seed: int, clients: int = 3) -> None:
        """Order and cancel until it is enough."""
        numbers = itertools.count(1)
        with ThreadPoolExecutor(clients) as pool:
            for client in [pool.submit(self._run, done, numbers, seed) for _ in range(clients)]:
                client.result()  # raises what ended it

    def _run(self, done: threading.Event, numbers: Any, seed: int) -> None:
        while not done.wait(_PAUSE_SECONDS):
            number = next(numbers)
            self._compete(f"rival-{number}", Random(seed * 7919 + number))  # noqa: S311 no secret

    def _compete(self, name: str, chance: Random) -> None:
        body = order([(SKU, chance.randint(1, 4))], customer_reference=name)
        body |= {"auto_confirm": True, "shipping_method": {"id": STANDARD}}
        placed = self._settle(self.sender.public, "/order", name, body, {"X-Api-Key": self.buyer.key})
        if not placed.is_success:
            return
        ledger, made = self.trial.ledger, placed.json()
        shown = self.sender.staff_get(f"/api/order/{made['order_id']}").json()
        lines = [SoldLine(item["id"], SKU, item["quantity"]) for item in shown["items"]]
        sold = SoldOrder(made["order_id"], made["order_reference"], self.buyer.id, "", lines)
        subject = f"order/{sold.id}"
        ledger.orders.append(sold)
        ledger.done(f"order/{made['confirmation_code']}", "order.create", order=name)
        ledger.audited[f"order/{sold.reference}", "order.confirm"] += 1
        ledger.happened(subject, "order.created")
        ledger.happened(subject, "order.confirmed")
        if chance.random() < _SERVED and self._dispatch(sold, f"{name}-dispatch"):
            self._pay(sold, self._invoice(sold, f"{name}-invoice"), f"{name}{PAID}")
            self._adjust(lines[0].ordered, f"{name}-adjust")
        else:
            self._cancel(sold, f"{name}-cancel")

    def _cancel(self, sold: SoldOrder, key: str) -> None:
        if self._staff(f"/api/order/{sold.reference}/cancel", key, {"reason": key}) is not None:
            sold.lines[0].cancelled = sold.lines[0].ordered
            self.trial.ledger.happened(f"order/{sold.id}", "order.cancelled", key)
            self.trial.ledger.done(key, "order.cancel")

    def _dispatch(self, sold: SoldOrder, key: str) -> bool:
        """Dispatch all units; return whether there were enough."""
        [line] = sold.lines
        body = {"items": [{"id": line.id, "quantity": line.ordered}], "tracking_number": key}
        if self._staff(f"/api/order/{sold.reference}/dispatch", key, body) is None:
            return False
        line.dispatched = line.ordered
        sold.shipments.append(key)
        self.trial.ledger.happened(f"order/{sold.id}", "order.dispatched", key)
        self.trial.ledger.done(key, "order.dispatch", shipment=key)
        return True

    def _invoice(self, sold: SoldOrder, key: str) -> int:
        issued = self._staff(f"/api/order/{sold.reference}/invoice", key, {"part": False})
        assert issued is not None, sold
        [number] = issued["invoices"]
        sold.invoices.append(number)
        self.trial.ledger.happened(f"order/{sold.id}", "invoice.issued", str(number))
        self.trial.ledger.done(key, "invoice.issue", invoice=str(number))
        return int(number)

    def _pay(self, sold: SoldOrder, invoice: int, key: str) -> None:
        ledger = self.trial.ledger
        gross = Decimal(str(self.sender.staff_get(f"/api/invoice/{invoice}").json()["cost_gross"]))
        ledger.owe(self.buyer.id, "invoice", invoice, gross)
        paid = self._staff("/api/payment", key, {"invoice": invoice, "amount": float(gross), "reference": key})
        assert paid is not None, sold
        ledger.owe(self.buyer.id, "payment", paid["id"], -gross)
        ledger.happened(f"payment/{paid['id']}", "payment.recorded", key)
        ledger.done(key, "payment.record", payment=key)

    def _adjust(self, units: int, key: str) -> None:
        body = {"items": [{"sku": SKU, "change": units, "reason": key}]}
        assert self._staff("/api/stock/adjustment", key, body) is not None
        self.trial.ledger.adjust(SKU, units)
        self.trial.ledger.done(key, "stock.adjust")

    def _staff(self, path: str, key: str, body: Any) -> Any:
        """Send an operation of the back office; return its response, or None if it was rejected."""
        headers = {"Authorization": f"Bearer {self.sender.token}", "X-Acting-User": key}
        response = self._settle(self.sender.backoffice, path, key, body, headers)
        return response.json() if response.is_success else None

    def _settle(self, urls: Any, path: str, key: str, body: Any, headers: dict[str, str]) -> httpx2.Response:
        """Repeat a request until it is carried out or rejected for good."""
        for url in itertools.cycle(urls):
            try:
                sent = {**headers, "Idempotency-Key": key}
                response = self.sender.http.post(f"{url}{path}", json=body, headers=sent)
            except httpx2.TransportError:
                time.sleep(_PAUSE_SECONDS)
                continue
            if response.is_success:
                self.sender.acknowledged.append(Acknowledged(urls, path, body, sent, response.content))
                return response
            if response.status_code not in {503, *_UNKNOWN} and "Idempotency-Key" not in response.text:
                assert response.status_code in {402, 409}, f"{path} {key}: {response.status_code} {response.text}"
                self.rejected[str(response.status_code)] += 1
                return response
            time.sleep(_PAUSE_SECONDS)
        raise AssertionError("there are no processes")


def few_units(service: Service) -> None:
    """Put the product on sale of which there are few units."""
    service.must_load("products", [product(SKU)])
    service.must_load("price-list", [price(SKU, 100)])
    service.must_load("stock", [{"sku": SKU, "available": UNITS}])


def poor_customer(service: Service, trial: Trial) -> Buyer:
    """A customer with little credit, whose orders are for few units."""
    made = service.customer(credit=str(LIMIT))
    poor = Buyer(made.id, made.key)
    trial.rivals.append(poor)
    trial.stock[SKU] = UNITS
    return poor
