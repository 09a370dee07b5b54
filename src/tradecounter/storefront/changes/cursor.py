"""Cursors: what a customer's copy of the catalogue shows, encrypted for the customer.

A cursor has no list of changes: it says up to which versions and transactions its copy is current, and under which
terms and on which day it was read. So any process can say what differs (`differences.py`).
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from datetime import date
from functools import cached_property

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from msgspec import Struct

from tradecounter.db.seen import Seen
from tradecounter.identity.installation_secret import derived_key
from tradecounter.kit.errors import Code, DomainError, Kind, invalid

RENDERING = 1  # raise it when a release shows the same product differently: then clients read the catalogue again

_PURPOSE = "catalogue cursors"
_LONGEST = 4_000  # characters
_SHORTEST = 40  # bytes


class Position(Struct, frozen=True, array_like=True):
    """The data that a process shows: versions in the order of TOPICS, stock levels, and when, in seconds since 1970.

    `log` names the database's log, in which versions and transactions are comparable.
    """

    log: bytes
    at: int
    versions: tuple[int, ...]
    stock: Seen

    def covers(self, other: "Position") -> bool:
        """Return whether this position is of the same log and nowhere older."""
        return self.log == other.log and (
            all(map(int.__ge__, self.versions, other.versions)) and self.stock.covers(other.stock)
        )


class Terms(Struct, frozen=True, array_like=True):
    """What else decides what the customer sees: its terms, the threshold of low stock, and the UK date's ordinal."""

    price_list: str | None
    discount: int
    trade_account: bool
    low_stock: int
    day: int

    @property
    def date(self) -> date:
        """The UK date."""
        return date.fromordinal(self.day)


class Place(Struct, frozen=True, array_like=True):
    """What a copy shows: the data at a position, under a customer's terms."""

    position: Position
    terms: Terms

    def covers(self, other: "Place") -> bool:
        """Return whether this place is of the same log and nowhere older."""
        return self.position.covers(other.position) and self.terms.day >= other.terms.day


class Cursor(Struct, frozen=True, array_like=True):
    """Where a client is: its copy shows `since`.

    While it reads a long list of changes, `until` is where the first page was read, and the copy shows at least that of
    products with ids below `next_id`.
    """

    since: Place
    until: Place | None = None
    next_id: int = 0
    rendering: int = RENDERING

    @property
    def newest(self) -> Place:
        """The newest place of which the copy has something."""
        return self.until or self.since


class Cursors:
    """Encrypts cursors for customers: they contain the names of price lists and discounts, also former ones.

    The same cursor always has the same text. Another customer's cursor cannot be decrypted.
    """

    def __init__(self, secret_keys: Callable[[], Sequence[str]]) -> None:
        """Take a function that returns the secret keys: the first encrypts, the others only decrypt."""
        self._secret_keys = secret_keys

    @cached_property
    def _ciphers(self) -> list[AESSIV]:
        return [AESSIV(bytes.fromhex(derived_key(secret, _PURPOSE))) for secret in self._secret_keys()]

    def write(self, customer_id: int, cursor: Cursor) -> bytes:
        """Return a cursor's text. Takes some 5 microseconds."""
        sealed = self._ciphers[0].encrypt(msgspec.msgpack.encode(cursor), [b"%d" % customer_id])
        return base64.urlsafe_b64encode(sealed).rstrip(b"=")

    def read(self, customer_id: int, text: str) -> Cursor:
        """Return the cursor with this text. Raises DomainError: invalid, or gone when the service cannot read it now.

        A cursor that no key decrypts may be from before the secret key was replaced, so its client must start again.
        Whether it is too old depends on the journal: `follow.py` judges that.
        """
        for cipher in self._ciphers:
            try:
                opened = cipher.decrypt(_unpacked(text), [b"%d" % customer_id])
                cursor = msgspec.msgpack.decode(opened, type=Cursor)
            except (InvalidTag, msgspec.MsgspecError):
                continue
            if cursor.rendering == RENDERING:
                return cursor
        raise expired_cursor()


def expired_cursor() -> DomainError:
    """Return the error for a cursor whose client must read the whole catalogue again."""
    message = "after: the cursor has expired, or is another customer's: read the catalogue again and go on from there"
    return DomainError(Kind.GONE, message, code=Code.CURSOR_EXPIRED)


def _unpacked(text: str) -> bytes:
    problem = "is not a cursor: send the X-Cursor of an earlier response"
    if len(text) > _LONGEST or not text.isascii():
        raise invalid("after", problem)
    try:
        sealed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise invalid("after", problem) from error
    if len(sealed) < _SHORTEST:
        raise invalid("after", problem)
    return sealed
