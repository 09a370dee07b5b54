"""Declares the page of a table; reads its filters, its order and its cursor, and says what is wrong with them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, Generic, TypedDict, TypeVar, Unpack, get_type_hints

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.sorted_rows import After
from tradecounter.edge.named_arguments import taking_by_name
from tradecounter.edge.page_kit.forms import Filled, query_values
from tradecounter.edge.page_kit.tables import (
    Cells,
    Column,
    Order,
    Sort,
    Table,
    TableParameters,
    csv_of,
    cursor_text,
    read_cursor,
)
from tradecounter.edge.pages.operation import Access, page
from tradecounter.edge.pages.step import Handler
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import has_right
from tradecounter.kit.errors import DomainError, Kind

Wanted = TypeVar("Wanted", bound=TableParameters)
Row = TypeVar("Row")


class Listed(Struct, Generic[Wanted, Row], frozen=True):
    """The parameters of a table, the form with its filters, its order and the rows that were found."""

    wanted: Wanted
    form: Filled
    sort: Sort
    rows: list[Row]

    @property
    def is_file(self) -> bool:
        """Whether the rows are wanted as a file, and the filters are valid."""
        return self.wanted.is_file and not self.form.message and not self.form.errors


class At(TypedDict):
    """Which rows of a sorted table are wanted: at most so many, behind `after` in the order of a column."""

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
) -> Listed[Wanted, Row]:
    """Return what `find` finds; with wrong filters, no rows and the errors.

    `sorts` are the columns to sort by, with the types of their values, `default` is the order without a choice, which
    may be a function of the filters.
    """

    def order(chosen: str | None) -> Sort:
        return Sort.of(chosen, sorts, default if isinstance(default, str) else default(wanted))

    form = Filled(query_values(call.raw_query))
    wanted = shape()
    rows = []
    sort = order(None)
    try:
        wanted = call.query(shape)
        sort = order(None if has_one_order else wanted.sort)
        rows = await find(wanted, sort, read_cursor(wanted.after, sorts[sort.column]))
    except DomainError as error:
        form = form.with_error(error, Kind.NOT_FOUND)
    return Listed(wanted, form, sort, rows)


def table_page(
    path: str,
    title: str,
    *,
    columns: Sequence[Column],
    order: Order,
    template: str,
    file: str,
    cells: Cells,
    needs: Mapping[str, str] = MappingProxyType({}),
    shown: Callable[[Any, Call, Listed[Any, Any]], Awaitable[dict[str, Any]]] | None = None,
    **access: Unpack[Access],
) -> Callable[[Callable[..., Awaitable[Sequence[Any]]]], Handler]:
    """Declare the page of a table by the method that reads its rows, one more than a page shows if there are more.

    The method takes what it needs, by these names: `tx`; `call`; `now`; `wanted`, the filters, whose struct is the
    page's query; `at`, which rows are wanted. With `format=csv`, the page is a `file` with `cells`, by
    their headings; a function of a row may also take `now`. `needs` are the scopes of columns that not all may see, by
    their headings on the page and in the file; the template asks `table.has(heading)`. Nobody sorts by a column that
    they do not see, since the order tells of its values. `shown` returns what the template needs besides `table` and
    `form`.
    """

    def declare(method: Callable[..., Awaitable[Sequence[Any]]]) -> Handler:
        read_rows = taking_by_name(method)
        shape = get_type_hints(method).get("wanted", TableParameters)
        has_one_order = not any(column.sort for column in columns)

        async def handle(pages: Any, call: Call) -> Response:
            now = pages.desk.clock.now()

            async def find(wanted: Any, sort: Sort, after: After) -> list[Any]:
                at = At(column=sort.column, most=wanted.most, descending=sort.descending, after=after)
                async with pages.desk.reading() as tx:
                    return list(await read_rows(pages, tx=tx, call=call, now=now, wanted=wanted, at=at))

            hidden = {heading for heading, scope in needs.items() if not has_right(call.request, scope)}
            unsorted = {column.sort for column in columns if column.heading in hidden}
            sorts = {name: kind for name, kind in order.sorts.items() if name not in unsorted}
            found = await listed(call, shape, sorts, order.default, find, has_one_order=has_one_order)
            if found.is_file:
                visible = {heading: cell for heading, cell in cells.items() if heading not in hidden}
                return csv_of(file, visible, found.rows, now=now)
            address = pages.desk.view(call).here
            column = found.sort.column
            own = [each for each in columns if each.heading not in hidden]

            def cursor(row: Any) -> str:
                return cursor_text(*order.place(row, column))

            table = Table.of(call, address, own, found.rows, found.sort, cursor)
            more = {} if shown is None else await shown(pages, call, found)
            response: Response = pages.desk.show(call, template, form=found.form, table=table, **more)
            return response

        handler: Handler = wraps(method)(handle)
        return page(path, title, query=shape, **access)(handler)

    return declare


def views_of(address: str, parameter: str, names: Sequence[tuple[str, str]], chosen: str) -> dict[str, Any]:
    """Return the links between the views of a table, for `shown`; the address without the parameter is the first view.

    `names` are the values of the parameter with their names for people, and `chosen` is the value of this page.
    """
    first = names[0][0]
    links = {value: address if value == first else f"{address}?{parameter}={value}" for value, _ in names}
    return {"views": [(links[value], name) for value, name in names], "here": links[chosen]}


async def known(**values: Any) -> dict[str, Any]:
    """Return the same values for every page, for `shown`."""
    return values
