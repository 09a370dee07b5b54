"""The attributes in the form of a product: a field for each, by its type, and a way to add another one."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.kit.errors import FieldError, invalid, invalid_fields
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.kit.text import fold
from tradecounter.products.queries.records import AttributeRecord

ADD = "add_attribute"  # the field with the key of an attribute that gets a field
ANOTHER = "another value"  # the choice of a value that no product has yet; a product may have these words, too
_MOST_CHOICES = 100
_YES_NO = (("true", "Yes"), ("false", "No"))


class AttributeFields(Struct):
    """An attribute in the form. `other` is a value that is none of its choices; without a value, products lose it."""

    key: str
    value: str | None = None
    other: str | None = None


class AttributeField(Struct, frozen=True):
    """A field of the form; `choices` are pairs of a value and its text."""

    number: int
    key: str
    name: str
    kind: Literal["choice", "number", "text"]
    value: str = ""
    choices: Sequence[tuple[str, str]] = ()
    is_new: bool = False


class ShownAttributes(Struct, frozen=True):
    """The attributes in the form, and the keys and names of those that can be added."""

    fields: Sequence[AttributeField]
    lacking: Sequence[tuple[str, str]]

    @property
    def note(self) -> str:
        """How many attributes have a value, and which."""
        names = [field.name for field in self.fields if field.value]
        return f"{len(names)}: {', '.join(names)}" if names else "none"


def shown_attributes(known: Sequence[AttributeRecord], stored: Mapping[str, str], filled: Filled) -> ShownAttributes:
    """Return the fields of the attributes that the form sent, or else those of a product by name, and one to add."""
    record_of = {each.key: each for each in known}

    def name_of(key: str) -> str:
        return record_of[key].name if key in record_of else key

    if filled.values:
        keys = {number: filled.value(f"attributes-{number}-key") for number in filled.rows("attributes")}
    else:
        keys = dict(enumerate(sorted(stored, key=lambda key: fold(name_of(key)))))
    added = filled.value(ADD)
    is_new = added in record_of and added not in keys.values()
    fields = []
    for number, key in keys.items():
        value = filled.value(f"attributes-{number}-value", stored.get(key, ""))
        had_choices = f"attributes-{number}-other" in filled.values
        fields.append(_field(number, key, record_of.get(key), value, had_choices=had_choices))
    if is_new:
        fields.append(_field(max(keys, default=-1) + 1, added, record_of[added], "", is_new=True))
    has = {field.key for field in fields}
    lacking = [(each.key, each.name) for each in known if each.key not in has]
    return ShownAttributes(fields, sorted(lacking, key=lambda found: fold(found[1])))


def _field(
    number: int,
    key: str,
    record: AttributeRecord | None,
    value: str,
    *,
    had_choices: bool = False,
    is_new: bool = False,
) -> AttributeField:
    """Return the field of an attribute. Its value is always among the choices, possible or not."""
    name = key if record is None else record.name
    shown = AttributeField(number=number, key=key, name=name, kind="text", value=value, is_new=is_new)
    if record is not None and record.type == "boolean":
        choices = list(_YES_NO)
    elif _has_choices(record) or had_choices:
        choices = [(each["value"], each["value"]) for each in (record.possible_values if record else ())]
    else:
        return replace(shown, kind="number") if record is not None and record.type == "int" else shown
    if value not in {"", ANOTHER, *dict(choices)}:
        choices.append((value, value))
    if record is None or record.type != "boolean":
        choices.append((ANOTHER, "Another value"))
    return replace(shown, kind="choice", choices=choices)


def _has_choices(record: AttributeRecord | None) -> bool:
    return record is not None and record.type == "string" and 0 < len(record.possible_values) <= _MOST_CHOICES


def read_attributes(
    typed: Sequence[AttributeFields], known: Sequence[AttributeRecord], stored: Mapping[str, str]
) -> dict[str, str]:
    """Return the values by attribute, without empty ones. Raises DomainError (invalid).

    A stored value stays as it is, whatever the attribute's type is now.
    """
    record_of = {each.key: each for each in known}
    values: dict[str, str] = {}
    wrong = []
    for place, each in enumerate(typed):
        record, before = record_of.get(each.key), stored.get(each.key, "")
        is_unchanged = each.value == _as_sent(before)
        is_other = each.value == ANOTHER and not is_unchanged and (each.other is not None or _has_choices(record))
        text, field = (each.other, "other") if is_other else (each.value, "value")
        if is_other and text is None:
            wrong.append(FieldError(f"attributes[{place}].other", "is required"))
        if text is None:
            continue
        if each.key in values:
            raise invalid(f"attributes[{place}].{field}", "is there twice")
        try:
            is_count = record is not None and record.type == "int" and not is_unchanged
            values[each.key] = str(read_count(text, signed=True)) if is_count else before if is_unchanged else text
        except UnreadableNumberError as error:
            wrong.append(FieldError(f"attributes[{place}].{field}", str(error)))
    if wrong:
        raise invalid_fields(wrong)
    return values


def _as_sent(value: str) -> str:
    """Return a value as a form sends it back: an input has one line, and its ends are stripped."""
    return re.sub(r"[\r\n]", "", value).strip()
