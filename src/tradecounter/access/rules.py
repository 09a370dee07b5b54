"""Rules of passwords and of guessing them."""

from collections.abc import Collection
from datetime import datetime, timedelta

from msgspec import Struct

from tradecounter.access.passwords import COMMON
from tradecounter.kit.errors import invalid

SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 200
_SHORTEST_NAME = 4  # characters of an address or a name that a password must not consist of

GUESSING_WINDOW = timedelta(minutes=10)
FREE_GUESSES = 10
PAUSE = timedelta(seconds=30)

# What each role of a customer's user may do, for people.
USER_ROLE_CHOICES = (
    ("buyer", "Buyer: the shop, orders, quotes and addresses"),
    ("approver", "Approver: confirms orders above another user's limit"),
    ("accounts", "Accounts: invoices, statement and credit"),
    ("developer", "Developer: keys, applications, webhooks and feeds"),
    ("owner", "Owner: everything, and the users"),
)

INVITATION_LIFETIME = timedelta(days=7)
RESET_LIFETIME = timedelta(hours=1)


def check_password(password: str, names: Collection[str] = ()) -> None:
    """Raise DomainError (invalid) for a password that is short, common, or the person's own name or address."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise invalid("password", f"must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters")
    plain = _plain(password)
    own = {_plain(part) for name in names for part in (name, name.partition("@")[0])}
    if any(len(name) >= _SHORTEST_NAME and name == plain.strip("0123456789") for name in own):
        raise invalid("password", "must not be your name or address")
    if len(set(password)) < _SHORTEST_NAME or plain in COMMON or plain.strip("0123456789") in COMMON:
        raise invalid("password", "is too common")


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


class Guesses(Struct, frozen=True):
    """Wrong passwords in the window, of an account and from an address; the latest of the pair and from the address."""

    of_account: int
    from_address: int
    latest_of_pair: datetime | None
    latest_from_address: datetime | None

    def address_wait(self, now: datetime) -> timedelta:
        """Return how long every sign-in from the address must wait; zero when one may try now."""
        return _wait(self.from_address, self.latest_from_address, now)

    def wait(self, now: datetime) -> timedelta:
        """Return how long the pair of account and address must wait; zero when it may try now.

        An account whose address has no wrong password never waits, so nobody can lock another person's account.
        """
        return max(_wait(self.of_account, self.latest_of_pair, now), self.address_wait(now))


def _wait(guesses: int, latest: datetime | None, now: datetime) -> timedelta:
    if guesses < FREE_GUESSES or latest is None:
        return timedelta(0)
    return max(latest + PAUSE - now, timedelta(0))
