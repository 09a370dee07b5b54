"""`/customer/{id}`: one customer at a glance, its orders, and what is recorded about it."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.audit.queries import AuditFilter, AuditRecord, list_entries
from tradecounter.customer_notes.queries import contacts_of
from tradecounter.customer_requests.queries import open_requests_of
from tradecounter.customers.operations.staff import present_customer
from tradecounter.edge.page_kit.tables import (
    Cells,
    Column,
    Sort,
    Table,
    TableParameters,
    csv_of,
    cursor_text,
    read_cursor,
)
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.events.queries import latest_events
from tradecounter.orders.queries.all_orders import OrderFilter
from tradecounter.orders.queries.order_table import SORTS, order_table, sorted_by
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown_changes import Change, changes_of
from tradecounter.parts.shown_customer import shown_customer
from tradecounter.shipping.queries import read_methods
from tradecounter.webhooks.queries.endpoints import endpoints_after

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
_EVENT_CELLS: Cells = {
    "sequence": "sequence",
    "type": "type",
    "occurred_at": "occurred_at",
    "subject": "subject",
    "data": "data",
}
_BY_SEQUENCE = "sequence"


class AuditLine(Struct, frozen=True):
    """An entry of the audit log with each changed field before and after."""

    entry: AuditRecord
    fields: list[Change]

    @classmethod
    def of(cls, entry: AuditRecord) -> "AuditLine":
        """Return an entry with its fields."""
        return cls(entry, changes_of(entry))


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
            shown = await shown_customer(tx, call)
            chosen = OrderFilter(customer_id=shown.id)
            found = await order_table(tx, chosen, sort.column, wanted.most, descending=sort.descending, after=after)
        if wanted.is_file:
            return csv_of(f"customer-{shown.id}-orders", _ORDER_CELLS, found)
        address = self.desk.view(call).at(f"{shown.path}/order")
        table = Table.of(
            call, address, _ORDER_COLUMNS, found, sort, lambda row: cursor_text(sorted_by(row, sort.column), row.id)
        )
        return self.desk.show(call, "customers/orders.html", shown=shown, table=table)

    @page("/customer/{id}/event", "A customer's events", scope="customers:read", query=TableParameters)
    async def show_events(self, call: Call) -> Response:
        wanted = call.query(TableParameters)
        after = read_cursor(wanted.after, int)
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            found = await latest_events(tx, shown.id, wanted.most, None if after is None else after[0])
        if wanted.is_file:
            return csv_of(f"customer-{shown.id}-events", _EVENT_CELLS, found)
        address, sort = self.desk.view(call).at(f"{shown.path}/event"), Sort(_BY_SEQUENCE, descending=True)
        table = Table.of(call, address, _EVENT_COLUMNS, found, sort, lambda event: cursor_text(event.sequence, 0))
        return self.desk.show(call, "customers/events.html", shown=shown, table=table)

    @page("/customer/{id}/history", "A customer's history", scope="customers:read")
    async def show_history(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            subject = AuditFilter(subject=f"customer/{shown.id}")
            entries = await list_entries(tx, subject, _MOST_ENTRIES, latest_first=True)
        lines = [AuditLine.of(entry) for entry in entries]
        return self.desk.show(call, "customers/history.html", shown=shown, lines=lines, most=_MOST_ENTRIES)

    @page("/customer/{id}/webhook", "A customer's webhooks", scope="customers:read")
    async def show_webhooks(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            webhooks = await endpoints_after(tx, 0, _MOST_WEBHOOKS, shown.id)
        return self.desk.show(call, "customers/webhooks.html", shown=shown, webhooks=webhooks)
