"""`/customer`: all customers, searched and filtered."""

from dataclasses import dataclass
from typing import Literal

from starlette.responses import Response

from tradecounter.backoffice.customer_wire import ResellerCustomer
from tradecounter.backoffice.customers import present_customers
from tradecounter.backoffice.desk import text
from tradecounter.customers.queries.customer_table import SORTS, CustomerFilter, CustomerRow, customer_table
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.page_kit.forms import Filled, Submitted, query_values
from tradecounter.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text, read_cursor
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.operation import page
from tradecounter.pages.page_desk import PageDesk
from tradecounter.pricing.queries.contract_table import price_list_keys
from tradecounter.rest.call import Call
from tradecounter.rest.statuses import STATUS

_COLUMNS = (
    Column("Customer", "name"),
    Column("Prices"),
    Column("Credit limit", "limit", numeric=True),
    Column("Owed", numeric=True),
    Column("Available", numeric=True),
    Column("Overdue", numeric=True),
    Column("Added", "added"),
)
_BY_NAME = "name"
_FILE_HEADINGS = (
    "id", "company", "first_name", "last_name", "email_address", "price_list", "discount", "credit_limit", "term_days",
    "total_outstanding", "available_credit", "overdue", "blocked", "created_at",
)  # fmt: skip


class CustomerTable(TableParameters, frozen=True, kw_only=True):
    """The filters of the table."""

    query: str | None = None
    price_list: str | None = None
    state: Literal["active", "blocked"] | None = None


@dataclass(frozen=True, slots=True)
class ListedCustomer:
    """A row of the table: a customer as the API shows it, and the value by which it is sorted."""

    row: CustomerRow
    shown: ResellerCustomer


@dataclass(frozen=True, slots=True)
class CustomerListPages:
    """The list of customers."""

    desk: PageDesk
    parts: OfficeParts

    @page("/customer", "Customers", scope="customers:read", query=CustomerTable)
    async def list_customers(self, call: Call) -> Response:
        filled, wanted = Filled(query_values(call.raw_query)), CustomerTable()
        found: list[ListedCustomer] = []
        lists: list[str] = []
        sort = Sort.of(None, SORTS, _BY_NAME)
        try:
            wanted = call.query(CustomerTable)
            sort = Sort.of(wanted.sort, SORTS, _BY_NAME)
            found, lists = await self._found(wanted, sort)
        except DomainError as error:
            if error.kind is not Kind.INVALID:
                raise
            filled = Filled.of(Submitted(filled.values), error, STATUS[error.kind])
        if wanted.is_file and not filled.message and not filled.errors:
            return csv_file("customers", _FILE_HEADINGS, map(_file_row, found))
        address = self.desk.view(call).at("/customer")
        table = Table.of(call, address, _COLUMNS, found, sort, _cursor)
        return self.desk.show(call, "customers/list.html", form=filled, table=table, price_lists=lists)

    async def _found(self, wanted: CustomerTable, sort: Sort) -> tuple[list[ListedCustomer], list[str]]:
        chosen = CustomerFilter(
            text=text("query", wanted.query),
            price_list=text("price_list", wanted.price_list),
            blocked=None if wanted.state is None else wanted.state == "blocked",
        )
        after = read_cursor(wanted.after, SORTS[sort.column])
        async with self.desk.reading() as tx:
            rows = await customer_table(tx, chosen, sort.column, wanted.most, descending=sort.descending, after=after)
            shown = await present_customers(tx, [row.account for row in rows], self.desk.clock.now())
            return [ListedCustomer(*pair) for pair in zip(rows, shown, strict=True)], await price_list_keys(tx)


def _cursor(listed: ListedCustomer) -> str:
    return cursor_text(listed.row.sorted_by, listed.shown.id)


def _file_row(listed: ListedCustomer) -> tuple[object, ...]:
    one, credit = listed.shown, listed.shown.credit
    return (
        one.id, one.company, one.first_name, one.last_name, one.email_address, one.price_list or "default",
        one.discount, one.credit_limit, one.term_days, credit.total_outstanding, credit.available_credit,
        credit.overdue, "yes" if one.blocked else "no", one.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )  # fmt: skip
