"""Declares the page of a table; reads its filters, order and cursor, and shows their errors."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, Generic, TypedDict, TypeVar, Unpack, get_type_hints

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.sorted_rows import After
from tradecounter.edge.named_arguments import reading_by_name, taking_by_name
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.page_kit.tables import (
    Cells,
    Column,
    Sort,
    Table,
    TableOrder,
    TableParameters,
    csv_of,
    cursor_text,
    filters_of,
    read_cursor,
)
from tradecounter.edge.pages.operation import Access, page
from tradecounter.edge.pages.page_desk import PageGroup
from tradecounter.edge.pages.step import NO_VALUES, Handler, ReadValues, Values
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import has_right
from tradecounter.kit.errors import DomainError, Kind

Wanted = TypeVar("Wanted", bound=TableParameters)
Row = TypeVar("Row")


class Listing(Struct, Generic[Wanted, Row], frozen=True):
    """The rows of a table, with its parameters, the form of its filters and its order."""

    wanted: Wanted
    form: Filled
    sort: Sort
    rows: list[Row]

    @property
    def is_file(self) -> bool:
        """Whether the rows are wanted as a file, and the filters are valid."""
        return self.wanted.is_file and not self.form.message and not self.form.errors


class RowsToRead(TypedDict):
    """The rows of a sorted table to read: at most `most`, after `after` in the order of a column."""

    column: str
    most: int
    descending: bool
    after: After


async def listed(
    call: Call,
    shape: type[Wanted],
    sorts: Mapping[str, Any],
    default: str | Callable[[Any], str],
    find: Callable[[Wanted, Sort, After], Awaitable[list[Row]]],
    *,
    has_one_order: bool = False,
) -> Listing[Wanted, Row]:
    """Return the rows that `find` reads; with wrong filters, no rows and the errors.

    `sorts` are the columns to sort by, with the types of their values. `default` is the order without a choice; it may
    be a function of the filters.
    """

    def order(wanted: Wanted, chosen: str | None) -> Sort:
        return Sort.of(chosen, sorts, default if isinstance(default, str) else default(wanted))

    form = Filled(query_values(call.raw_query))
    wanted = shape()
    rows = []
    sort = order(wanted, None)
    try:
        wanted = call.query(shape)
        sort = order(wanted, None if has_one_order else wanted.sort)
        rows = await find(wanted, sort, read_cursor(wanted.after, sorts[sort.column]))
    except DomainError as error:
        form = form.with_error(error, Kind.NOT_FOUND)
    return Listing(wanted, form, sort, rows)


def table_page(
    path: str,
    title: str,
    *,
    columns: Sequence[Column],
    order: TableOrder,
    template: str,
    file: str,
    cells: Cells,
    needs: Mapping[str, str] = MappingProxyType({}),
    values: Values | ReadValues = NO_VALUES,
    **access: Unpack[Access],
) -> Callable[[Callable[..., Awaitable[Sequence[Any]]]], Handler]:
    """Declare the page of a table by the method that reads its rows.

    The method takes what it needs by these names: `tx`, `call`, `now`; `wanted`, the filters, whose struct is the
    page's query; and `at`, which rows to read. It returns up to `at["most"]` rows: one extra means a next page.

    With `format=csv`, the page is a `file` with `cells` by their headings; a function of a row may also take `now`.
    `needs` are the scopes of columns that not everybody may see, by their headings on the page and in the file; the
    template asks `table.has(heading)`. Nobody sorts by a column that they do not see, since the order tells its values.
    `values` are what the template shows besides `table` and `form`, or a method that returns it; it takes by name `tx`,
    a reading, `call`, `now` and the `listing`.

    Raises TypeError if not everybody can sort by the column of the default order.
    """

    def declare(method: Callable[..., Awaitable[Sequence[Any]]]) -> Handler:
        query = get_type_hints(method).get("wanted", TableParameters)
        default = (order.default if isinstance(order.default, str) else order.default(query())).removeprefix("-")
        if default not in order.sorts or any(each.sort == default and each.heading in needs for each in columns):
            raise TypeError(f"{path}: the default order is by {default!r}, by which not everybody can sort")
        read_rows = taking_by_name(method, ("tx", "call", "now", "wanted", "at"))
        readers = {name: taking_by_name(cell, ["now"]) if callable(cell) else cell for name, cell in cells.items()}
        filters = filters_of(query)
        found = reading_by_name(values, ("call", "listing")) if callable(values) else values

        @wraps(method)
        async def handle(pages: PageGroup, call: Call) -> Response:
            hidden = {heading for heading, scope in needs.items() if not has_right(call.request, scope)}
            shown = [column for column in columns if column.heading not in hidden]
            now = pages.desk.clock.now()

            async def find(wanted: Any, sort: Sort, after: After) -> list[Any]:
                at = RowsToRead(column=sort.column, most=wanted.most, descending=sort.descending, after=after)
                async with pages.desk.reading() as tx:
                    return list(await read_rows(pages, tx=tx, call=call, now=now, wanted=wanted, at=at))

            unsorted = {column.sort for column in columns if column.heading in hidden}
            sorts = {name: kind for name, kind in order.sorts.items() if name not in unsorted}
            has_one_order = not any(column.sort for column in columns)
            listing = await listed(call, query, sorts, order.default, find, has_one_order=has_one_order)
            if listing.is_file:
                seen = {heading: cell for heading, cell in readers.items() if heading not in hidden}
                return csv_of(file, seen, listing.rows, now=now)

            def cursor(row: Any) -> str:
                return cursor_text(*order.place(row, listing.sort.column))

            table = Table.of(call, pages.desk.view(call).here, shown, listing.rows, listing.sort, cursor, filters)
            others = await found(pages, call=call, listing=listing) if callable(found) else found
            return pages.desk.show(call, template, form=listing.form, table=table, **others)

        return page(path, title, query=query, **access)(handle)

    return declare


def views_of(address: str, parameter: str, names: Sequence[tuple[str, str]], chosen: str) -> dict[str, Any]:
    """Return the links between the views of a table, as values; without the parameter, the address is the first view.

    `names` are the values of the parameter with their names for people; `chosen` is the value of this page.
    """
    first = names[0][0]
    links = {value: address if value == first else f"{address}?{parameter}={value}" for value, _ in names}
    return {"views": [(links[value], name) for value, name in names], "here": links[chosen]}
