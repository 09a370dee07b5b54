"""What an import changes in a record, for people: only what differs, old and new."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tradecounter.bulk.differences import Change
from tradecounter.imports.kinds import IMPORT_KINDS, fields_of_kind
from tradecounter.kit.text import common_beginning
from tradecounter.parts.shown_changes import Change as ShownField
from tradecounter.parts.shown_changes import in_words

_LONGEST = 80  # characters of a text that is shown whole
_AROUND = 20  # characters before and behind what differs in a longer text
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_NAMES = {
    "single_unit_cost": "1 and more",
    "five_plus_unit_cost": "5 and more",
    "ten_plus_unit_cost": "10 and more",
}


def shown_fields(change: Change, order: Sequence[str]) -> list[ShownField]:
    """Return the fields of a change in an order, unknown ones last.

    Of a new or a deleted record, those with a value; of a list, what is new in it and what is gone; of a mapping, its
    members that differ; of a long text, the part that differs.
    """
    before, after = change.before or {}, change.after or {}
    given = after or before
    names = [*(name for name in order if name in given), *(name for name in given if name not in order)]
    if change.before is None or change.after is None:
        fields = ((name, before.get(name), after.get(name)) for name in names if given[name] not in _EMPTY)
        return [
            ShownField(_NAMES.get(name, name), *(_cut(in_words(value, name)) for value in values))
            for name, *values in fields
        ]
    return [shown for name in names for shown in _differing(name, before.get(name), after[name])]


def _differing(name: str, old: Any, new: Any) -> Iterator[ShownField]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            if old.get(key) != new.get(key):
                yield ShownField(f"{name} {key}", in_words(old.get(key), key), in_words(new.get(key), key))
    elif isinstance(old, list) and isinstance(new, list):
        gone, added = [each for each in old if each not in new], [each for each in new if each not in old]
        if not gone and not added:
            yield ShownField(name, None, "in another order")
        else:
            yield ShownField(name, *(in_words(part, name) if part else None for part in (gone, added)))
    elif isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _LONGEST:
        yield ShownField(name, *_differing_parts(old, new))
    else:
        yield ShownField(_NAMES.get(name, name), in_words(old, name) or None, in_words(new, name) or None)


def _differing_parts(old: str, new: str) -> tuple[str | None, str | None]:
    start = common_beginning(old, new)
    end = common_beginning(old[start:][::-1], new[start:][::-1])
    first = max(0, start - _AROUND)

    def part(text: str) -> str | None:
        last = min(len(text), len(text) - end + _AROUND)
        shown = _cut(text[first:last], _LONGEST + 2 * _AROUND)
        return f"{'…' if first else ''}{shown}{'…' if last < len(text) else ''}" if text else None

    return part(old), part(new)


def _cut(text: str | None, most: int = _LONGEST) -> str | None:
    return text if text is None or len(text) <= most else f"{text[:most]}…"


def sku_of(kind: str, change: Change, price_lists: Sequence[str]) -> str | None:
    """Return the SKU of the product that a changed record is of, if its key tells."""
    names = IMPORT_KINDS[kind].key
    if names == ("sku",):
        return change.key
    if names == ("price_list", "sku"):
        return next((change.key.removeprefix(f"{p} ") for p in price_lists if change.key.startswith(f"{p} ")), None)
    return None


def shown_changes(kind: str, price_lists: Sequence[str], *, are_made: bool = True) -> dict[str, Any]:
    """Return what the templates of changes ask: the fields of a change, and the path of its product's page.

    Of changes that are not made yet, what they would add has no page.
    """
    order = fields_of_kind(kind)

    def path_of(change: Change) -> str:
        sku = sku_of(kind, change, price_lists)
        return f"/product/{quote(sku)}" if sku and (are_made or change.before is not None) else ""

    return {"fields_of": lambda change: shown_fields(change, order), "path_of": path_of}
