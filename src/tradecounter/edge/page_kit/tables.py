"""Sorted, filtered and paged tables: their parameters, links and CSV files."""

import base64
import binascii
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from decimal import Decimal
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated, Any, Generic, Literal, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Meta, Struct, field
from starlette.responses import Response

from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.csv_text import MEDIA_TYPE, cell_of, line
from tradecounter.kit.errors import DomainError, invalid

Row = TypeVar("Row")
Cell = str | Callable[..., Any]  # an attribute of a row, also `order.name`, or a function of it
Cells = Mapping[str, Cell]  # by their headings

PAGE_SIZE = 50
MOST_IN_A_FILE = 10_000
_OWN = {"after", "format", "sort"}
_OUT_OF_RANGE = 2**63  # of a bigint
_MOST_DIGITS = 100  # before and after the point of a number in a cursor; amounts have far fewer


class TableParameters(Struct, frozen=True, kw_only=True):
    """The parameters of every table; filters are further fields. `sort` is a column; `-` before it is descending."""

    sort: str | None = None
    after: str | None = None
    format: Annotated[Literal["html", "csv"], Meta(description="`csv`: the first 10,000 rows as a file.")] = "html"

    @property
    def is_file(self) -> bool:
        """Whether the rows are wanted as a CSV file."""
        return self.format == "csv"

    @property
    def most(self) -> int:
        """How many rows to read: one more than a page shows, or as many as a file may have."""
        return MOST_IN_A_FILE if self.is_file else PAGE_SIZE + 1


class Filter(Struct, frozen=True):
    """How a page asks for a filter: its label, beside the filter's type in the struct of the parameters.

    `kind` is a type of `forms.field`, `numeric`, `decimal`, `check` or `select`, whose options the template gives.
    `any` is the text of no choice. What is set less often is `more`.
    """

    label: str
    kind: str = "search"
    any: str = ""
    wide: bool = False
    more: bool = False


def filters_of(parameters: type[Struct]) -> dict[str, Filter]:
    """Return the filters for which a page asks, by their names in the query."""
    notes = {each.encode_name: getattr(each.type, "__metadata__", ()) for each in msgspec.structs.fields(parameters)}
    return {name: note for name, found in notes.items() for note in found if isinstance(note, Filter)}


class Sort(Struct, frozen=True):
    """The order of a table's rows."""

    column: str
    descending: bool

    @classmethod
    def of(cls, wanted: str | None, columns: Iterable[str], default: str) -> "Sort":
        """Return the order of a parameter; the default for an unknown column."""
        text = wanted if wanted and wanted.removeprefix("-") in set(columns) else default
        return cls(text.removeprefix("-"), text.startswith("-"))

    @property
    def text(self) -> str:
        """The order as a parameter."""
        return f"-{self.column}" if self.descending else self.column


def cursor_text(value: Any, row_id: int) -> str:
    """Return the cursor after a row: the value by which the rows are sorted, and the row's id."""
    return base64.urlsafe_b64encode(msgspec.json.encode([value, row_id])).decode().rstrip("=")


def read_cursor(text: str | None, kind: Any) -> tuple[Any, int] | None:
    """Return the value, of a given type, and the id in a cursor. Raises DomainError (invalid)."""
    if not text:
        return None
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        value, row_id = msgspec.json.decode(raw, type=tuple[kind, int])
    except (binascii.Error, ValueError, msgspec.DecodeError) as error:
        raise _no_cursor() from error
    if not (_is_storable(value) and _is_storable(row_id)):
        raise _no_cursor()
    return value, row_id


def _is_storable(value: Any) -> bool:
    """Return whether the database can compare a value with a column."""
    match value:
        case tuple():
            return all(map(_is_storable, value))
        case int():
            return -_OUT_OF_RANGE <= value < _OUT_OF_RANGE
        case str():
            return "\x00" not in value
        case Decimal():
            return value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS
    return True


def _no_cursor() -> DomainError:
    return invalid("after", "take it from the link to the next page")


class Column(Struct, frozen=True):
    """A column's heading; `sort` is its name in the parameter `sort`, if the table can be sorted by it."""

    heading: str
    sort: str = ""
    numeric: bool = False


class TableOrder(Struct, frozen=True):
    """The columns to sort by, with the types of their values, and the default order.

    `default` may be a function of the filters. `place` returns a row's value in a column, and the row's id.
    """

    sorts: Mapping[str, Any]
    default: str | Callable[[Any], str]
    place: Callable[[Any, str], tuple[Any, int]]


class Table(Struct, Generic[Row], frozen=True):
    """A page of a table, with its filters and the addresses of other orders, of the next page and of the file."""

    address: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    sort: Sort
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    next_after: str | None = None
    after: str | None = None
    filters: Mapping[str, Filter] = {}

    @classmethod
    def of(
        cls,
        call: Call,
        address: str,
        columns: Sequence[Column],
        rows: Sequence[Row],
        sort: Sort,
        cursor: Callable[[Row], str],
        filters: Mapping[str, Filter] = MappingProxyType({}),
    ) -> "Table[Row]":
        """Return the table of rows; one row more than a page shows means that there is a next page."""
        query = {name: values for name, values in query_values(call.raw_query).items() if any(values)}
        shown = rows[:PAGE_SIZE]
        following = cursor(shown[-1]) if len(rows) > PAGE_SIZE else None
        after = query.get("after", [None])[-1]
        return cls(address, columns, shown, sort, query, following, after, filters)

    def _link(self, **changed: str | None) -> str:
        kept = self.query.keys() - _OWN - changed.keys()
        pairs = [(name, value) for name, values in self.query.items() if name in kept for value in values if value]
        sort = self.query.get("sort", [""])[-1]
        own = {"sort": sort, **changed}
        query = urlencode([*pairs, *((name, value) for name, value in own.items() if value)])
        return f"{self.address}?{query}" if query else self.address

    def has(self, heading: str) -> bool:
        """Return whether the person may see the column with a heading."""
        return any(column.heading == heading for column in self.columns)

    @property
    def is_filtered(self) -> bool:
        """Whether rows are left out."""
        return bool(set(self.query) - _OWN)

    @property
    def next_link(self) -> str | None:
        """The address of the next page."""
        return self._link(after=self.next_after) if self.next_after else None

    @property
    def first_link(self) -> str:
        """The address of the first page."""
        return self._link()

    @property
    def file_link(self) -> str:
        """The address of the CSV file."""
        return self._link(format="csv")

    @property
    def most_in_file(self) -> int:
        """How many rows the CSV file has at most."""
        return MOST_IN_A_FILE

    def filtered_link(self, **filters: str) -> str:
        """Return the address of the first page with some filters set to other values."""
        return self._link(**filters)

    def kept(self, fields: Container[str]) -> list[tuple[str, str]]:
        """Return the order and the filters that are not among the fields of a form, as pairs of name and value."""
        names = [name for name in self.query if name not in fields and name not in {"after", "format"}]
        return [(name, value) for name in names for value in self.query[name] if value]

    def sort_link(self, column: Column) -> str:
        """Return the address of the table sorted by a column; reversed if it is sorted by it already."""
        turned = self.sort.column == column.sort and not self.sort.descending
        return self._link(sort=f"-{column.sort}" if turned else column.sort)

    def aria_sort(self, column: Column) -> str:
        """Return the order of a column for `aria-sort`."""
        if self.sort.column != column.sort:
            return "none"
        return "descending" if self.sort.descending else "ascending"


def csv_file(name: str, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> Response:
    """Return a CSV file. A text that a spreadsheet would take for a formula gets an apostrophe before it.

    The name of a file that may have been cut says so: its sums may not be those of the table.
    """
    lines = [line(map(cell_of, row)) for row in rows]
    if len(lines) == MOST_IN_A_FILE:
        name = f"{name}-first-{MOST_IN_A_FILE}"
    return file_response("".join([line(headings), *lines]), f"{name}.csv", MEDIA_TYPE)


def csv_of(name: str, cells: Cells, rows: Iterable[Any], **facts: Any) -> Response:
    """Return a CSV file with the cells of rows by their headings; a function of a row gets `facts` too, by name."""
    readers = [cell if callable(cell) else _attribute(cell) for cell in cells.values()]
    return csv_file(name, list(cells), ([read(row, **facts) for read in readers] for row in rows))


def _attribute(name: str) -> Callable[..., Any]:
    read = attrgetter(name)
    return lambda row, **_facts: read(row)
