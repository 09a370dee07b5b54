"""Staff members."""

from datetime import datetime

from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import StaffMember
from tradecounter.edge.permissions import Role
from tradecounter.kit.errors import or_not_found
from tradecounter.kit.text import fold

_COLUMNS = SQL("id, email, name, roles, password_hash is not null as has_password, created_at, disabled_at")

_INSERT = Statement(
    SQL(
        "insert into staff_member (email, email_key, name, roles, created_at)"
        " values (:email, :email_key, :name, :roles, :now) on conflict (email_key) do nothing returning {}"
    ).format(_COLUMNS),
    StaffMember,
)


async def insert_staff_member(
    tx: Transaction, email: str, name: str, roles: list[Role], now: datetime
) -> StaffMember | None:
    """Store a staff member; return None when the address is taken."""
    return await tx.fetch_one(_INSERT, email=email, email_key=fold(email), name=name, roles=roles, now=now)


class ListedMember(StaffMember, frozen=True):
    """A staff member with what a list says of its signing in; `seen_at` is None without a session that is kept."""

    has_second_factor: bool
    seen_at: datetime | None


_ALL = Statement(
    SQL(
        "select {}, exists (select from second_factor f where f.staff_id = m.id and f.confirmed_at is not null)"
        " as has_second_factor,"
        " (select max(s.seen_at) from session s where s.staff_id = m.id and not s.needs_second_factor) as seen_at"
        " from staff_member m order by id"
    ).format(_COLUMNS),
    ListedMember,
)


async def list_staff(tx: Transaction) -> list[ListedMember]:
    """Return all staff members, disabled ones included, oldest first."""
    return await tx.fetch_all(_ALL)


_BY_EMAIL = Statement(SQL("select {} from staff_member where email_key = :email_key").format(_COLUMNS), StaffMember)


async def find_staff_member(tx: Transaction, email: str) -> StaffMember | None:
    """Return a staff member by its address, in any case, or None."""
    return await tx.fetch_one(_BY_EMAIL, email_key=fold(email))


_BY_ID = Statement(SQL("select {} from staff_member where id = :id").format(_COLUMNS), StaffMember)


async def find_staff_member_by_id(tx: Transaction, staff_id: int) -> StaffMember | None:
    """Return a staff member, or None."""
    return await tx.fetch_one(_BY_ID, id=staff_id)


_LOCK = Statement(SQL("select {} from staff_member where id = :id for no key update").format(_COLUMNS), StaffMember)


async def lock_staff_member(tx: Transaction, staff_id: int) -> StaffMember:
    """Return a staff member, locked until the transaction ends. Raises DomainError (not found)."""
    found = await tx.fetch_one(_LOCK, id=staff_id)
    return or_not_found(found, "staff member", staff_id)


_LOCK_ADMINISTRATORS = Statement(
    "select id from staff_member where 'administrator' = any(roles) and disabled_at is null order by id"
    " for no key update"
)


async def lock_administrators(tx: Transaction) -> list[int]:
    """Return the ids of the administrators that are not disabled, locked until the transaction ends."""
    return [staff_id for (staff_id,) in await tx.fetch_all(_LOCK_ADMINISTRATORS)]


async def fetch_staff_member(tx: Transaction, email: str) -> StaffMember:
    """Return a staff member by its address. Raises DomainError (not found)."""
    return or_not_found(await find_staff_member(tx, email), "staff member", email)


_EDIT = Statement("update staff_member set name = :name, roles = :roles where id = :id")


async def set_name_and_roles(tx: Transaction, staff_id: int, name: str, roles: list[Role]) -> None:
    """Store a staff member's name and roles."""
    await tx.execute(_EDIT, id=staff_id, name=name, roles=roles)
