"""What both sites read and write of a person; the tables differ."""

from tradecounter.access.queries.staff import find_staff_member, password_of_staff, set_staff_password, staff_by_id
from tradecounter.access.queries.users import find_user, password_of_user, set_user_password, user_by_id
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Person, Site


async def find_person(tx: Transaction, site: Site, email: str) -> Person | None:
    """Return a person by its address, in any case, or None."""
    return await (find_staff_member(tx, email) if site == "staff" else find_user(tx, email))


async def person_by_id(tx: Transaction, site: Site, person_id: int) -> Person | None:
    """Return a person, or None."""
    return await (staff_by_id(tx, person_id) if site == "staff" else user_by_id(tx, person_id))


async def password_of(tx: Transaction, site: Site, email: str) -> str | None:
    """Return the password's hash of a person who may sign in, or None."""
    return await (password_of_staff(tx, email) if site == "staff" else password_of_user(tx, email))


async def store_password(tx: Transaction, site: Site, person_id: int, password_hash: str) -> None:
    """Store the hash of a person's new password."""
    await (set_staff_password if site == "staff" else set_user_password)(tx, person_id, password_hash)
