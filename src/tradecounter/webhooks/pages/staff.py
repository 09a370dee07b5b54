"""`/webhook`: the webhooks of the reseller and of customers."""

from typing import Annotated

from msgspec import Struct

from tradecounter.customers.named_customer import named_customer
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Cells, Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.parts.back_office import OfficeParts
from tradecounter.webhooks.queries.endpoints import Endpoint, endpoints_after

_COLUMNS = (Column("Endpoint"), Column("Whose"), Column("Events"), Column("State"), Column("Added"))
_CELLS: Cells = {
    **{name: name for name in ("id", "customer_id", "url")},
    "types": lambda row: " ".join(row.types),
    **{name: name for name in ("state", "reason", "failing_since", "created_at")},
}


class WebhookTable(TableParameters, frozen=True, kw_only=True):
    """The filters of webhooks."""

    customer_id: Annotated[str | None, Filter("Customer", wide=True)] = None


class WebhookListPages(Struct, frozen=True):
    """All webhooks."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/webhook",
        "Webhooks",
        columns=_COLUMNS,
        order=TableOrder({"id": int}, "id", lambda row, _: (row.id, row.id)),
        template="webhooks/list.html",
        file="webhooks",
        cells=_CELLS,
        scope="events:read",
    )
    async def list_webhooks(self, tx: Transaction, wanted: WebhookTable, at: RowsToRead) -> list[Endpoint]:
        after = 0 if at["after"] is None else at["after"][1]
        customer_id = await named_customer(tx, "customer_id", wanted.customer_id)
        return await endpoints_after(tx, after, wanted.most, customer_id)
