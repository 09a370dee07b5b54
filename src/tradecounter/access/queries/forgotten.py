"""Requests for a link to set a new password, not yet looked up."""

from datetime import datetime

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Site


class PasswordRequest(Struct, frozen=True):
    """What was typed at a site; the address may be nobody's."""

    site: Site
    email: str


_INSERT = Statement(
    "insert into forgotten_password (site, email, created_at) values (:site, :email, :now) returning id"
)


async def insert_request(tx: Transaction, site: Site, email: str, now: datetime) -> int:
    """Store a request and return its id."""
    request_id: int = await tx.fetch_value(_INSERT, site=site, email=email, now=now)
    return request_id


_TAKE = Statement("delete from forgotten_password where id = :id returning site, email", PasswordRequest)


async def take_request(tx: Transaction, request_id: int) -> PasswordRequest | None:
    """Remove a request and return it, or None when it was taken before."""
    return await tx.fetch_one(_TAKE, id=request_id)
