"""One-time links at which staff members and customers' users set their passwords."""

import secrets
from datetime import datetime, timedelta

from tradecounter.access.passwords import hash_password
from tradecounter.access.queries.links import LinkRecord, find_link, insert_link, use_link
from tradecounter.access.queries.staff import set_staff_password
from tradecounter.access.queries.users import set_user_password
from tradecounter.access.rules import check_password
from tradecounter.audit.record import audit
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.identity.installation_secret import derived_key
from tradecounter.identity.secret_hash import secret_hash
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.settings import Settings

PAGE = "set-password"  # of each site, with the link's secret as `token`
_ID_BITS = 62
_PUBLIC, _BACK_OFFICE = "http://127.0.0.1:8000", "http://127.0.0.1:8001"  # where the commands listen by default


async def make_link(
    tx: Transaction,
    secret: str,
    now: datetime,
    lifetime: timedelta,
    *,
    staff_id: int | None = None,
    user_id: int | None = None,
) -> int:
    """Make a link for a staff member or a user, and return its id; earlier links of the person end.

    `secret` is the installation's secret key, from which `link_token` derives the link's own.
    """
    link_id = secrets.randbits(_ID_BITS)
    digest = secret_hash(link_token(secret, link_id))
    await insert_link(tx, link_id, digest, now, now + lifetime, staff_id=staff_id, user_id=user_id)
    return link_id


def link_token(secret: str, link_id: int) -> str:
    """Return the secret of a link."""
    return derived_key(secret, f"one-time link {link_id}")


def staff_address(settings: Settings, token: str) -> str:
    """Return the address at which a staff member sets its password."""
    return f"{settings.backoffice_url or _BACK_OFFICE}/{PAGE}?token={token}"


def user_address(base_url: str | None, token: str) -> str:
    """Return the address at which a customer's user sets its password."""
    return f"{base_url or _PUBLIC}/account/{PAGE}?token={token}"


async def set_password(database: Database, token: str, password: str, now: datetime) -> None:
    """Set the password of the person whom a link was made for; the link ends.

    Raises DomainError: gone (unknown, used or expired), invalid (the password).
    """
    async with reading(database) as tx:
        link = await find_link(tx, secret_hash(token), now)
    if link is None:
        raise _ended()
    check_password(password, (link.email, link.name))
    password_hash = await hash_password(password)  # with no transaction open: it may wait for others
    async with transaction(database, _actor(link)) as tx:
        if not await use_link(tx, link.id, now):
            raise _ended()
        if link.staff_id is not None:
            await set_staff_password(tx, link.staff_id, password_hash)
            audit(tx, "staff.set_password", f"staff/{link.email}", now)
        elif link.user_id is not None:
            await set_user_password(tx, link.user_id, password_hash)
            audit(tx, "user.set_password", f"user/{link.email}", now)


def _actor(link: LinkRecord) -> Actor:
    return Actor("user" if link.staff_id is None else "staff", link.email, link.user_id or link.staff_id)


def _ended() -> DomainError:
    return DomainError(Kind.GONE, "this link has been used or has expired; ask for another one")
