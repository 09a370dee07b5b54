"""One-time links to set a password: makes and opens them, and sets the password of a person who has one."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from tradecounter.access.passwords import hash_password
from tradecounter.access.queries.passwords import LinkRecord, find_hash_of_link, find_link, insert_link, use_link
from tradecounter.access.queries.people import store_password
from tradecounter.access.queries.sign_ins import end_sessions_of
from tradecounter.access.rules import check_password
from tradecounter.audit.record import audit
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.people import Site
from tradecounter.identity.credentials import secret_hash
from tradecounter.identity.installation_secret import derived_key
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.settings import Settings

PAGE = "set-password?token="  # of each site; the secret is in the query, which logs do not contain
_ID_BITS = 62
_PUBLIC = "http://127.0.0.1:8000"  # where the commands listen by default
_BACK_OFFICE = "http://127.0.0.1:8001"


async def make_link(
    tx: Transaction, site: Site, person_id: int, secret: str, now: datetime, lifetime: timedelta
) -> int:
    """Make a link for a person of a site, and return its id; earlier links of the person end.

    `secret` is the installation's secret key, from which `link_token` derives the link's own.
    """
    link_id = secrets.randbits(_ID_BITS)
    digest = secret_hash(link_token(secret, link_id))
    await insert_link(tx, site, person_id, link_id, digest, now, now + lifetime)
    return link_id


def link_token(secret: str, link_id: int) -> str:
    """Return the secret of a link."""
    return derived_key(secret, f"one-time link {link_id}")


async def token_of_link(tx: Transaction, link_id: int, secret_keys: Sequence[str]) -> str | None:
    """Return the secret of a link, whichever of the secret keys it was derived from; None if that key is gone."""
    digest = await find_hash_of_link(tx, link_id)
    tokens = (link_token(secret_key, link_id) for secret_key in secret_keys)
    return next((token for token in tokens if secret_hash(token) == digest), None)


def public_address(base_url: str | None, path: str) -> str:
    """Return the address of a path on the customers' site."""
    return f"{base_url or _PUBLIC}{path}"


def site_address(site: Site, base_url: str | None, page: str) -> str:
    """Return the address of a page of a site, at the address in the settings, or at the commands' default."""
    if site == "staff":
        return f"{base_url or _BACK_OFFICE}/{page}"
    return f"{base_url or _PUBLIC}/account/{page}"


def staff_address(settings: Settings, token: str) -> str:
    """Return the address at which a staff member sets its password."""
    return site_address("staff", settings.backoffice_url, f"{PAGE}{token}")


async def open_link(database: Database, site: Site, token: str, now: datetime) -> LinkRecord:
    """Return what a link is for. Raises DomainError: gone (unknown, used, expired, or of the other site)."""
    async with reading(database) as tx:
        link = await find_link(tx, secret_hash(token), now)
    if link is None or link.site != site:
        raise _ended()
    return link


async def set_password(
    database: Database, site: Site, token: str, password: str, now: datetime, address: str | None = None
) -> None:
    """Set the password of the person whom a link was made for; the link and the person's sessions end.

    Raises DomainError: gone (as `open_link`), invalid (the password).
    """
    link = await open_link(database, site, token, now)
    check_password(password, (link.email, link.name))
    password_hash = await hash_password(password)  # with no transaction open: it may wait for others
    noun: Literal["staff", "user"] = "staff" if site == "staff" else "user"
    async with transaction(database, Actor(noun, link.email, link.person_id, address=address)) as tx:
        # Before the link is used: this locks the person, and a reset locks the person before the links.
        await store_password(tx, site, link.person_id, password_hash)
        if not await use_link(tx, link.id, now):
            raise _ended()
        await end_sessions_of(tx, site, link.person_id, now, but=None)
        audit(tx, f"{noun}.set_password", f"{noun}/{link.email}", now)


def _ended() -> DomainError:
    return DomainError(Kind.GONE, "this link has been used or has expired; ask for another one")
