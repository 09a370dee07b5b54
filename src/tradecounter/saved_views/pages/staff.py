"""`/view`: lists that staff have saved with their filters."""

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.operation import page, roles_of_caller, staff_id_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import invalid
from tradecounter.parts.back_office import OfficeParts
from tradecounter.saved_views.manage_views import fetch_view, remove_view, save_view
from tradecounter.saved_views.queries import NewView, views_seen_by

_PATH = "/view"
_LONGEST_ADDRESS = 2_000


class ViewsOf(Struct, frozen=True):
    """The list whose views are wanted; without one, all."""

    of: str | None = None


class ViewForm(Struct):
    """A list's address, with its filters, and what it is called."""

    of: Annotated[str, Meta(max_length=_LONGEST_ADDRESS)]
    name: str
    shared: bool = False
    on_today: bool = False


class SavedViewPages(Struct, frozen=True):
    """Saved views."""

    desk: PageDesk
    parts: OfficeParts

    @page(_PATH, "Saved views", query=ViewsOf)
    async def list_views(self, call: Call) -> Response:
        path = text("of", call.query(ViewsOf).of)
        may = self.desk.view(call).may
        async with self.desk.reading() as tx:
            saved_views = await views_seen_by(tx, staff_id_of(call), path)
        views = [view for view in saved_views if may(view.path)]
        is_administrator = "administrator" in roles_of_caller(call)
        return self.desk.show(
            call, "saved_views/list.html", views=views, me=staff_id_of(call), may_delete_shared=is_administrator
        )

    def _list(self, call: Call, address: str) -> tuple[str, str]:
        """Return the path and the query of a list that the person may open. Raises DomainError (invalid)."""
        try:
            parts = urlsplit(address)
        except ValueError:
            parts = None
        if parts is None or parts.scheme or parts.netloc or not self.desk.view(call).may(parts.path):
            raise invalid("of", "is no list that you may open")
        return parts.path, parts.query

    async def _list_to_save(self, call: Call, filled: Filled) -> dict[str, str]:
        of = filled.value("of") or call.query(ViewsOf).of or ""
        path, _ = self._list(call, of)
        return {"of": of, "path": path}

    @step(
        f"{_PATH}/new",
        "Save a view",
        template="saved_views/new.html",
        values=_list_to_save,
        to=lambda address: address,
        done="The view is saved.",
    )
    async def save(self, tx: Transaction, call: Call, body: ViewForm, now: datetime) -> str:
        path, query = self._list(call, body.of)
        new = NewView(name=body.name, path=path, query=query, shared=body.shared, on_today=body.on_today)
        return (await save_view(tx, staff_id_of(call), new, now)).address

    def _key_of_view(self, call: Call) -> dict[str, Any]:
        """Return the view in the path, and which ones the person may delete."""
        any_shared = "administrator" in roles_of_caller(call)
        return {"view_id": call.path_id("id", "view"), "staff_id": staff_id_of(call), "any_shared": any_shared}

    async def _question(self, tx: Transaction, call: Call) -> Question:
        view = await fetch_view(tx, **self._key_of_view(call))
        who = "All who see it lose it." if view.shared else "Only you see it."
        return Question(
            text=f"Delete the view {view.name}? {who}",
            button="Delete the view",
            back=_PATH,
            back_name="Saved views",
            danger=True,
        )

    @step(
        f"{_PATH}/{{id}}/delete",
        "Delete a view",
        asks=_question,
        to=_PATH,
        done="The view is deleted.",
    )
    async def delete(self, tx: Transaction, call: Call, now: datetime) -> None:
        await remove_view(tx, **self._key_of_view(call), now=now)
