"""A bank file that a member of staff has uploaded and not yet recorded."""

from collections.abc import Mapping, Sequence

from msgspec import field

from tradecounter.bulk.files import Form
from tradecounter.bulk.uploaded_files import UploadedFile
from tradecounter.payments.wire import PaymentImport


class UploadedBankFile(UploadedFile, kw_only=True):
    """An uploaded bank file, kept in memory.

    Attributes:
        headings: the cells of its first line.
        renamed: the field of each heading that its owner has chosen.
        result: what recording it would do, as of the last look.
        problem: why it is unreadable.
        recorded_as: the id of the bank file, once it is recorded.
    """

    form: Form
    content: bytes
    headings: Sequence[str] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    result: PaymentImport | None = None
    problem: str = ""
    recorded_as: int | None = None

    @property
    def path(self) -> str:
        """The path of its page."""
        return f"/payment/import/check/{self.id}"
