"""Staff members and customers' users, and what is the same for both."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, LiteralString

from msgspec import Struct
from psycopg.sql import SQL, Identifier

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser, Person, Site, StaffMember
from tradecounter.edge.permissions import Role, UserRole
from tradecounter.kit.errors import or_not_found
from tradecounter.kit.text import fold

_STAFF_COLUMNS = SQL("id, email, name, roles, password_hash is not null as has_password, created_at, disabled_at")


def _staff(condition: LiteralString) -> Statement[StaffMember]:
    return Statement(SQL("select {} from staff_member where {}").format(_STAFF_COLUMNS, SQL(condition)), StaffMember)


_INSERT_STAFF = Statement(
    SQL(
        "insert into staff_member (email, email_key, name, roles, created_at)"
        " values (:email, :email_key, :name, :roles, :now) on conflict (email_key) do nothing returning {}"
    ).format(_STAFF_COLUMNS),
    StaffMember,
)


async def insert_staff_member(
    tx: Transaction, email: str, name: str, roles: list[Role], now: datetime
) -> StaffMember | None:
    """Store a staff member; return None when the address is taken."""
    return await tx.find_row(_INSERT_STAFF, email=email, email_key=fold(email), name=name, roles=roles, now=now)


class ListedMember(StaffMember, frozen=True):
    """A staff member with what a list says of its signing in; `seen_at` is None without a session that is kept."""

    has_second_factor: bool
    seen_at: datetime | None


_ALL_STAFF = Statement(
    SQL(
        "select {}, exists (select from second_factor f where f.staff_id = m.id and f.confirmed_at is not null)"
        " as has_second_factor,"
        " (select max(s.seen_at) from session s where s.staff_id = m.id and not s.needs_second_factor) as seen_at"
        " from staff_member m order by id"
    ).format(_STAFF_COLUMNS),
    ListedMember,
)


async def list_staff(tx: Transaction) -> list[ListedMember]:
    """Return all staff members, disabled ones included, oldest first."""
    return await tx.fetch_all(_ALL_STAFF)


_STAFF_BY_EMAIL = _staff("email_key = :email_key")


async def find_staff_member(tx: Transaction, email: str) -> StaffMember | None:
    """Return a staff member by its address, in any case, or None."""
    return await tx.find_row(_STAFF_BY_EMAIL, email_key=fold(email))


_STAFF_BY_ID = _staff("id = :id")


async def find_staff_member_by_id(tx: Transaction, staff_id: int) -> StaffMember | None:
    """Return a staff member, or None."""
    return await tx.find_row(_STAFF_BY_ID, id=staff_id)


_LOCK_USER = Statement("select from customer_user where id = :user_id for no key update")


def lock_user(tx: Transaction, user_id: int) -> None:
    """Lock a user's row until the transaction ends: others who change the user's basket or alerts wait."""
    tx.queue(_LOCK_USER, user_id=user_id)


_LOCK_STAFF = _staff("id = :id for no key update")


async def lock_staff_member(tx: Transaction, staff_id: int) -> StaffMember:
    """Return a staff member, locked until the transaction ends. Raises DomainError (not found)."""
    row = await tx.find_row(_LOCK_STAFF, id=staff_id)
    return or_not_found(row, "staff member", staff_id)


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


_EDIT_STAFF = Statement("update staff_member set name = :name, roles = :roles where id = :id")


async def set_name_and_roles(tx: Transaction, staff_id: int, name: str, roles: list[Role]) -> None:
    """Store a staff member's name and roles."""
    await tx.execute(_EDIT_STAFF, id=staff_id, name=name, roles=roles)


def is_owner(user: CustomerUser) -> bool:
    """Return whether a user is an owner who is not disabled."""
    return "owner" in user.roles and user.disabled_at is None


_USER_COLUMNS = SQL(
    "id, customer_id, email, name, role, more_roles, order_limit, password_hash is not null as has_password,"
    " created_at, disabled_at"
)


def _users(condition: LiteralString) -> Statement[CustomerUser]:
    return Statement(SQL("select {} from customer_user where {}").format(_USER_COLUMNS, SQL(condition)), CustomerUser)


_PUT_USER = Statement(
    SQL(
        "insert into customer_user (customer_id, email, email_key, name, role, more_roles, created_at)"
        " values (:customer_id, :email, :email_key, '', :role, :more_roles, :now)"
        " on conflict (email_key) do update"
        " set role = excluded.role, more_roles = excluded.more_roles, disabled_at = null,"
        " password_hash = case when customer_user.disabled_at is null then customer_user.password_hash end"
        " where customer_user.customer_id = excluded.customer_id returning {}"
    ).format(_USER_COLUMNS),
    CustomerUser,
)


async def put_user(
    tx: Transaction, customer_id: int, email: str, role: UserRole, now: datetime, *, more_roles: Sequence[UserRole] = ()
) -> CustomerUser | None:
    """Store or change a customer's user, and enable it; return None when it is another customer's.

    A disabled user loses its password, so that only the link of the invitation opens the account again.
    """
    return await tx.find_row(
        _PUT_USER,
        customer_id=customer_id,
        email=email,
        email_key=fold(email),
        role=role,
        more_roles=list(more_roles),
        now=now,
    )


_SET_RIGHTS = Statement(
    SQL(
        "update customer_user set role = :role, more_roles = :more_roles, order_limit = :order_limit"
        " where id = :id returning {}"
    ).format(_USER_COLUMNS),
    CustomerUser,
)


async def set_rights(
    tx: Transaction, user_id: int, roles: Sequence[UserRole], order_limit: Decimal | None
) -> CustomerUser | None:
    """Give a user roles, at least one, and a limit for one order; return None without such a user."""
    first, *others = roles
    return await tx.find_row(_SET_RIGHTS, id=user_id, role=first, more_roles=others, order_limit=order_limit)


_END_AGENTS = Statement("update customer_user set agents_ended_at = :now where id = :id")


async def end_agents_of(tx: Transaction, user_id: int, now: datetime) -> None:
    """End what a user has allowed agents, in every process, also if the user may allow them again later."""
    await tx.execute(_END_AGENTS, id=user_id, now=now)


_USERS_OF_CUSTOMER = _users(
    "customer_id = :customer_id and (:changed_since::timestamptz is null or changed_at >= :changed_since) order by id"
)


async def list_users(tx: Transaction, customer_id: int, changed_since: datetime | None = None) -> list[CustomerUser]:
    """Return a customer's users, disabled ones included, oldest first."""
    return await tx.fetch_all(_USERS_OF_CUSTOMER, customer_id=customer_id, changed_since=changed_since)


_USER_OF_CUSTOMER = _users("id = :id and customer_id = :customer_id")


async def fetch_user_of(tx: Transaction, customer_id: int, user_id: int) -> CustomerUser:
    """Return one of a customer's users. Raises DomainError (not found)."""
    row = await tx.find_row(_USER_OF_CUSTOMER, id=user_id, customer_id=customer_id)
    return or_not_found(row, "user", user_id)


class UserVisits(Struct, frozen=True):
    """When a user last used the account, None if it is longer ago than sessions are kept, and how it signs in."""

    user_id: int
    seen_at: datetime | None
    has_second_factor: bool


_VISITS_OF_USERS = Statement(
    """
    select u.id as user_id,
           (select max(s.seen_at) from session s where s.user_id = u.id and not s.needs_second_factor) as seen_at,
           exists (
               select from second_factor f where f.user_id = u.id and f.confirmed_at is not null
           ) as has_second_factor
    from customer_user u where u.customer_id = :customer_id
    """,
    UserVisits,
)


async def visits_of_users(tx: Transaction, customer_id: int) -> dict[int, UserVisits]:
    """Return the visits of a customer's users, by user."""
    return {visits.user_id: visits for visits in await tx.fetch_all(_VISITS_OF_USERS, customer_id=customer_id)}


_USER_BY_EMAIL = _users("email_key = :email_key")


async def find_user(tx: Transaction, email: str) -> CustomerUser | None:
    """Return a user of any customer by its address, in any case, or None."""
    return await tx.find_row(_USER_BY_EMAIL, email_key=fold(email))


async def fetch_user(tx: Transaction, email: str) -> CustomerUser:
    """Return a user of any customer by its address. Raises DomainError (not found)."""
    return or_not_found(await find_user(tx, email), "user", email)


_USER_BY_ID = _users("id = :id")


async def find_user_by_id(tx: Transaction, user_id: int) -> CustomerUser | None:
    """Return a user, or None."""
    return await tx.find_row(_USER_BY_ID, id=user_id)


async def find_person(tx: Transaction, site: Site, email: str) -> Person | None:
    """Return a person by its address, in any case, or None."""
    return await (find_staff_member(tx, email) if site == "staff" else find_user(tx, email))


async def find_person_by_id(tx: Transaction, site: Site, person_id: int) -> Person | None:
    """Return a person, or None."""
    return await (find_staff_member_by_id(tx, person_id) if site == "staff" else find_user_by_id(tx, person_id))


def _for_both_tables(sql: SQL) -> Mapping[Site, Statement[Any]]:
    """Return the statements for the tables of both kinds of people."""
    tables: Mapping[Site, str] = {"staff": "staff_member", "account": "customer_user"}
    return {site: Statement(sql.format(Identifier(table))) for site, table in tables.items()}


_HASH_BY_EMAIL: LiteralString = "select password_hash from {} where email_key = :email_key and disabled_at is null"
_FIND_PASSWORD = _for_both_tables(SQL(_HASH_BY_EMAIL))
_LOCK_PASSWORD = _for_both_tables(SQL(f"{_HASH_BY_EMAIL} for no key update"))


async def find_password(tx: Transaction, site: Site, email: str) -> str | None:
    """Return the password's hash of a person who is not disabled, or None."""
    password: str | None = await tx.find_value(_FIND_PASSWORD[site], email_key=fold(email))
    return password


async def lock_password(tx: Transaction, site: Site, email: str) -> str | None:
    """Return what `find_password` does, and lock the person until the transaction ends.

    A session that begins under this lock is one of those that a new password, a reset or a disabling ends later.
    """
    password: str | None = await tx.find_value(_LOCK_PASSWORD[site], email_key=fold(email))
    return password


_SET_PASSWORD = _for_both_tables(SQL("update {} set password_hash = :hash where id = :id"))


async def store_password(tx: Transaction, site: Site, person_id: int, password_hash: str) -> None:
    """Store the hash of a person's new password."""
    await tx.execute(_SET_PASSWORD[site], id=person_id, hash=password_hash)


_DISABLE_PERSON = _for_both_tables(SQL("update {} set disabled_at = coalesce(disabled_at, :now) where id = :id"))


async def set_disabled(tx: Transaction, site: Site, person_id: int, now: datetime) -> None:
    """Disable a person; the first time counts."""
    await tx.execute(_DISABLE_PERSON[site], id=person_id, now=now)


_ENABLE_WITHOUT_PASSWORD = _for_both_tables(
    SQL("update {} set password_hash = null, disabled_at = null where id = :id")
)


async def enable_without_password(tx: Transaction, site: Site, person_id: int) -> None:
    """Enable a person, who has no password then."""
    await tx.execute(_ENABLE_WITHOUT_PASSWORD[site], id=person_id)
