"""`/view`: lists that staff have saved with their filters."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import roles_of_caller, staff_id_of
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind, invalid, not_found, require_text
from tradecounter.parts.back_office import OfficeParts
from tradecounter.saved_views.queries import (
    SavedView,
    count_views,
    delete_view,
    find_view,
    insert_view,
    views_seen_by,
)

_PATH = "/view"
_LONGEST_ADDRESS = 2_000
_LONGEST_NAME = 60
_MOST = 100


class ViewsOf(Struct, frozen=True):
    """The list whose views are wanted; without one, all."""

    of: str | None = None


class ViewForm(Struct):
    """A list's address, with its filters, and what it is called."""

    of: Annotated[str, Meta(max_length=_LONGEST_ADDRESS)]
    name: str = ""
    shared: bool = False
    on_today: bool = False


@dataclass(frozen=True, slots=True)
class SavedViewPages:
    """Saved views."""

    desk: PageDesk
    parts: OfficeParts

    @page(_PATH, "Saved views", query=ViewsOf)
    async def list_views(self, call: Call) -> Response:
        path = text("of", call.query(ViewsOf).of)
        may = self.desk.view(call).may
        async with self.desk.reading() as tx:
            found = await views_seen_by(tx, staff_id_of(call), path)
        views = [view for view in found if may(view.path)]
        return self.desk.show(call, "saved_views/list.html", views=views, me=staff_id_of(call), **self._rights(call))

    @step(
        f"{_PATH}/new",
        "Save a view",
        shown=lambda self, call, filled: self._show(call, filled),
        to=lambda address: address,
        done="The view is saved.",
    )
    async def save(self, tx: Transaction, call: Call, body: ViewForm, now: datetime) -> str:
        path, query = self._list(call, body.of)
        name = body.name.strip()
        require_text("name", name, _LONGEST_NAME)
        staff_id = staff_id_of(call)
        if await count_views(tx, staff_id) >= _MOST:
            raise DomainError(Kind.CONFLICT, f"you have {_MOST} views: delete one first")
        await insert_view(tx, staff_id, name, path, query, shared=body.shared, on_today=body.on_today, now=now)
        if body.shared:
            audit(tx, "view.share", f"staff/{staff_id}", now, after={"name": name, "path": path, "query": query})
        return f"{path}?{query}" if query else path

    @step(
        f"{_PATH}/{{id}}/delete",
        "Delete a view",
        asks=lambda self, call: self._asked(call),
        to=_PATH,
        done="The view is deleted.",
    )
    async def delete(self, tx: Transaction, call: Call, now: datetime) -> None:
        view = await self._own(tx, call)
        await delete_view(tx, view.id)
        if view.shared:
            audit(tx, "view.delete", f"staff/{view.staff_id}", now, before={"name": view.name, "path": view.path})

    def _list(self, call: Call, address: str) -> tuple[str, str]:
        """Return the path and the query of a list that the person may open. Raises DomainError (invalid)."""
        try:
            parts = urlsplit(address)
        except ValueError:
            parts = None
        if parts is None or parts.scheme or parts.netloc or not self.desk.view(call).may(parts.path):
            raise invalid("of", "is no list that you may open")
        return parts.path, urlencode(parse_qsl(parts.query))

    async def _own(self, tx: Transaction, call: Call) -> SavedView:
        """Return the view in the path, if the person may delete it. Raises DomainError (not found)."""
        view_id = call.path_id("id", "view")
        view = await find_view(tx, view_id)
        mine = view is not None and view.staff_id == staff_id_of(call)
        if view is None or not (mine or (view.shared and "administrator" in roles_of_caller(call))):
            raise not_found("view", str(view_id))
        return view

    async def _asked(self, call: Call) -> Question:
        async with self.desk.reading() as tx:
            view = await self._own(tx, call)
        who = "All who see it lose it." if view.shared else "Only you see it."
        return Question(
            text=f"Delete the view {view.name}? {who}",
            button="Delete the view",
            back=_PATH,
            back_name="Saved views",
            danger=True,
        )

    async def _show(self, call: Call, filled: Filled) -> Response:
        of = filled.value("of") or call.query(ViewsOf).of or ""
        path, _ = self._list(call, of)
        return self.desk.show(call, "saved_views/new.html", form=filled, of=of, path=path)

    def _rights(self, call: Call) -> dict[str, bool]:
        return {"may_delete_shared": "administrator" in roles_of_caller(call)}
