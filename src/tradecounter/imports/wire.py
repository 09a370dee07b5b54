"""The requests and responses of imports in the back office."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import fields

from tradecounter.bulk.differences import Change
from tradecounter.bulk.files import FileFacts
from tradecounter.bulk.import_options import ImportReport
from tradecounter.bulk.price_figures import GuardedPrice, UnknownPriceList
from tradecounter.bulk.rows import RowMessage
from tradecounter.kit.wire import made_from

_NESTED = {"file", "prices", "errors", "warnings", "digest"}  # the parts of a report that are shown differently, or not


class ImportParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `POST /api/import/{kind}`."""

    dry_run: Annotated[bool, Meta(description="Only check the file and report what it would change.")] = False
    replace: Annotated[bool, Meta(description="Deactivate the records that are not in the file.")] = False
    partial: Annotated[bool, Meta(description="Leave rows with errors out, and import the others.")] = False
    yes: Annotated[bool, Meta(description="Let `replace` deactivate more than a fifth of the records.")] = False
    force: Annotated[
        bool, Meta(description="Import also prices that may be slips, and price lists that nobody knows.")
    ] = False
    diff: Annotated[bool, Meta(description="Report the first 1,000 changes in `diff`.")] = False
    on_hand: Annotated[
        bool, Meta(description="Stock levels include units that are allocated to orders; only for `stock`.")
    ] = False


class RollBackParameters(Struct, frozen=True, kw_only=True):
    """The query parameters of `POST /api/import/{id}/roll-back`."""

    force: Annotated[bool, Meta(description="Also restore records that have changed since the import.")] = False


class ReadFile(Struct):
    """How the file was read; what its format does not have is null."""

    form: str
    encoding: str | None
    separator: str | None
    sheet: str | None
    unknown_columns: list[str]


class LineMessage(Struct, frozen=True):
    """An error or a warning; `line` is None if it concerns the whole file."""

    line: int | None
    message: str


class Report(Struct, kw_only=True):
    """The result of an import or a dry run; the figures of prices are those of price lists and contract prices."""

    id: Annotated[int | None, Meta(description="The import's id; null in a dry run, or when nothing is imported.")]
    added: int
    changed: int
    unchanged: int
    deactivated: int
    skipped: Annotated[int, Meta(description="Rows that are left out because of their errors, with `partial`.")]
    errors: list[LineMessage]
    warnings: list[LineMessage]
    file: ReadFile
    diff: Sequence[Change] | UnsetType = UNSET
    diff_more: Annotated[bool, Meta(description="Whether there are more changes.")] | UnsetType = UNSET
    raised: Annotated[
        int | UnsetType, Meta(description="Prices that rise; one with several breaks may rise and fall.")
    ] = UNSET
    lowered: Annotated[int | UnsetType, Meta(description="Prices that fall.")] = UNSET
    largest_rise: Annotated[
        Decimal | UnsetType, Meta(description="The largest rise, in per cent; absent without one.")
    ] = UNSET
    largest_fall: Annotated[
        Decimal | UnsetType, Meta(description="The largest fall, in per cent, below 0; absent without one.")
    ] = UNSET
    customers: Annotated[
        int | UnsetType, Meta(description="Customers whose list, or whose contract, has a price that changes.")
    ] = UNSET
    new_price_lists: Annotated[
        Sequence[UnknownPriceList] | UnsetType,
        Meta(description="Lists that neither have prices nor are any customer's: they want `force`."),
    ] = UNSET
    below_cost: Annotated[
        int | UnsetType, Meta(description="Prices that change and end below `purchase_cost`, also those that rise.")
    ] = UNSET
    guarded: Annotated[
        int | UnsetType,
        Meta(description="Prices that fall by more than half, below `purchase_cost` or to 0: they want `force`."),
    ] = UNSET
    guarded_prices: Annotated[Sequence[GuardedPrice] | UnsetType, Meta(description="The first 20 of them.")] = UNSET


def present_report(report: ImportReport) -> Report:
    """Return an import's report as the back office and the command line show it."""
    facts = report.file or FileFacts("CSV")
    values = {field.name: getattr(report, field.name) for field in fields(report) if field.name not in _NESTED}
    figures = {} if report.prices is None else {f.name: getattr(report.prices, f.name) for f in fields(report.prices)}
    figures = {name: value for name, value in figures.items() if value is not None}
    return Report(
        **values,
        errors=_on_the_wire(report.errors),
        warnings=_on_the_wire(report.warnings),
        file=made_from(facts, ReadFile),
        **figures,
    )


def _on_the_wire(messages: Sequence[RowMessage]) -> list[LineMessage]:
    return [LineMessage(each.line, each.message) for each in messages]
