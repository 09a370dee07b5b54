"""The options of an import, and the report of its outcome."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct, field

from tradecounter.bulk.differences import Change, OnChange
from tradecounter.bulk.files import FileFacts
from tradecounter.bulk.price_figures import PriceFigures
from tradecounter.bulk.rows import RowMessage


class ImportReport(Struct):
    """The result of an import or a dry run; if it has errors and nothing is `skipped`, nothing is imported.

    `id` is the import's id in the history. `diff` has the first changes if they were asked for, and `diff_more` is
    whether there are more. `prices` is what the import does to prices, for kinds with a guard. `skipped` is how many
    rows a partial import has left out because of their errors. `digest` is that of the changes if a rule made the rows.
    """

    id: int | None = None
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deactivated: int = 0
    skipped: int = 0
    errors: list[RowMessage] = field(default_factory=list)
    warnings: list[RowMessage] = field(default_factory=list)
    file: FileFacts | None = None
    diff: Sequence[Change] | msgspec.UnsetType = msgspec.UNSET
    diff_more: bool | msgspec.UnsetType = msgspec.UNSET
    prices: PriceFigures | None = None
    digest: str | None = None

    @property
    def is_rejected(self) -> bool:
        """Whether errors prevent the import."""
        return bool(self.errors) and not self.skipped


class ImportOptions(Struct, frozen=True, kw_only=True):
    """Options of an import.

    Attributes:
        dry_run: whether the caller rolls back the import.
        replace: whether records that are not in the file are deactivated.
        confirmed: whether `replace` may deactivate more than a fifth of the records.
        confirmed_by: how the caller confirms that, for messages.
        partial: whether rows with errors are left out, instead of preventing the import. The records that they name
            stay as they are; with `replace`, nothing is deactivated if the file has a row whose record is unknown.
        force: whether prices may be changed that the kind's guard finds. Without it, a partial import leaves them out.
        forced_by: how the caller forces that, for messages.
        progress: called with the number of rows read.
        on_change: called with each change, if given.
        diff: whether the report has the changes.
        rule: the rule that made the rows, in words, for the audit log.
    """

    dry_run: bool = False
    replace: bool = False
    confirmed: bool = False
    confirmed_by: str = "--yes"
    partial: bool = False
    force: bool = False
    forced_by: str = "--force"
    progress: Callable[[int], None] = lambda _count: None
    on_change: OnChange | None = None
    diff: bool = False
    rule: str = ""

    @property
    def keeps_changes(self) -> bool:
        """Whether the import stores what it changes; a dry run does so only to report it."""
        return not self.dry_run or self.diff or self.on_change is not None
