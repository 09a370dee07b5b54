"""`/customer`: all customers; `/customer/{id}`: one at a glance, its orders, records and prices."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.audit.queries import AuditFilter, AuditRecord, list_entries
from tradecounter.customer_notes.queries import contacts_of
from tradecounter.customer_requests.queries import open_requests_of
from tradecounter.customers.operations.staff import present_customer, present_customers
from tradecounter.customers.operations.wire import ResellerCustomer
from tradecounter.customers.queries.accounts import (
    CUSTOMERS,
    CustomerFilter,
    CustomerRow,
    price_list_keys,
    spelled_price_list,
)
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.page_kit.tables import (
    Cells,
    Column,
    Filter,
    Sort,
    Table,
    TableOrder,
    TableParameters,
    csv_of,
    cursor_text,
    read_cursor,
)
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.events.queries import latest_events
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import fold, lowered_pattern
from tradecounter.orders.queries.all_orders import ORDERS, SORTS, OrderFilter, order_table
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import ShownChange, changes_of
from tradecounter.parts.shown import shown_customer
from tradecounter.prices.explain_price import ExplainedPrice
from tradecounter.prices.queries.prices_of_products import contract_table
from tradecounter.shipping.queries import read_methods
from tradecounter.storefront.customer_prices import price_of
from tradecounter.webhooks.queries.endpoints import endpoints_after

_CUSTOMER_COLUMNS = (
    Column("Customer", "name"),
    Column("Prices"),
    Column("Credit limit", "limit", numeric=True),
    Column("Owed", numeric=True),
    Column("Available", numeric=True),
    Column("Overdue", numeric=True),
    Column("Added", "added"),
)
_BY_NAME = "name"
_FILE_SETTINGS = ("id", "company", "first_name", "last_name", "email_address", "price_list", "discount", "credit_limit",
             "term_days")  # fmt: skip
_CREDIT = ("total_outstanding", "available_credit", "overdue")
_CUSTOMER_CELLS: Cells = {
    **{name: f"shown.{name}" for name in _FILE_SETTINGS},
    "price_list": lambda listed: listed.shown.price_list or "default",
    **{name: f"shown.credit.{name}" for name in _CREDIT},
    "blocked": lambda listed: "yes" if listed.shown.blocked else "no",
    "created_at": "shown.created_at",
}


class CustomerTable(TableParameters, frozen=True, kw_only=True):
    """The filters of the table."""

    query: Annotated[str | None, Filter("Name, e-mail or number", wide=True)] = None
    price_list: Annotated[str | None, Filter("Price list", "select", any="Any")] = None
    state: Annotated[Literal["active", "blocked"] | None, Filter("State", "select", any="Any")] = None


class ListedCustomer(Struct, frozen=True):
    """A row of the table: a customer as it is stored, and as the API shows it."""

    row: CustomerRow
    shown: ResellerCustomer


class CustomerListPages(Struct, frozen=True):
    """The list of customers."""

    desk: PageDesk
    parts: OfficeParts

    async def _price_lists(self, tx: Transaction) -> dict[str, Any]:
        return {"price_lists": await price_list_keys(tx)}

    @table_page(
        "/customer",
        "Customers",
        columns=_CUSTOMER_COLUMNS,
        order=TableOrder(CUSTOMERS.sorts, _BY_NAME, lambda listed, column: CUSTOMERS.place_of(listed.row, column)),
        template="customers/list.html",
        file="customers",
        cells=_CUSTOMER_CELLS,
        values=_price_lists,
        scope="customers:read",
    )
    async def list_customers(
        self, tx: Transaction, wanted: CustomerTable, at: RowsToRead, now: datetime
    ) -> list[ListedCustomer]:
        given, price_list = text("query", wanted.query) or None, text("price_list", wanted.price_list)
        customer_filter = CustomerFilter(
            text=given and fold(given),
            given=given,
            pattern=given and lowered_pattern(given),
            price_list=await spelled_price_list(tx, price_list) if price_list else None,
            blocked=None if wanted.state is None else wanted.state == "blocked",
        )
        rows = await CUSTOMERS.page(tx, customer_filter, **at)
        customers = await present_customers(tx, [row.account for row in rows], now)
        return [ListedCustomer(*pair) for pair in zip(rows, customers, strict=True)]


_MOST_LATEST = 8
_MOST_ENTRIES = 100
_MOST_WEBHOOKS = 1_000
_ORDER_COLUMNS = (
    Column("Order"),
    Column("Their reference"),
    Column("Placed", "placed"),
    Column("Status"),
    Column("Total", "total", numeric=True),
)
_EVENT_COLUMNS = (Column("Event"), Column("When"), Column("Subject"), Column("Data"))
_ORDER_CELLS: Cells = {
    "reference": "name",
    "customer_reference": "customer_reference",
    "placed_at": "placed_at",
    "status": "label",
    "gross": "gross",
}
_EVENT_CELLS: Cells = {name: name for name in ("sequence", "type", "occurred_at", "subject", "data")}
_BY_SEQUENCE = "sequence"


class AuditLine(Struct, frozen=True):
    """An entry of the audit log with each changed field before and after."""

    entry: AuditRecord
    fields: list[ShownChange]


class CustomerPages(Struct, frozen=True):
    """The pages of one customer that change nothing."""

    desk: PageDesk
    parts: OfficeParts

    @page("/customer/{id}", "One customer", scope="customers:read")
    async def show_customer(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            customer = await present_customer(tx, shown.account, self.desk.clock.now())
            contacts = await contacts_of(tx, shown.id)
            requests = await open_requests_of(tx, shown.id)
            latest = await order_table(tx, OrderFilter(customer_id=shown.id), "placed", _MOST_LATEST, descending=True)
            methods = {method.id: f"{method.provider} {method.description}" for method in await read_methods(tx)}
        return self.desk.show(
            call,
            "customers/customer.html",
            shown=shown,
            customer=customer,
            contacts=contacts,
            requests=requests,
            latest=latest,
            methods=methods,
        )

    @page("/customer/{id}/order", "A customer's orders", scope="customers:read", query=TableParameters)
    async def show_orders(self, call: Call) -> Response:
        wanted = call.query(TableParameters)
        sort = Sort.of(wanted.sort, ("placed", "total"), "-placed")
        after = read_cursor(wanted.after, SORTS[sort.column])
        async with self.desk.reading() as tx:
            customer = await shown_customer(tx, call)
            order_filter = OrderFilter(customer_id=customer.id)
            order_rows = await order_table(
                tx, order_filter, sort.column, wanted.most, descending=sort.descending, after=after
            )
        if wanted.is_file:
            return csv_of(f"customer-{customer.id}-orders", _ORDER_CELLS, order_rows)
        address = self.desk.view(call).at(f"{customer.path}/order")
        table = Table.of(
            call, address, _ORDER_COLUMNS, order_rows, sort, lambda row: cursor_text(*ORDERS.place_of(row, sort.column))
        )
        return self.desk.show(call, "customers/orders.html", shown=customer, table=table)

    @page("/customer/{id}/event", "A customer's events", scope="customers:read", query=TableParameters)
    async def show_events(self, call: Call) -> Response:
        wanted = call.query(TableParameters)
        after = read_cursor(wanted.after, int)
        async with self.desk.reading() as tx:
            customer = await shown_customer(tx, call)
            events = await latest_events(tx, customer.id, wanted.most, None if after is None else after[0])
        if wanted.is_file:
            return csv_of(f"customer-{customer.id}-events", _EVENT_CELLS, events)
        address, sort = self.desk.view(call).at(f"{customer.path}/event"), Sort(_BY_SEQUENCE, descending=True)
        table = Table.of(call, address, _EVENT_COLUMNS, events, sort, lambda event: cursor_text(event.sequence, 0))
        return self.desk.show(call, "customers/events.html", shown=customer, table=table)

    @page("/customer/{id}/history", "A customer's history", scope="customers:read")
    async def show_history(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            customer = await shown_customer(tx, call)
            subject = AuditFilter(subject=f"customer/{customer.id}")
            entries = await list_entries(tx, subject, _MOST_ENTRIES, latest_first=True)
        lines = [AuditLine(entry, changes_of(entry)) for entry in entries]
        return self.desk.show(call, "customers/history.html", shown=customer, lines=lines, most=_MOST_ENTRIES)

    @page("/customer/{id}/webhook", "A customer's webhooks", scope="customers:read")
    async def show_webhooks(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            customer = await shown_customer(tx, call)
            webhooks = await endpoints_after(tx, 0, _MOST_WEBHOOKS, customer.id)
        return self.desk.show(call, "customers/webhooks.html", shown=customer, webhooks=webhooks)


_PRICE_COLUMNS = (
    Column("Product"),
    Column("From"),
    Column("Until"),
    Column("State"),
    Column("1 and more", numeric=True),
    Column("5 and more", numeric=True),
    Column("10 and more", numeric=True),
)
# The columns of an import file of contract prices, so that the file can be changed and imported.
_PRICE_CELLS: Cells = {
    name: name
    for name in ("sku", "single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost", "valid_from", "valid_until")
}
_BY_SKU = Sort("sku", descending=False)
_ASKED_PRICE = {"sku", "quantity"}


class PriceTable(TableParameters, frozen=True, kw_only=True):
    """The filter of contract prices, and the product whose price is explained."""

    query: str | None = None
    sku: str | None = None
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS)] = 1


class CustomerPricePages(Struct, frozen=True):
    """A customer's prices."""

    desk: PageDesk
    parts: OfficeParts

    @page("/customer/{id}/price", "A customer's prices", scope="customers:read", query=PriceTable)
    async def show_prices(self, call: Call) -> Response:
        filled, wanted, price = Filled({"quantity": ["1"], **query_values(call.raw_query)}), PriceTable(), None
        try:
            wanted = call.query(PriceTable)
            price = await self._explained(call, wanted)
        except DomainError as error:
            filled = filled.with_error(error, Kind.NOT_FOUND)
        now = self.desk.clock.now()
        after = read_cursor(wanted.after, tuple[str, int])
        async with self.desk.reading() as tx:
            customer = await shown_customer(tx, call)
            query = text("query", wanted.query) or ""
            contract_rows = await contract_table(
                tx, customer.id, query, wanted.most, None if after is None else after[0]
            )
        if wanted.is_file:
            cells = {"customer_id": lambda _: customer.id, **_PRICE_CELLS}
            return csv_of(f"customer-{customer.id}-contract-prices", cells, contract_rows)
        address = self.desk.view(call).at(f"{customer.path}/price")
        table = Table.of(
            call, address, _PRICE_COLUMNS, contract_rows, _BY_SKU, lambda row: cursor_text((row.sku_key, row.id), 0)
        )
        filters = {name: values for name, values in table.query.items() if name not in _ASKED_PRICE}
        table = replace(table, query=filters)  # the price that is explained leaves no contract prices out
        return self.desk.show(
            call, "customers/prices.html", form=filled, shown=customer, table=table, price=price, today=uk_date(now)
        )

    async def _explained(self, call: Call, wanted: PriceTable) -> ExplainedPrice | None:
        sku = text("sku", wanted.sku)
        if not sku:
            return None
        async with self.desk.reading() as tx:
            customer = await shown_customer(tx, call)
            return await price_of(tx, customer.id, sku, wanted.quantity, self.desk.clock.now())
