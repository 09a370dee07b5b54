"""`/account/developer/key/{id}/request`: what programs have requested with a key."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Column, Filter, TableOrder, TableParameters
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import DEVELOPERS
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import DEVELOPER_HOME
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ID, Parameter
from tradecounter.identity.queries.api_keys import KeyRecord, fetch_key
from tradecounter.parts.account import AccountParts
from tradecounter.request_log.queries import RequestRecord, list_requests

_COLUMNS = (
    Column("When"),
    Column("Request"),
    Column("Response"),
    Column("Took", numeric=True),
    Column("Bytes", numeric=True),
    Column("Request id"),
)
_FILE = ("at", "method", "path", "status", "code", "milliseconds", "request_id", "bytes", "count")


class RequestTable(TableParameters, frozen=True, kw_only=True):
    """The filter of the requests."""

    errors: Annotated[bool, Filter("Only errors", "check")] = False


class RequestLogPages(Struct, frozen=True):
    """The requests of the last seven days with one key."""

    desk: PageDesk
    parts: AccountParts

    async def _key(self, tx: Transaction, call: Call) -> dict[str, KeyRecord]:
        return {"key": await fetch_key(tx, call.customer_id, call.path_id("id", "key"))}

    @table_page(
        f"{DEVELOPER_HOME}/key/{{id}}/request",
        "Requests with an API key",
        columns=_COLUMNS,
        order=TableOrder({"id": int}, "-id", lambda row, _: (row.id, row.id)),
        template="request_log/requests.html",
        file="requests",
        cells={name: name for name in _FILE},
        values=_key,
        user_roles=DEVELOPERS,
        path_parameters=(Parameter("id", "The key's id.", ID, 7),),
    )
    async def list_requests(
        self, tx: Transaction, call: Call, wanted: RequestTable, at: RowsToRead
    ) -> Sequence[RequestRecord]:
        key = await fetch_key(tx, call.customer_id, call.path_id("id", "key"))
        before = None if at["after"] is None else at["after"][1]
        return await list_requests(
            tx, key.customer_id, f"key/{key.id}", wanted.most, before=before, errors=wanted.errors
        )
