"""Recognises the browsers in which a person has signed in, by a cookie of their own, and names them."""

import secrets
from datetime import datetime

from tradecounter.access.queries.sessions import see_browser
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


# The first that is found is right: Edge calls itself Chrome too, and Chrome calls itself Safari.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_LONGEST = 60


def browser_name(user_agent: str) -> str:
    """Return a name such as `Firefox on Windows`; for an unknown browser, what it calls itself."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), None)
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), None)
    if browser is None:
        return user_agent[:_LONGEST] or "An unnamed browser"
    return browser if system is None else f"{browser} on {system}"
