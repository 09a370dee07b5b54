"""Checks after a trial: every acknowledged operation is there exactly once, and everything agrees with it.

Each check compares the ledger with the database, with the responses of the two APIs, or with what receivers got. It
returns the faults that it found, by their names.
"""

from collections import Counter
from decimal import Decimal
from typing import Any, LiteralString

from rigs.kill.event_checks import all_events, faults_in_deliveries, faults_in_events
from rigs.kill.ledger import SoldOrder
from rigs.kill.sender import Sender
from rigs.kill.trial import Trial
from support.orders import faults_in_the_books, rows
from support.service import Service
from tradecounter.db.invariants import missing_invoices, wrong_credit, wrong_stock

Faults = dict[str, Any]


_OF_THE_SET_UP = {"webhook.add", "secret.register"}

_MARKS: dict[str, LiteralString] = {
    "order": "select customer_reference from orders",
    "note": "select text from order_note",
    "cancelled_part": "select reason from order_change where kind = 'cancelled'",
    "shipment": "select tracking_number from shipment",
    "tracking": "select description from tracking_event",
    "invoice": "select number::text from invoice",
    "payment": "select reference from payment",
    "reversal": "select reversal_reason from payment where reversed_at is not null",
    "credit_note": "select reason from credit_note",
    "opened_return": "select reason from order_return",
}
_NUMBERS: dict[str, tuple[LiteralString, LiteralString]] = {
    "invoice": ("select number from invoice order by 1", "select last from invoice_number"),
    "credit note": ("select number from credit_note order by 1", "select last from credit_note_number"),
}


def all_faults(service: Service, sender: Sender, trial: Trial) -> Faults:
    """What is wrong after a trial, when the worker has nothing left to do."""
    log = all_events(sender, trial)
    return {
        **faults_in_documents(service, trial),
        **faults_in_numbers(service),
        **faults_in_audit(service, trial),
        **faults_in_events(service, sender, trial, log),
        **faults_in_deliveries(trial, log),
        **faults_in_orders(sender, trial),
        **faults_in_stock(sender, trial),
        **faults_in_money(sender, trial),
        **faults_in_the_tables(service),
        **({"responses differ": sender.faults} if sender.faults else {}),
    }


def faults_in_documents(service: Service, trial: Trial) -> Faults:
    """Documents of which there is not exactly one for each acknowledged operation."""
    faults: Faults = {}
    for place, statement in _MARKS.items():
        found = Counter(mark for (mark,) in rows(service, statement))
        faults.update(_differences(place, trial.ledger.marks[place], found))
    return faults


def _differences(what: str, expected: Counter[Any], found: Counter[Any]) -> Faults:
    """Name what is lost and what is doubled or was never acknowledged."""
    lost, surplus = expected - found, found - expected
    return {
        **({f"{what}: lost": list(lost.elements())} if lost else {}),
        **({f"{what}: doubled or unknown": list(surplus.elements())} if surplus else {}),
    }


def faults_in_numbers(service: Service) -> Faults:
    """Gaps in the numbers of invoices and credit notes, from the first to the last that was given."""
    faults: Faults = {}
    for what, (statement, last) in _NUMBERS.items():
        found = [number for (number,) in rows(service, statement)]
        [(given,)] = rows(service, last)
        if found and found != list(range(found[0], given + 1)):
            faults[f"{what}: gap in the numbers"] = sorted(set(range(found[0], given + 1)) - set(found))
    return faults


def faults_in_audit(service: Service, trial: Trial) -> Faults:
    """Entries of the audit log of which there is not exactly one for each acknowledged change."""
    found = rows(
        service,
        "select coalesce(acting_user, subject), action, actor_kind from audit_entry where id > %s",
        trial.first_audit_entry,
    )
    changes = Counter((who, action) for who, action, kind in found if kind != "system" and action not in _OF_THE_SET_UP)
    stopped = [who for who, action, _ in found if action == "webhook.stop"]
    return {
        **_differences("audit entry", trial.ledger.audited, changes),
        **({"webhook was stopped": stopped} if stopped else {}),
    }


def faults_in_orders(sender: Sender, trial: Trial) -> Faults:
    """Orders that are not what their operations made of them."""
    faults: Faults = {}
    for order in trial.ledger.orders:
        response = sender.staff_try(f"/api/order/{order.id}")
        expected = _expected_order(order)
        shown = _shown_order(response.json()) if response.is_success else response.text
        if expected != shown:
            faults[f"order {order.reference} differs"] = {"expected": expected, "shown": shown}
    return faults


def _expected_order(order: SoldOrder) -> dict[str, Any]:
    return {
        "reference": order.reference,
        "customer_id": order.customer_id,
        "lines": sorted((li.id, li.ordered - li.cancelled, li.cancelled, li.dispatched) for li in order.lines),
        "invoices": sorted(order.invoices),
        "credit_notes": sorted(order.credit_notes),
        "returns": sorted(order.returns),
        "shipments": sorted(order.shipments),
        "notes": sorted(order.notes),
    }


def _shown_order(shown: dict[str, Any]) -> dict[str, Any]:
    return {
        "reference": shown["order_reference"],
        "customer_id": shown["customer_id"],
        "lines": sorted(
            (item["id"], item["quantity"], item["quantity_cancelled"], item["quantity_dispatched"])
            for item in shown["items"]
        ),
        "invoices": sorted(shown["invoices"]),
        "credit_notes": sorted(shown["credit_notes"]),
        "returns": sorted(shown["returns"]),
        "shipments": sorted(shipment["tracking_number"] for shipment in shown["shipments"]),
        "notes": sorted(note["text"] for note in shown["notes"]),
    }


def faults_in_stock(sender: Sender, trial: Trial) -> Faults:
    """Products whose units on hand are not received less dispatched plus restocked."""
    faults: Faults = {}
    for sku, at_first in trial.stock.items():
        stock, expected = sender.staff_get(f"/api/product/{sku}").json()["stock"], trial.ledger.on_hand(sku, at_first)
        if (stock["on_hand"], stock["allocated"], stock["back_ordered"]) != (expected, 0, 0):
            faults[f"stock of {sku} differs"] = {"expected": expected, "shown": stock}
    return faults


def faults_in_money(sender: Sender, trial: Trial) -> Faults:
    """Accounts whose statement is not what was acknowledged, or whose debt is not its balance."""
    faults: Faults = {}
    for buyer in [*trial.buyers, *trial.rivals]:
        statement = sender.staff_get(f"/api/customer/{buyer.id}/statement").json()
        shown = Counter(
            (e["kind"], e["number"], _pounds(e["debit"]) - _pounds(e["credit"])) for e in statement["entries"]
        )
        expected = Counter(trial.ledger.entries[buyer.id])
        faults.update(_differences(f"account {buyer.id}", expected, shown))
        balance = sum((amount for _, _, amount in trial.ledger.entries[buyer.id]), Decimal(0))
        if _pounds(statement["closing_balance"]) != balance:
            faults[f"account {buyer.id}: wrong balance"] = (statement["closing_balance"], balance)
        credit = sender.staff_get(f"/api/customer/{buyer.id}").json()["credit"]
        # Every order of a trial is wholly invoiced, so the exposure is what is due of its invoices.
        exposure = balance + _pounds(statement["unallocated"])
        if _pounds(credit["total_outstanding"]) != exposure:
            faults[f"account {buyer.id}: wrong exposure"] = (credit["total_outstanding"], exposure)
    return faults


def _pounds(amount: Any) -> Decimal:
    return Decimal(str(amount))


def faults_in_the_tables(service: Service) -> Faults:
    """Tables that contradict each other."""
    checks = {"credit": wrong_credit, "stock": wrong_stock, "missing invoices": missing_invoices}
    found = {f"tables: {name}": service.in_transaction(check) for name, check in checks.items()}
    return {name: wrong for name, wrong in found.items() if wrong} | faults_in_the_books(service)
