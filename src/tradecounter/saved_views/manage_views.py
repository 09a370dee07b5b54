"""Saves and deletes views. Everybody has views; shared ones are deleted by who has saved them and by administrators."""

from datetime import datetime
from urllib.parse import parse_qsl, urlencode

from msgspec.structs import replace

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, not_found, require_text
from tradecounter.saved_views.queries import NewView, SavedView, count_views, delete_view, find_view, insert_view

_LONGEST_NAME = 60
_MOST = 100


async def save_view(tx: Transaction, staff_id: int, wanted: NewView, now: datetime) -> SavedView:
    """Store a list that a member of the staff may open, with its filters, under a name.

    Raises DomainError: invalid, conflict (too many views).
    """
    name = require_text("name", wanted.name, _LONGEST_NAME)
    new = replace(wanted, name=name, query=urlencode(parse_qsl(wanted.query)))
    if await count_views(tx, staff_id) >= _MOST:
        raise DomainError(Kind.CONFLICT, f"you have {_MOST} views: delete one first")
    view_id = await insert_view(tx, staff_id, new, now)
    if new.shared:
        shown = {"name": new.name, "path": new.path, "query": new.query}
        audit(tx, "view.share", f"staff/{staff_id}", now, after=shown)
    return await fetch_view(tx, view_id, staff_id)


async def remove_view(tx: Transaction, view_id: int, staff_id: int | None, now: datetime, *, any_shared: bool) -> None:
    """Delete an own view, or with `any_shared` one that is shared. Raises DomainError (not found)."""
    view = await fetch_view(tx, view_id, staff_id, any_shared=any_shared)
    await delete_view(tx, view.id)
    if view.shared:
        audit(tx, "view.delete", f"staff/{view.staff_id}", now, before={"name": view.name, "path": view.path})


async def fetch_view(tx: Transaction, view_id: int, staff_id: int | None, *, any_shared: bool = False) -> SavedView:
    """Return an own view, or with `any_shared` one that is shared. Raises DomainError (not found)."""
    view = await find_view(tx, view_id)
    if view is None or not (view.staff_id == staff_id or (any_shared and view.shared)):
        raise not_found("view", view_id)
    return view
