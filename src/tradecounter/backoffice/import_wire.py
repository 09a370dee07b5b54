"""The requests and responses of imports in the back office."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.backoffice.billing_wire import Flag
from tradecounter.bulk.differences import Change
from tradecounter.bulk.files import FileFacts
from tradecounter.bulk.importing import ImportReport
from tradecounter.bulk.rows import LineMessage


class ImportParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `POST /api/import/{kind}`."""

    dry_run: Annotated[Flag, Meta(description="Only check the file and report what it would change.")] = "false"
    replace: Annotated[Flag, Meta(description="Deactivate the records that are not in the file.")] = "false"
    yes: Annotated[Flag, Meta(description="Let `replace` deactivate more than a fifth of the records.")] = "false"
    diff: Annotated[Flag, Meta(description="Report the first 1,000 changes in `diff`.")] = "false"
    on_hand: Annotated[
        Flag, Meta(description="Stock levels include units that are allocated to orders; only for `stock`.")
    ] = "false"


class RollBackParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `POST /api/import/{id}/roll-back`."""

    force: Annotated[Flag, Meta(description="Also restore records that have changed since the import.")] = "false"


class ReadFile(Struct):
    """How the file was read; what its format does not have is null."""

    form: str
    encoding: str | None
    separator: str | None
    sheet: str | None
    unknown_columns: list[str]


class Report(Struct, kw_only=True):
    """The result of an import or a dry run."""

    id: Annotated[int | None, Meta(description="The import's id; null in a dry run, or with errors.")]
    added: int
    changed: int
    unchanged: int
    deactivated: int
    errors: list[LineMessage]
    warnings: list[LineMessage]
    file: ReadFile
    diff: Sequence[Change] | UnsetType = UNSET
    diff_more: Annotated[bool, Meta(description="Whether there are more changes.")] | UnsetType = UNSET


def present_report(report: ImportReport) -> Report:
    """Return an import's report as the back office shows it."""
    facts = report.file or FileFacts("CSV")
    file = ReadFile(**{name: getattr(facts, name) for name in ReadFile.__struct_fields__})
    values = {field.name: getattr(report, field.name) for field in fields(report) if field.name != "file"}
    return Report(**values, file=file)
