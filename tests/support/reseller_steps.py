"""The steps of the reseller's side and of its customers, each as one HTTP request."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import httpx2

from support.service import Customer
from support.shop import ADDRESS, GERMAN_ADDRESS, order

OVERRIDE = {"override_credit": {"reason": "Paid by card"}}
CSV = {"Content-Type": "text/csv"}
REASON = "a test"

Units = Sequence[tuple[int, int]]


def named(items: Units) -> list[dict[str, int]]:
    return [{"id": item, "quantity": quantity} for item, quantity in items]


def method_of(number: int | None) -> dict[str, Any]:
    return {} if number is None else {"shipping_method": {"id": number}}


@dataclass(frozen=True)
class ResellerSteps:
    """The reseller's requests; orders and quotes are named by their confirmation codes."""

    staff: httpx2.Client

    def post(self, path: str, body: Any = None, **query: str) -> httpx2.Response:
        return self.staff.post(path, json=body, params=query)

    def order(
        self, customer: int, items: Iterable[tuple[str, int]], method: int | None, *, override: bool, at_once: bool
    ) -> httpx2.Response:
        body = {"customer_id": customer, **order(items), **method_of(method), "auto_confirm": at_once}
        return self.post("/api/order", body | (OVERRIDE if override else {}))

    def confirm(self, code: str, method: int | None, *, override: bool, kind: str = "order") -> httpx2.Response:
        body = method_of(method) | (OVERRIDE if override else {})
        return self.post(f"/api/{kind}/{code}/confirm", body)

    def price(
        self,
        code: str,
        costs: dict[str, Decimal],
        discount: Decimal | None,
        carriage: dict[int, Decimal],
        *,
        force: bool,
        dry_run: bool = False,
    ) -> httpx2.Response:
        body = {
            "items": [{"sku": sku, "cost_net": float(cost)} for sku, cost in costs.items()],
            "shipping": [{"id": method, "cost_net": float(cost)} for method, cost in carriage.items()],
            "discount": None if discount is None else float(discount),
            "force": force,
        }
        return self.post(f"/api/quote/{code}/price", body, dry_run="true" if dry_run else "false")

    def decline(self, code: str) -> httpx2.Response:
        return self.post(f"/api/quote/{code}/decline", {"reason": REASON})

    def amend(
        self,
        code: str,
        changes: Sequence[dict[str, Any]],
        method: int | None = None,
        *,
        abroad: bool | None = None,
        reference: str | None = None,
        override: bool = False,
        dry_run: bool = False,
    ) -> httpx2.Response:
        items = [c | ({"unit_cost": float(c["unit_cost"])} if c.get("unit_cost") is not None else {}) for c in changes]
        body = {"items": items, **method_of(method), "reason": REASON} | (OVERRIDE if override else {})
        if abroad is not None:
            body["shipping_address"] = GERMAN_ADDRESS if abroad else ADDRESS
        if reference is not None:
            body["customer_reference"] = reference
        return self.staff.patch(f"/api/order/{code}", json=body, params={"dry_run": "true" if dry_run else "false"})

    def cancel(self, code: str, items: Units | None = None) -> httpx2.Response:
        body: dict[str, Any] = {"reason": REASON}
        return self.post(f"/api/order/{code}/cancel", body if items is None else {**body, "items": named(items)})

    def dispatch(self, code: str, items: Units | None = None) -> httpx2.Response:
        return self.post(f"/api/order/{code}/dispatch", {} if items is None else {"items": named(items)})

    def invoice(self, code: str, *, part: bool) -> httpx2.Response:
        return self.post(f"/api/order/{code}/invoice", {"part": part})

    def pay(
        self,
        amount: Decimal,
        *,
        customer: int | None = None,
        invoice: int | None = None,
        reference: str = "",
        received_on: date | None = None,
        method: str = "bank_transfer",
        force: bool = False,
    ) -> httpx2.Response:
        whose = {"customer_id": customer} if invoice is None else {"invoice": invoice}
        body = {**whose, "amount": float(amount), "reference": reference, "method": method, "force": force}
        return self.post("/api/payment", body if received_on is None else {**body, "received_on": str(received_on)})

    def bank_file(self, lines: Iterable[tuple[date, Decimal, str]]) -> httpx2.Response:
        text = "date,amount,reference\n" + "".join(f"{day},{amount},{reference}\n" for day, amount, reference in lines)
        return self.staff.post("/api/payment/import", content=text, headers=CSV)

    def reverse(self, payment: int) -> httpx2.Response:
        return self.post(f"/api/payment/{payment}/reverse", {"reason": REASON})

    def credit(
        self, invoice: int, *, lines: Sequence[tuple[int | None, int]] = (), net: Decimal | None = None
    ) -> httpx2.Response:
        what: dict[str, Any] = {"lines": [{"item_id": item, "quantity": units} for item, units in lines]}
        if net is not None:
            what = {"amount": float(net)}
        return self.post(f"/api/invoice/{invoice}/credit-note", {**what, "reason": REASON})

    def open_return(self, code: str, items: Units) -> httpx2.Response:
        return self.post(f"/api/order/{code}/return", {"items": named(items), "reason": REASON})

    def receive(self, number: str, items: Iterable[tuple[int, int, int]], *, credit: bool) -> httpx2.Response:
        received = [{"id": item, "restock": good, "scrap": bad} for item, good, bad in items]
        return self.post(f"/api/return/{number}/receive", {"items": received, "credit": credit})

    def close_return(self, number: str) -> httpx2.Response:
        return self.post(f"/api/return/{number}/close")

    def block(self, customer: int) -> httpx2.Response:
        return self.post(f"/api/customer/{customer}/block", {"reason": REASON})

    def unblock(self, customer: int) -> httpx2.Response:
        return self.staff.delete(f"/api/customer/{customer}/block")

    def terms(self, customer: int, **terms: Any) -> httpx2.Response:
        return self.staff.patch(f"/api/customer/{customer}", json=terms)

    def adjust(self, sku: str, change: int) -> httpx2.Response:
        return self.post("/api/stock/adjustment", {"items": [{"sku": sku, "change": change, "reason": REASON}]})

    def load(self, kind: str, text: str, **query: str) -> httpx2.Response:
        return self.staff.post(f"/api/import/{kind}", content=text, headers=CSV, params=query)

    def stock(self, sku: str, available: int, **query: str) -> httpx2.Response:
        return self.load("stock", f"sku,available\n{sku},{available}\n", **query)

    def expect(self, sku: str, units: int, day: date) -> httpx2.Response:
        """Announce a delivery."""
        return self.load("incoming", f"sku,incoming,expected_on\n{sku},{units},{day}\n")

    def prices(self, sku: str, costs: Sequence[Decimal]) -> httpx2.Response:
        names = "single_unit_cost,five_plus_unit_cost,ten_plus_unit_cost"
        rows = f"price_list,sku,{names}\ndefault,{sku},{','.join(map(str, costs))}\n"
        return self.load("price-list", rows, force="true")

    def roll_back(self, number: int, *, force: bool) -> httpx2.Response:
        return self.post(f"/api/import/{number}/roll-back", force="true" if force else "false")

    def statement(self, customer: int) -> dict[str, Any]:
        response = self.staff.get(f"/api/customer/{customer}/statement")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found


def order_as_customer(
    customer: Customer, items: Iterable[tuple[str, int]], method: int | None, *, at_once: bool
) -> httpx2.Response:
    return customer.post("/order", order(items, **method_of(method), auto_confirm=at_once))


def quote_as_customer(customer: Customer, items: Iterable[tuple[str, int]], method: int | None) -> httpx2.Response:
    return customer.post("/quote", order(items, **method_of(method)))


def confirm_as_customer(customer: Customer, code: str, method: int | None) -> httpx2.Response:
    return customer.put(f"/order/{code}", method_of(method))
