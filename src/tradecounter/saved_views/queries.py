"""Reads and writes saved views."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class NewView(Struct, frozen=True, kw_only=True):
    """A list to save under a name: the `path` of its page and the `query` of filters and order."""

    name: str
    path: str
    query: str
    shared: bool = False
    on_today: bool = False


class SavedView(Struct, frozen=True):
    """A list under a name: the `path` of its page and the `query` of filters and order, without a question mark.

    `owner` is the e-mail address of the member of the staff who has saved it.
    """

    id: int
    staff_id: int
    owner: str
    name: str
    path: str
    query: str
    shared: bool
    on_today: bool

    @property
    def address(self) -> str:
        """The path with the query."""
        return f"{self.path}?{self.query}" if self.query else self.path


_SELECT = SQL("""
    select v.id, v.staff_id, m.email as owner, v.name, v.path, v.query, v.shared, v.on_today
    from saved_view v join staff_member m on m.id = v.staff_id where {} order by v.path, lower(v.name), v.id
""")
_SEEN = Statement(
    _SELECT.format(SQL("(v.staff_id = :staff_id or v.shared) and (:path::text is null or v.path = :path)")), SavedView
)
_ONE = Statement(_SELECT.format(SQL("v.id = :id")), SavedView)
_SHARED = Statement(
    _SELECT.format(SQL("v.shared and (:saved_since::timestamptz is null or v.created_at >= :saved_since)")), SavedView
)
_COUNT = Statement("select count(*) from saved_view where staff_id = :staff_id")
_ADD = Statement("""
    insert into saved_view (staff_id, name, path, query, shared, on_today, created_at)
    values (:staff_id, :name, :path, :query, :shared, :on_today, :now) returning id
""")
_DELETE = Statement("delete from saved_view where id = :id")


async def views_seen_by(tx: Transaction, staff_id: int, path: str | None = None) -> list[SavedView]:
    """Return a member's own views and those that are shared, of one list or of all."""
    return await tx.fetch_all(_SEEN, staff_id=staff_id, path=path)


async def views_on_today(tx: Transaction, staff_id: int) -> list[SavedView]:
    """Return the views that a member sees on the first page, its own first."""
    seen = await views_seen_by(tx, staff_id)
    return sorted((view for view in seen if view.on_today), key=lambda view: view.staff_id != staff_id)


async def shared_views(tx: Transaction, saved_since: datetime | None = None) -> list[SavedView]:
    """Return the views that everybody sees; none of them ever changes."""
    return await tx.fetch_all(_SHARED, saved_since=saved_since)


async def find_view(tx: Transaction, view_id: int) -> SavedView | None:
    """Return a view, or None."""
    return await tx.find_row(_ONE, id=view_id)


async def count_views(tx: Transaction, staff_id: int) -> int:
    """Return how many views a member has saved."""
    return int(await tx.fetch_value(_COUNT, staff_id=staff_id))


async def insert_view(tx: Transaction, staff_id: int, new: NewView, now: datetime) -> int:
    """Store a view and return its id."""
    return int(await tx.fetch_value(_ADD, staff_id=staff_id, now=now, **asdict(new)))


async def delete_view(tx: Transaction, view_id: int) -> None:
    """Delete a view."""
    await tx.execute(_DELETE, id=view_id)
