"""Bank files that staff have uploaded and not yet recorded."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct, field

from tradecounter.bulk.files import Form
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.payments.wire import PaymentImport

_MOST_KEPT = 20
_KEPT_FOR = timedelta(days=1)


class KeptFile(Struct):
    """An uploaded bank file.

    Attributes:
        owner: the id of the member of the staff who uploaded it, who alone sees it.
        headings: the cells of its first line.
        renamed: the field of each heading that its owner has chosen.
        result: what recording it would do, as last looked at.
        problem: why it cannot be read.
        recorded_as: the id of the bank file, once it is recorded.
    """

    id: str
    owner: int
    name: str
    form: Form
    content: bytes
    at: datetime
    headings: Sequence[str] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    result: PaymentImport | None = None
    problem: str = ""
    recorded_as: int | None = None

    @property
    def path(self) -> str:
        """The path of its page."""
        return f"/payment/import/check/{self.id}"


class KeptFiles:
    """The uploaded bank files of this process.

    Files are kept in memory until they are recorded or discarded, at most for a day and until the process ends.
    """

    def __init__(self) -> None:
        self._kept: dict[str, KeptFile] = {}

    def keep(
        self, owner: int, name: str, form: Form, content: bytes, headings: Sequence[str], now: datetime
    ) -> KeptFile:
        """Keep a file; those that are too old, and the oldest of too many, are forgotten."""
        fresh = [kept for kept in self._kept.values() if kept.at >= now - _KEPT_FOR]
        self._kept = {kept.id: kept for kept in fresh[-(_MOST_KEPT - 1) :]}
        made = KeptFile(secrets.token_urlsafe(16), owner, name, form, content, now, headings)
        self._kept[made.id] = made
        return made

    def find(self, file_id: str, owner: int, now: datetime) -> KeptFile:
        """Return a file of a member of the staff. Raises DomainError (not found)."""
        kept = self._kept.get(file_id)
        if kept is None or kept.owner != owner or kept.at < now - _KEPT_FOR:
            raise DomainError(Kind.NOT_FOUND, "this file is not kept any more: choose it again")
        return kept

    def discard(self, kept: KeptFile) -> None:
        """Forget a file."""
        self._kept.pop(kept.id, None)
