"""Filters by attributes: `ports>=24,colour=black` (specification, section 4; catalogue)."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain

from msgspec import Struct
from pyroaring import BitMap

from tradecounter.kit.columns.bytes_column import encoded
from tradecounter.kit.columns.lookups import InvertedIndex, PostingLists
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import fold, shown_name
from tradecounter.products.queries.records import AttributeRecord, ProductRecord

_FILTER = re.compile(r"^(?P<name>[^<>=]+)(?P<sign><=|>=|=|<|>)(?P<value>.+)$", re.DOTALL)
_NUMBER = re.compile(r"^[+-]?(\d+(\.\d*)?|\.\d+)$", re.ASCII)


def as_number(text: str) -> Decimal | None:
    """Parse a plain decimal number; return None for other text."""
    text = text.strip()
    return Decimal(text) if _NUMBER.match(text) else None


class NumberValues(Struct, frozen=True):
    """The distinct numbers of an attribute, sorted, and the rows of each number."""

    numbers: list[Decimal]
    rows: PostingLists

    def equal(self, value: str, where: str) -> BitMap:
        """Return the rows whose number equals the value. Raises DomainError (invalid)."""
        return self.rows.union(*self._span(self._parse(value, where)))

    def compare(self, sign: str, value: str, where: str) -> BitMap:
        """Return the rows whose number compares with the value as `sign` says. Raises DomainError (invalid)."""
        left, right = self._span(self._parse(value, where))
        spans = {"<": (0, left), "<=": (0, right), ">": (right, len(self.rows)), ">=": (left, len(self.rows))}
        return self.rows.union(*spans[sign])

    def _span(self, number: Decimal) -> tuple[int, int]:
        return bisect_left(self.numbers, number), bisect_right(self.numbers, number)

    @staticmethod
    def _parse(value: str, where: str) -> Decimal:
        number = as_number(value)
        if number is None:
            raise invalid("attribute", f"{where!r} compares a number with {value!r}, which is not a number")
        return number


class TextValues(Struct, frozen=True):
    """The rows of each value of a string or boolean attribute, by folded value."""

    rows: InvertedIndex

    def equal(self, value: str, where: str) -> BitMap:
        """Return the rows that have the value."""
        return self.rows.get(key_form(value)) or BitMap()

    def compare(self, sign: str, value: str, where: str) -> BitMap:
        """Raise DomainError (invalid): only numbers have an order."""
        raise invalid("attribute", f"{where!r}: only number attributes can be compared with {sign}; use =")


Values = NumberValues | TextValues


class AttributeIndex(Struct, frozen=True):
    """Every attribute's values, by its folded key and its folded name."""

    by_name: dict[str, Values]
    possible: dict[str, frozenset[str]]  # each attribute's possible values, by the same keys and names

    def find(self, filters: Iterable[str]) -> BitMap | None:
        """Return the rows that pass all filters; None without filters.

        Several `=` on one attribute are alternatives. Raises DomainError (invalid) for a malformed filter, an unknown
        attribute or a comparison that the attribute's type does not allow.
        """
        equal: dict[int, BitMap] = {}
        matches: BitMap | None = None
        for where in chain.from_iterable(map(self._split, filters)):
            values, sign, value = self._parse(where)
            if sign == "=":
                equal[id(values)] = equal.get(id(values), BitMap()) | values.equal(value, where)
            else:
                rows = values.compare(sign, value, where)
                matches = rows if matches is None else matches & rows
        for rows in equal.values():
            matches = rows if matches is None else matches & rows
        return matches

    def having(self, key: str, value: str) -> BitMap:
        """Return the rows whose attribute has a value; none if no product can have it."""
        values = self.by_name.get(key_form(key))
        try:
            return BitMap() if values is None else values.equal(value, value)
        except DomainError:
            return BitMap()

    def _split(self, text: str) -> list[str]:
        """Split a string of filters at the commas that are not part of a name or of a possible value."""
        if "," not in text:
            return [text]
        match = _FILTER.match(text)
        if match is not None:
            name, value = key_form(match["name"]), key_form(match["value"])
            if value in self.possible.get(name, ()) or ("," not in value and name in self.by_name):
                return [text]
        return [part for item in text.split(",") if (part := item.strip())]

    def _parse(self, where: str) -> tuple[Values, str, str]:
        match = _FILTER.match(where)
        if match is None:
            raise self._malformed(where)
        name, sign, value = match["name"].strip(), match["sign"], match["value"].strip()
        values = self.by_name.get(key_form(name))
        if values is None:
            raise invalid("attribute", f"{shown_name(name)!r} is not an attribute")
        if not value:
            raise self._malformed(where)
        return values, sign, value

    @staticmethod
    def _malformed(where: str) -> DomainError:
        return invalid(
            "attribute", f"{shown_name(where)!r} is not a filter; write name=value, or <, >, <=, >= for numbers"
        )


class AttributeIndexBuilder:
    """Builds an attribute index from the attribute values of products."""

    def __init__(self, attributes: Sequence[AttributeRecord]) -> None:
        self._attributes = attributes
        self._rows: dict[str, defaultdict[str, list[int]]] = {a.key: defaultdict(list) for a in attributes}

    def add(self, row: int, product: ProductRecord) -> None:
        """Add the values of the product in the next row."""
        for key, value in product.attributes.items():
            if key in self._rows:
                self._rows[key][value].append(row)

    def texts(self) -> Iterator[tuple[str, list[int]]]:
        """Yield the values that are texts or numbers, with their rows."""
        for attribute in self._attributes:
            if attribute.type != "boolean":
                yield from self._rows[attribute.key].items()

    def done(self, possible_values: Mapping[str, Iterable[str]]) -> AttributeIndex:
        """Return the index; `possible_values` is by attribute key."""
        values = {a.key: _values(a, self._rows[a.key]) for a in self._attributes}
        possible = {key: frozenset(key_form(value) for value in found) for key, found in possible_values.items()}
        # If one attribute's name is another attribute's key, the key wins.
        key_of = {fold(a.name): a.key for a in self._attributes} | {fold(a.key): a.key for a in self._attributes}
        return AttributeIndex(
            {name: values[key] for name, key in key_of.items()}, {name: possible[key] for name, key in key_of.items()}
        )


def _values(attribute: AttributeRecord, rows: dict[str, list[int]]) -> Values:
    if attribute.type == "int":
        by_number: defaultdict[Decimal, list[int]] = defaultdict(list)
        for text, rows_of_text in rows.items():
            if (number := as_number(text)) is not None:
                by_number[number] += rows_of_text
        numbers = sorted(by_number)
        return NumberValues(numbers, PostingLists.of([sorted(by_number[number]) for number in numbers]))
    by_text: defaultdict[bytes, list[int]] = defaultdict(list)
    for text, rows_of_text in rows.items():
        by_text[encoded(key_form(text))] += rows_of_text
    return TextValues(InvertedIndex.of({text: sorted(found) for text, found in by_text.items()}))
