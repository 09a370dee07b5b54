"""The lines of a new order: fields of its form, which every button sends, typed lists, and uploaded ones."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tradecounter.bulk.encodings import UnreadableFileError, scan
from tradecounter.edge.page_kit.forms import Submitted
from tradecounter.kit.errors import invalid
from tradecounter.kit.keys import key_form
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.orders.create.offered_lines import unknown_products
from tradecounter.orders.create.quick_lines import BadLine, named_lines, numbered_quick_lines
from tradecounter.orders.wire import MOST_ITEMS, MOST_UNITS
from tradecounter.storefront.view import CustomerView

_ROW = re.compile(r"(items|quick|found)-([0-9]{1,4})-sku")
_OWN = re.compile(r"(items|quick|found)-[0-9]+-(sku|quantity)")
_STEPS = {"do", "add", "remove"}  # buttons


@dataclass(slots=True)
class Line:
    """A line as it was typed."""

    sku: str
    quantity: str

    @property
    def units(self) -> int:
        """The quantity; 0 if no order can have it."""
        try:
            units = read_count(self.quantity)
        except UnreadableNumberError:
            return 0
        return units if units <= MOST_UNITS else 0


@dataclass(slots=True)
class Basket:
    """The lines, and the lines of a pasted list that cannot be read; while there are any, none of the list is taken."""

    lines: list[Line] = field(default_factory=list)
    listed: str = ""
    bad_lines: list[BadLine] = field(default_factory=list)

    def add(self, sku: str, quantity: str) -> None:
        """Add a line; units of a product that has a line already are added to that line."""
        line = Line(sku, quantity)
        same = next((other for other in self.lines if key_form(other.sku) == key_form(sku)), None)
        if same is not None and same.units and line.units:
            same.quantity = str(same.units + line.units)
        else:
            self.lines.append(line)

    def add_list(self, text: str, view: CustomerView) -> None:
        """Add the lines of a list, if all of them can be read and all products can be bought."""
        lines, bad = numbered_quick_lines(text)
        unknown = unknown_products(view, ((line.number, line.item.sku, line.item.quantity) for line in lines))
        bad += [BadLine(number, f"is wrong: {problem}") for number, problem in unknown.items()]
        if not bad and len(self.lines) + len(lines) > MOST_ITEMS:
            bad.append(BadLine(lines[-1].number, f"is too many: an order has at most {MOST_ITEMS} lines"))
        if bad:
            self.listed, self.bad_lines = text, sorted(bad, key=lambda line: line.number)
            return
        for line in lines:
            self.add(line.item.sku, str(line.item.quantity))

    @property
    def list_problem(self) -> str:
        """What is wrong with the list, in one sentence for each line."""
        return named_lines(self.bad_lines)

    def values(self, others: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """Return the form's values with the lines numbered anew; `others` are those of the other fields."""
        values: dict[str, Sequence[str]] = {
            name: found for name, found in others.items() if not _OWN.fullmatch(name) and name not in _STEPS
        }
        for number, line in enumerate(self.lines):
            values[f"items-{number}-sku"] = [line.sku]
            values[f"items-{number}-quantity"] = [line.quantity]
        return values | {"list": [self.listed]}


def basket_of(submitted: Submitted, uploaded: str, view: CustomerView) -> Basket:
    """Return the lines of a form after its button: without lines of 0 units, with what was found or typed."""
    basket, removed, added = Basket(), submitted.one("remove"), submitted.one("add")
    for group, number, sku, quantity in _rows(submitted):
        if group == "items":
            if quantity != "0" and removed != number:
                basket.lines.append(Line(sku, quantity))
        elif group == "quick" and sku:
            basket.add(sku, quantity or "1")
        elif group == "found":
            if quantity and quantity != "0":
                basket.add(sku, quantity)
            elif key_form(sku) == key_form(added):
                basket.add(sku, "1")
    for text in (submitted.one("list"), uploaded):
        if text.strip():
            basket.add_list(text, view)
    return basket


def named_skus(submitted: Submitted, uploaded: str) -> list[str]:
    """Return the SKUs of all lines of a form and of its lists."""
    listed = (line for text in (submitted.one("list"), uploaded) for line in numbered_quick_lines(text)[0])
    return [*(sku for _, _, sku, _ in _rows(submitted)), *(line.item.sku for line in listed)]


def basket_with(items: Iterable[tuple[str, int]]) -> Basket:
    """Return a basket with pairs of SKU and quantity, such as those of an earlier order."""
    basket = Basket()
    for sku, quantity in items:
        basket.add(sku, str(quantity))
    return basket


def _rows(submitted: Submitted) -> list[tuple[str, str, str, str]]:
    """Return group, number, SKU and quantity of each row, in the order of the form."""
    order = {"items": 0, "quick": 1, "found": 2}
    found = [match for name in submitted.values if (match := _ROW.fullmatch(name))]
    rows = []
    for match in sorted(found, key=lambda match: (order[match[1]], int(match[2]))):
        place = f"{match[1]}-{match[2]}"
        sku, quantity = submitted.one(f"{place}-sku"), submitted.one(f"{place}-quantity")
        if sku or quantity:
            rows.append((match[1], match[2], sku, quantity))
    return rows


def text_of_file(content: bytes) -> str:
    """Return a file's text: UTF-8, UTF-16 with a byte order mark, or Windows-1252. Raises DomainError (invalid)."""
    try:
        encoding = scan(io.BytesIO(content)).encoding
    except UnreadableFileError as error:
        raise invalid("file", str(error)) from error
    text = content.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" in text:
        raise invalid("file", "must be a text file with the columns sku and quantity, such as CSV")
    return text
