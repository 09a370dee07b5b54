"""`/api/view`: lists that staff have saved under names for everybody. Own views are on their pages alone."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk, SinceParameters
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.kit.wire import made_from
from tradecounter.saved_views.manage_views import remove_view
from tradecounter.saved_views.queries import shared_views


class SharedView(Struct):
    """A list that all staff see who may open it."""

    id: int
    name: str
    address: Annotated[str, Meta(description="The path of the page with its filters and its order.")]
    owner: Annotated[str, Meta(description="The e-mail address of who has saved it.")]
    on_today: Annotated[bool, Meta(description="Whether *Today* has it, with a count.")]


_DESCRIBED: Mapping[type, Described] = {
    SharedView: Described(
        "",
        SharedView(
            id=2,
            name="Back-ordered",
            address="/order?status=Back-ordered",
            owner="sales@reseller.example",
            on_today=True,
        ),
    )
}
_VIEWS = Subject(tag="Orders", read="orders:read", write="orders:write", roles=("administrator",), described=_DESCRIBED)
_ALL = "/api/view"
_ONE = "/api/view/{id}"

ViewId = Annotated[int, InPath("id", "The view's id.", 2, "view")]


class SavedViewOperations(Struct, frozen=True):
    """The endpoints of shared views."""

    desk: Desk

    @_VIEWS.shows(_ALL, "The views.")
    async def list_views(self, tx: Transaction, query: SinceParameters) -> list[SharedView]:
        """The saved views that staff share.

        By page and name. A view never changes.
        """
        return [made_from(view, SharedView) for view in await shared_views(tx, query.since)]

    @_VIEWS.changes("DELETE", _ONE, "The view is deleted.")
    async def delete_view(self, tx: Transaction, now: datetime, view_id: ViewId) -> None:
        """Delete a shared view for everybody."""
        await remove_view(tx, view_id, None, now, any_shared=True)
