"""The lines in the forms of new and of amended orders, which people type, upload or search for, with their prices."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from tradecounter.baskets.change_basket import NotedItem
from tradecounter.baskets.queries import BasketLine
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import MOST_ROWS, form_name, parse_form, row_numbers
from tradecounter.edge.page_kit.submitted_forms import Submitted
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.keys import key_form
from tradecounter.kit.money import NOTHING, percentage
from tradecounter.kit.numbers import UnreadableNumberError, count_or_nothing, read_count
from tradecounter.kit.text import plural
from tradecounter.orders.create.draft import unknown_skus
from tradecounter.orders.create.quick_lines import BadLine, lines_of_heading, numbered_quick_lines
from tradecounter.orders.offers import OfferedLine, offered_lines, search_lines, sold_lines, unknown_products
from tradecounter.orders.rules import VAT_AREA, tax_rate
from tradecounter.orders.wire import MOST_ITEMS, MOST_UNITS
from tradecounter.storefront.view import CustomerView, current_view

_ROW = re.compile(r"(items|quick|found)-([0-9]{1,4})-sku")
_OWN = re.compile(r"(items|quick|found)-[0-9]+-(sku|quantity|note)|pick-[0-9]+")
_STEPS = {"do", "add", "remove"}  # buttons


class Line(Struct):
    """A line as it was typed."""

    sku: str
    quantity: str
    note: str = ""

    @property
    def units(self) -> int:
        """The quantity; 0 if it is not valid for an order."""
        return count_or_nothing(self.quantity, MOST_UNITS)


class FormLines(Struct):
    """The lines of the form, and the lines of a pasted list that are wrong, with their errors.

    `taken` is how many lines of a list are in the form.
    """

    lines: list[Line] = field(default_factory=list)
    listed: str = ""
    bad_lines: list[BadLine] = field(default_factory=list)
    taken: int = 0
    _first: dict[str, Line] = field(default_factory=dict)  # of the lines of each SKU

    def __post_init__(self) -> None:
        """Index the lines by SKU, because a list may name a SKU very often."""
        for line in self.lines:
            self._first.setdefault(key_form(line.sku), line)

    def add(self, sku: str, quantity: str, note: str = "") -> None:
        """Add a line. If the product already has a line, its units and its note are added to that line."""
        line, same = Line(sku, quantity, note), self._line(sku)
        if same is not None and same.units and line.units:
            same.quantity = str(same.units + line.units)
            if note and note != same.note:
                same.note = f"{same.note}; {note}" if same.note else note
        else:
            self._append(line)

    def add_list(self, text: str, view: CustomerView) -> None:
        """Add the valid lines of a list whose products can be bought; keep the others as text."""
        lines, bad = sold_lines(view, text)
        for line in lines:
            if len(self.lines) < MOST_ITEMS or self._line(line.sku) is not None:
                self.add(line.sku, str(line.units))
                self.taken += 1
            else:
                bad.append(BadLine(line.number, f"is too many: an order has at most {MOST_ITEMS} lines"))
        if bad:
            self._keep(text, bad)

    def _keep(self, text: str, bad: Sequence[BadLine]) -> None:
        """Keep the bad lines of a list, below its heading if it has one; errors number them as they then stand."""
        rows = text.splitlines()
        kept = self.listed.splitlines() or rows[: lines_of_heading(text)]
        for line in sorted(bad, key=lambda line: line.number):
            kept.append(rows[min(line.number, len(rows)) - 1])
            self.bad_lines.append(BadLine(len(kept), line.problem))
        self.listed = "\n".join(kept)

    def add_from_elsewhere(self, stored: Iterable[BasketLine], seen: int | None) -> bool:
        """Add products that were put into the basket since the form was shown; return whether there are any.

        `seen` is the highest position of the lines that the form has shown; None if it is unknown.
        """
        new = [line for line in stored if seen is not None and line.position > seen and not self._line(line.sku)]
        for line in new:
            self._append(Line(line.sku, str(line.quantity), line.note))
        return bool(new)

    def items(self, view: CustomerView) -> list[NotedItem]:
        """Return the lines that are valid for an order."""
        return [
            NotedItem(line.sku, line.units, note=line.note) for line in self.lines if line.units and view.find(line.sku)
        ]

    def _line(self, sku: str) -> Line | None:
        return self._first.get(key_form(sku))

    def _append(self, line: Line) -> None:
        self.lines.append(line)
        self._first.setdefault(key_form(line.sku), line)

    def values(self, others: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """Return the form's values with the lines numbered anew; `others` are those of the other fields."""
        values: dict[str, Sequence[str]] = {
            name: found for name, found in others.items() if not _OWN.fullmatch(name) and name not in _STEPS
        }
        for number, line in enumerate(self.lines):
            values[f"items-{number}-sku"] = [line.sku]
            values[f"items-{number}-quantity"] = [line.quantity]
            values[f"items-{number}-note"] = [line.note]
        return values | {"list": [self.listed]}


def lines_of_form(submitted: Submitted, uploaded: str, view: CustomerView) -> FormLines:
    """Return the lines of a form after its button is pressed, with what was added, and without lines of 0 units."""
    form, removed, added = FormLines(), submitted.one("remove"), submitted.one("add")
    for row in _rows(submitted):
        line = row.line
        if row.group == "items":
            if line.quantity != "0" and removed != row.number:
                form.add(line.sku, line.quantity, line.note)
        elif row.group == "quick" and line.sku:
            form.add(submitted.one(f"pick-{row.number}") or line.sku, line.quantity or "1")
        elif row.group == "found":
            if line.quantity and line.quantity != "0":
                form.add(line.sku, line.quantity)
            elif key_form(line.sku) == key_form(added):
                form.add(line.sku, "1")
    for text in (submitted.one("list"), uploaded):
        if text.strip():
            form.add_list(text, view)
    return form


def typed_lines(submitted: Submitted) -> FormLines:
    """Return the lines of a form as they are, lines of 0 units included."""
    return FormLines([row.line for row in _rows(submitted) if row.group == "items"])


def named_skus(submitted: Submitted, uploaded: str) -> list[str]:
    """Return the SKUs of all lines of a form and of its lists."""
    listed = (line for text in (submitted.one("list"), uploaded) for line in numbered_quick_lines(text)[0])
    return [*(row.line.sku for row in _rows(submitted)), *(line.sku for line in listed)]


def lines_with(items: Iterable[NotedItem]) -> FormLines:
    """Return lines from items, such as those of the basket and of an earlier order."""
    form = FormLines()
    for item in items:
        form.add(item.sku, str(item.quantity), item.note)
    return form


class _Row(Struct, frozen=True):
    group: str
    number: str
    line: Line


def _rows(submitted: Submitted) -> list[_Row]:
    """Return the rows that are filled in, in the order of the form. Raises DomainError (too large)."""
    order = {"items": 0, "quick": 1, "found": 2}
    matches = [match for name in submitted.values if (match := _ROW.fullmatch(name))]
    if len(matches) > MOST_ROWS:
        raise DomainError(Kind.TOO_LARGE, f"the form has more than {MOST_ROWS:,} lines")
    rows = []
    for match in sorted(matches, key=lambda match: (order[match[1]], int(match[2]))):
        place = f"{match[1]}-{match[2]}"
        line = Line(*(submitted.one(f"{place}-{name}") for name in ("sku", "quantity", "note")))
        if line.sku or line.quantity:
            rows.append(_Row(match[1], match[2], line))
    return rows


class _Lines(Struct):
    items: Annotated[list[NotedItem], Meta(max_length=MOST_ITEMS)] = []


def checked(
    values: Mapping[str, Sequence[str]], lines: FormLines, view: CustomerView, problem: DomainError | None
) -> Filled:
    """Return a form with the errors of its lines, and with the problem of its file.

    The good lines of a list are taken, so it is no bad request.
    """
    errors: dict[str, str] = {}
    try:
        parse_form(Submitted(values), _Lines)
    except DomainError as error:
        errors |= {form_name(field_error.field): field_error.message for field_error in error.field_errors}
    for field_error in unknown_skus(view, ((number, line.sku) for number, line in enumerate(lines.lines))):
        errors[form_name(field_error.field)] = field_error.message
    if lines.bad_lines:
        taken = plural(lines.taken, "other line is", "other lines are")
        added = f"; {taken} among those of the order above" if lines.taken else ""
        errors["list"] = f"has {plural(len(lines.bad_lines), 'line')} to correct{added}"
    if problem is not None:
        errors["file"] = problem.field_errors[0].message if problem.field_errors else problem.message
    return Filled(values, errors, status=STATUS[Kind.INVALID] if errors.keys() - {"list"} else 200)


class PricedLine(Struct, frozen=True):
    """A line of the form; without an offer, the customer cannot buy the product."""

    line: Line
    offer: OfferedLine | None

    @property
    def net(self) -> Decimal:
        """The net price of the line."""
        return NOTHING if self.offer is None else self.offer.net


class PricedLines(Struct, frozen=True):
    """The lines of the form for a delivery to a country; `vat_rate` is the reseller's, in per cent."""

    lines: Sequence[PricedLine]
    country: str
    vat_rate: Decimal

    @property
    def is_export(self) -> bool:
        """Whether the delivery has no VAT."""
        return self.country not in VAT_AREA

    @property
    def net(self) -> Decimal:
        """The net price of all lines."""
        return sum((line.net for line in self.lines), NOTHING)

    @property
    def gross(self) -> Decimal:
        """The price of all lines with VAT, without shipping."""
        rate = tax_rate(self.country, self.vat_rate)
        return self.net + sum((percentage(line.net, rate) for line in self.lines), NOTHING)


def priced(view: CustomerView, lines: Sequence[Line], now: datetime) -> list[PricedLine]:
    """Return lines with their prices."""
    offers = offered_lines(view, [(number, line.sku, line.units) for number, line in enumerate(lines)], now)
    return [PricedLine(line, offers.get(number)) for number, line in enumerate(lines)]


_PICK = re.compile(r"pick-(\d{1,4})")  # the button of a product that the words of a row have found
_MOST_FOUND = 5
_MOST_SEARCHED = 50  # rows whose words are searched for: people type one at a time


class ProductRow(Struct, frozen=True):
    """A row of the form: the typed text, and its product, the products that its words match, or its error."""

    number: int
    sku: str = ""
    quantity: str = ""
    offered: OfferedLine | None = None
    found: Sequence[OfferedLine] = ()
    problem: str = ""


async def product_rows(
    tx: Transaction,
    values: Mapping[str, Sequence[str]],
    group: str,
    whole: CustomerView,
    customer_id: int,
    *,
    blank: int,
    now: datetime,
) -> list[ProductRow]:
    """Return the rows of a group with the prices of an order, followed by `blank` empty rows."""
    typed = _typed(values, group)
    view = await current_view(tx, whole, customer_id, [row.sku for row in typed if row.sku], uk_date(now))
    rows = _with_products(typed, view, whole, now)
    following = rows[-1].number + 1 if rows else 0
    unused = sum(1 for row in rows if not row.sku)
    return [*rows, *(ProductRow(number) for number in range(following, following + max(blank - unused, 0)))]


def _typed(values: Mapping[str, Sequence[str]], group: str) -> list[ProductRow]:
    submitted = Submitted(values)
    return [
        ProductRow(number, submitted.one(f"{group}-{number}-sku"), submitted.one(f"{group}-{number}-quantity"))
        for number in row_numbers(values, group)
    ]


def _with_products(
    typed: Sequence[ProductRow], view: CustomerView, whole: CustomerView, now: datetime
) -> list[ProductRow]:
    """Return rows with their products. `view` has the prices of an order; words search in `whole`."""
    wanted, problems = [], {}
    for row in typed:
        try:
            wanted += [(row.number, row.sku, min(read_count(row.quantity or "1"), MOST_UNITS) or 1)] if row.sku else []
        except UnreadableNumberError as error:
            problems[row.number] = str(error)
    offered = offered_lines(view, wanted, now)
    unknown = [each for each in wanted if each[0] not in offered][:_MOST_SEARCHED]
    found = {number: search_lines(whole, sku, quantity, _MOST_FOUND, now).lines for number, sku, quantity in unknown}
    problems |= unknown_products(view, wanted)
    return [
        replace(
            row,
            offered=offered.get(row.number),
            found=found.get(row.number, ()),
            problem=problems.get(row.number, ""),
        )
        for row in typed
    ]


def picked(submitted: Submitted) -> str:
    """Return the SKU of the product whose button was pressed; empty without such a button."""
    return submitted.one(_pressed(submitted))


def with_picked(submitted: Submitted, group: str) -> tuple[int, Filled] | None:
    """Return the row whose product's button was pressed, and the form with its SKU; None without such a button."""
    name = _pressed(submitted)
    if not name:
        return None
    number = int(name.partition("-")[2])
    return number, Filled({**submitted.values, f"{group}-{number}-sku": [submitted.one(name)]})


def _pressed(submitted: Submitted) -> str:
    return next((name for name in submitted.values if _PICK.fullmatch(name)), "")
