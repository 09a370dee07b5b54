"""Says in words who did what: entries of the audit log, what they changed, and events."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from tradecounter.audit.queries import AuditRecord
from tradecounter.edge.page_kit.values import label, past
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import plural, sentence
from tradecounter.orders.reseller_wire import ResellerOrder

# Fields in pounds. Of other numbers, the log does not say what they are.
_MONEY = frozenset(
    {
        "amount",
        "carriage",
        "consumer_unit_cost",
        "cost_gross",
        "cost_net",
        "cost_tax",
        "credit_limit",
        "due",
        "five_plus_unit_cost",
        "gross",
        "net",
        "order_limit",
        "overdue",
        "price",
        "purchase_cost",
        "single_unit_cost",
        "ten_plus_unit_cost",
        "total",
        "unit_cost",
    }
)
_OF_PRICES = ("quote.price", "price.")  # actions whose fields are named after products or price lists
_NAMED_BY_DATA = {"price.change", "stock.adjust"}  # of these, also names that look like those of fields
_FIELD = re.compile(r"[a-z][a-z0-9_]*|shipping \d+")  # the latter of a method's price on a quote
_decoder = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)
_EMPTY: tuple[Any, ...] = (None, [], {})


class ShownChange(Struct, frozen=True):
    """A field with its value before and after; None is no value.

    `is_data` is whether its name is data, such as a SKU, and not that of a field.
    """

    field: str
    before: str | None
    after: str | None
    is_data: bool = False

    @property
    def name(self) -> str:
        """The name for people; one that is data is as it is."""
        return self.field if self.is_data else label(self.field)


def changes_of(record: AuditRecord) -> list[ShownChange]:
    """Return what an entry changed, field by field."""
    before, after = _decoder.decode(record.before), _decoder.decode(record.after)
    of_prices = record.action.startswith(_OF_PRICES)
    own = {"location", "reason"} if record.action in _NAMED_BY_DATA else {**before, **after}
    changes = []
    for name in {**before, **after}:
        old, new = (in_words(fields.get(name), name, of_prices=of_prices) for fields in (before, after))
        changes.append(ShownChange(name, old, new, is_data=name not in own or not _FIELD.fullmatch(name)))
    return changes


def in_words(value: Any, name: str, *, of_prices: bool = False) -> str | None:
    """Return the value of a field for people; `of_prices` means that other decimals than known amounts are pounds."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        separator = "; " if any(isinstance(each, dict) for each in value) else ", "
        return separator.join(filter(None, (in_words(each, name, of_prices=of_prices) for each in value))) or "none"
    if isinstance(value, dict):
        parts = (
            (inner, in_words(each, inner, of_prices=of_prices)) for inner, each in value.items() if each not in _EMPTY
        )
        return ", ".join(f"{_inner(name, inner)} {text}" for inner, text in parts if text) or "none"
    if name in _MONEY or (of_prices and isinstance(value, Decimal)):
        return in_pounds(Decimal(value))
    return str(value)


def _inner(outer: str, name: str) -> str:
    return name if outer == "attributes" or not _FIELD.fullmatch(name) else name.replace("_", " ")


# What someone did, for actions whose noun and verb do not say it.
_ACTIONS = {
    "order.create": "placed the order",
    "quote.create": "asked for the quote",
    "order.track": "added tracking",
    "order.video": "added a packing video",
    "order.note": "added a note",
    "order.external_id": "changed the external id",
    "quote.external_id": "changed the external id",
    "order.configure": "added a configuration",
    "order.reschedule": "changed the expected date",
    "order.expire": "let the order expire",
    "quote.expire": "let the quote expire",
    "order.dispatch": "dispatched units",
    "order.request_approval": "asked for approval",
    "quote.request_approval": "asked for approval",
    "order.decline_approval": "declined the approval",
    "order.price_again": "priced the order again",
    "shipment.take_back": "took a shipment back",
    "shipment.correct": "corrected a shipment",
    "request.open": "asked for a change",
    "request.close": "answered a request",
    "return.open": "opened a return",
    "return.receive": "received returned units",
    "return.close": "closed the return",
    "invoice.issue": "issued the invoice",
    "invoice.resend": "sent the invoice again",
    "credit_note.issue": "issued a credit note",
    "bank_line.place": "placed the line",
    "bank_line.set_aside": "set the line aside",
    "customer.note": "added a note",
    "customer.remind": "sent a reminder",
    "customer.send_statement": "sent a statement",
    "product.create": "added the product",
    "delivery.receive": "booked a delivery in",
}
# What happened to what, for events whose type does not say it.
_EVENTS = {
    "order.approval_requested": ("asked for approval of", "order"),
    "order.shipment_taken_back": ("took back a shipment of", "order"),
    "order.tracking_updated": ("updated the tracking of", "order"),
    "order.expected_date_changed": ("changed the expected date of", "order"),
    "order.returned": ("recorded a return of", "order"),
    "request.opened": ("asked for a change of", "order"),
    "request.closed": ("answered a request about", "order"),
    "quote.requested": ("asked for", "quote"),
    "customer.created": ("added", "the customer"),
    "customer.changed": ("changed", "the settings of the customer"),
    "customer.blocked": ("blocked", "the customer"),
    "log.restored": ("restored the data of", "the customer"),
}
_MOST_CHANGES = 4
_LONGEST_VALUE = 60


def told_of(entries: Iterable[AuditRecord]) -> list[tuple[datetime, str, str]]:
    """Return when something was done, by whom, and what, for each entry."""
    return [(entry.at, entry.acting_user or entry.actor_name, sentence_of(entry)) for entry in entries]


def sentence_of(entry: AuditRecord) -> str:
    """Return what someone did, as it follows the name: adjusted the stock, on hand from 5 to 3 (Broken)."""
    after: Mapping[str, Any] = msgspec.json.decode(entry.after)
    reason = after.get("reason")
    details = _prices(entry) if entry.action == "price.change" else _changes(entry)
    told = f" ({reason})" if isinstance(reason, str) and reason.strip() else ""
    return f"{phrase_of(entry.action)}{f', {details}' if details else ''}{told}"


def history_of(order: ResellerOrder) -> list[tuple[datetime, str, str]]:
    """Return what the history of an order tells: when, who, and what someone did.

    Of the cancellations, only the last one of a cancelled order is of the whole order.
    """
    told = [phrase_of(entry.what) for entry in order.history]
    cancellations = [place for place, entry in enumerate(order.history) if entry.what == "order.cancel"]
    for place in cancellations[:-1] if order.state == "cancelled" else cancellations:
        told[place] = "cancelled units"
    return [(entry.at, entry.by, what) for entry, what in zip(order.history, told, strict=True)]


def phrase_of(action: str) -> str:
    """Return what someone did by an action of the audit log: `webhook.add` is added the webhook."""
    if action in _ACTIONS:
        return _ACTIONS[action]
    noun, _, done = action.partition(".")
    verb, _, rest = done.partition("_")
    what = f"the {rest.replace('_', ' ')} of the" if rest else "the"
    return f"{past(verb)} {what} {noun.replace('_', ' ')}"


def happened(kind: str, by: str, name: str, data: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what an event says before, in and after the name of its subject; `by` is empty if nobody is known.

    Of `order.confirmed`, they are “Sam Staff confirmed order”, “ORD-100001” and nothing.
    """
    noun, _, done = kind.partition(".")
    verb, what = _EVENTS.get(kind, (done.replace("_", " "), noun.replace("_", " ")))
    of_units = kind == "order.cancelled" and bool(data.get("items"))
    if of_units:
        what = f"units of {what}"
    after = _amount(data)
    number = _number(data)
    if number:
        what = f"{what} {number} of order"
    if by and kind not in {"order.expired", "quote.expired"}:
        return f"{by} {verb} {what}", name, after
    if kind in _EVENTS:
        who = "Somebody" if verb.startswith("asked") else "The system"
        return f"{who} {verb} {what}", name, after
    subject = sentence(what)
    return subject, name, f" {verb}" if done == "expired" else f" {'were' if of_units else 'was'} {verb}{after}"


def _number(data: Mapping[str, Any]) -> int | None:
    document = next((data[part] for part in ("invoice", "credit_note") if isinstance(data.get(part), dict)), None)
    number = None if document is None else document.get("number")
    return number if isinstance(number, int) else None


def _amount(data: Mapping[str, Any]) -> str:
    parts = (data, *(data[name] for name in ("invoice", "credit_note") if isinstance(data.get(name), dict)))
    amounts = (part.get(name) for part in parts for name in ("gross", "amount"))
    amount = next((each for each in amounts if isinstance(each, int | float | str)), None)
    return "" if amount is None else f", {in_pounds(Decimal(str(amount)))}"


def _changes(entry: AuditRecord) -> str:
    """Return what was changed, if it had another value before: name from A to B, weight from 1 to 2."""
    changed = [change for change in changes_of(entry) if change.before is not None and change.field != "reason"]
    names = [change.name if change.is_data else change.name.lower() for change in changed]
    shown = [
        f"{name} from {_short(change.before)} to {_short(change.after)}"
        for name, change in zip(names, changed, strict=True)
    ]
    more = len(shown) - _MOST_CHANGES
    return ", ".join(shown[:_MOST_CHANGES]) + (f" and {plural(more, 'more field')}" if more > 0 else "")


def _prices(entry: AuditRecord) -> str:
    """Return the prices of one unit on each list before and after."""
    before, after = msgspec.json.decode(entry.before), msgspec.json.decode(entry.after)
    lists = dict.fromkeys([*before, *after])
    return ", ".join(f"on {name} from {_single(before.get(name))} to {_single(after.get(name))}" for name in lists)


def _single(costs: Any) -> str:
    amounts = [cost for cost in costs if cost is not None] if isinstance(costs, list) else []
    return in_pounds(Decimal(str(amounts[0]))) if amounts else "none"


def _short(value: str | None) -> str:
    if value is None or value == "":
        return "none"
    return value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
