"""`/customer`: all customers, searched and filtered."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from tradecounter.customers.operations.staff import present_customers
from tradecounter.customers.operations.wire import ResellerCustomer
from tradecounter.customers.queries.customer_table import SORTS, CustomerFilter, CustomerRow, customer_table
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, Order, TableParameters
from tradecounter.edge.pages.listing import At, table_page
from tradecounter.edge.pages.page_desk import PageDesk
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
_SETTINGS = ("id", "company", "first_name", "last_name", "email_address", "price_list", "discount", "credit_limit",
             "term_days")  # fmt: skip
_CREDIT = ("total_outstanding", "available_credit", "overdue")
_CELLS: Cells = {
    **{name: f"shown.{name}" for name in _SETTINGS},
    "price_list": lambda listed: listed.shown.price_list or "default",
    **{name: f"shown.credit.{name}" for name in _CREDIT},
    "blocked": lambda listed: "yes" if listed.shown.blocked else "no",
    "created_at": "shown.created_at",
}


class CustomerTable(TableParameters, frozen=True, kw_only=True):
    """The filters of the table."""

    query: str | None = None
    price_list: str | None = None
    state: Literal["active", "blocked"] | None = None


class ListedCustomer(Struct, frozen=True):
    """A row of the table: a customer as the API shows it, and the value by which it is sorted."""

    row: CustomerRow
    shown: ResellerCustomer


class CustomerListPages(Struct, frozen=True):
    """The list of customers."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/customer",
        "Customers",
        columns=_COLUMNS,
        order=Order(SORTS, _BY_NAME, lambda listed, _: (listed.row.sorted_by, listed.shown.id)),
        template="customers/list.html",
        file="customers",
        cells=_CELLS,
        shown=lambda self, *_: self._price_lists(),
        scope="customers:read",
    )
    async def list_customers(
        self, tx: Transaction, wanted: CustomerTable, at: At, now: datetime
    ) -> list[ListedCustomer]:
        chosen = CustomerFilter(
            text=text("query", wanted.query),
            price_list=text("price_list", wanted.price_list),
            blocked=None if wanted.state is None else wanted.state == "blocked",
        )
        rows = await customer_table(tx, chosen, **at)
        shown = await present_customers(tx, [row.account for row in rows], now)
        return [ListedCustomer(*pair) for pair in zip(rows, shown, strict=True)]

    async def _price_lists(self) -> dict[str, Any]:
        async with self.desk.reading() as tx:
            return {"price_lists": await price_list_keys(tx)}
