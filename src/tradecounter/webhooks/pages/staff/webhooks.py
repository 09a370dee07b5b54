"""`/webhook`: the webhooks of the reseller and of customers."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta
from starlette.responses import Response

from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text
from tradecounter.edge.pages.listing import After, listed
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.webhooks.queries.endpoints import Endpoint, endpoints_after

_COLUMNS = (Column("Endpoint"), Column("Whose"), Column("Events"), Column("State"), Column("Added"))
_FILE_HEADINGS = ("id", "customer_id", "url", "types", "state", "reason", "failing_since", "created_at")


class WebhookTable(TableParameters, frozen=True, kw_only=True):
    """The filters of webhooks."""

    customer_id: Annotated[int, Meta(ge=1)] | None = None


@dataclass(frozen=True, slots=True)
class WebhookListPages:
    """All webhooks."""

    desk: PageDesk
    parts: OfficeParts

    @page("/webhook", "Webhooks", scope="events:read", query=WebhookTable)
    async def list_webhooks(self, call: Call) -> Response:
        async def find(wanted: WebhookTable, _: Sort, after: After) -> list[Endpoint]:
            async with self.desk.reading() as tx:
                return await endpoints_after(tx, 0 if after is None else after[1], wanted.most, wanted.customer_id)

        found = await listed(call, WebhookTable, {"id": int}, "id", find)
        if found.is_file:
            return csv_file("webhooks", _FILE_HEADINGS, map(_file_row, found.rows))
        address = self.desk.view(call).at("/webhook")
        table = Table.of(call, address, _COLUMNS, found.rows, found.sort, lambda row: cursor_text(row.id, row.id))
        return self.desk.show(call, "webhooks/list.html", form=found.form, table=table)


def _file_row(row: Endpoint) -> tuple[object, ...]:
    types = " ".join(row.types)
    return (row.id, row.customer_id, row.url, types, row.state, row.reason, row.failing_since, row.created_at)
