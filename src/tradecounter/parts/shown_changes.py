"""What an entry of the audit log changed, in words."""

from dataclasses import dataclass
from typing import Any

import msgspec

from tradecounter.audit.queries import AuditRecord
from tradecounter.edge.page_kit.values import label

_EMPTY: tuple[Any, ...] = (None, [], {})


@dataclass(frozen=True, slots=True)
class Change:
    """A field with its value before and after; None is no value."""

    field: str
    before: str | None
    after: str | None


def changes_of(record: AuditRecord) -> list[Change]:
    """Return what an entry changed, field by field."""
    before, after = msgspec.json.decode(record.before), msgspec.json.decode(record.after)
    return [Change(name, _shown(before.get(name)), _shown(after.get(name))) for name in {**before, **after}]


def _shown(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        separator = "; " if any(isinstance(each, dict) for each in value) else ", "
        return separator.join(filter(None, map(_shown, value))) or "none"
    if isinstance(value, dict):
        parts = ((name, _shown(each)) for name, each in value.items() if each not in _EMPTY)
        return ", ".join(f"{label(name).lower()} {text}" for name, text in parts if text) or "none"
    return str(value)
