"""Recognises the browsers in which a person has signed in, by a cookie of their own."""

import secrets
from datetime import datetime

from tradecounter.access.queries.browsers import see_browser
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Site
from tradecounter.identity.secret_hash import secret_hash

_BYTES = 16
_LONGEST_MARK = 64


async def see_visitor(tx: Transaction, site: Site, person_id: int, mark: str, now: datetime) -> tuple[str, bool]:
    """Return the mark that a browser has or gets, and whether the person has signed in with it before."""
    if not mark or len(mark) > _LONGEST_MARK:
        mark = secrets.token_urlsafe(_BYTES)
    return mark, await see_browser(tx, site, person_id, secret_hash(mark), now)
