"""`/customer`: all customers, searched and filtered."""

from dataclasses import dataclass
from typing import Literal

from starlette.responses import Response

from tradecounter.customers.operations.staff import present_customers
from tradecounter.customers.operations.staff_wire import ResellerCustomer
from tradecounter.customers.queries.customer_table import SORTS, CustomerFilter, CustomerRow, customer_table
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text
from tradecounter.edge.pages.listing import After, listed
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.prices.queries.contract_table import price_list_keys

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
        lists: list[str] = []

        async def find(wanted: CustomerTable, sort: Sort, after: After) -> list[ListedCustomer]:
            chosen = CustomerFilter(
                text=text("query", wanted.query),
                price_list=text("price_list", wanted.price_list),
                blocked=None if wanted.state is None else wanted.state == "blocked",
            )
            async with self.desk.reading() as tx:
                lists.extend(await price_list_keys(tx))
                rows = await customer_table(
                    tx, chosen, sort.column, wanted.most, descending=sort.descending, after=after
                )
                shown = await present_customers(tx, [row.account for row in rows], self.desk.clock.now())
            return [ListedCustomer(*pair) for pair in zip(rows, shown, strict=True)]

        found = await listed(call, CustomerTable, SORTS, _BY_NAME, find)
        if found.is_file:
            return csv_file("customers", _FILE_HEADINGS, map(_file_row, found.rows))
        address = self.desk.view(call).at("/customer")
        table = Table.of(call, address, _COLUMNS, found.rows, found.sort, _cursor)
        return self.desk.show(call, "customers/list.html", form=found.form, table=table, price_lists=lists)


def _cursor(listed: ListedCustomer) -> str:
    return cursor_text(listed.row.sorted_by, listed.shown.id)


def _file_row(listed: ListedCustomer) -> tuple[object, ...]:
    one, credit = listed.shown, listed.shown.credit
    return (
        one.id, one.company, one.first_name, one.last_name, one.email_address, one.price_list or "default",
        one.discount, one.credit_limit, one.term_days, credit.total_outstanding, credit.available_credit,
        credit.overdue, "yes" if one.blocked else "no", one.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )  # fmt: skip
