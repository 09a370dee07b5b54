"""What an entry of the audit log changed, in words."""

from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from tradecounter.audit.queries import AuditRecord
from tradecounter.edge.page_kit.values import label
from tradecounter.kit.money import in_pounds

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
_decoder = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)
_EMPTY: tuple[Any, ...] = (None, [], {})


class Change(Struct, frozen=True):
    """A field with its value before and after; None is no value."""

    field: str
    before: str | None
    after: str | None


def changes_of(record: AuditRecord) -> list[Change]:
    """Return what an entry changed, field by field."""
    before, after = _decoder.decode(record.before), _decoder.decode(record.after)
    of_prices = record.action.startswith(_OF_PRICES)
    return [
        Change(name, *(in_words(fields.get(name), name, of_prices=of_prices) for fields in (before, after)))
        for name in {**before, **after}
    ]


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
        return ", ".join(f"{label(inner).lower()} {text}" for inner, text in parts if text) or "none"
    if name in _MONEY or (of_prices and isinstance(value, Decimal)):
        return in_pounds(Decimal(value))
    return str(value)
