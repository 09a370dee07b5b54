"""The VAT of a period: the sums of invoices and credit notes, and the boxes of a UK VAT return for sales.

An invoice counts on its tax point, a credit note on the day of its issue: the days that the documents show.
"""

from calendar import monthrange
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tradecounter.billing.queries.document_tables import VatKind, VatSum, vat_sums
from tradecounter.billing.rules import require_period
from tradecounter.db.transaction import Transaction
from tradecounter.edge.rest.days import PERIOD_NAMES
from tradecounter.kit.clock import uk_date
from tradecounter.kit.csv_text import cell_of, line
from tradecounter.kit.money import NOTHING, whole_pounds
from tradecounter.orders.rules import VAT_AREA

VatSupply = Literal["domestic", "export"]

_QUARTERS = 4
_MONTHS = 3  # of a quarter
_YEAR = 12


class VatLine(Struct, frozen=True, kw_only=True):
    """What documents of a kind come to at a rate of VAT. Credit notes are negative, so that the lines add up."""

    kind: Annotated[VatKind, Meta(description="`invoice` or `credit_note`.")]
    supply: Annotated[VatSupply, Meta(description="`domestic`, or `export`: delivered outside the UK's VAT area.")]
    tax_rate: Annotated[Decimal, Meta(description="The rate of VAT, in per cent.")]
    documents: Annotated[int, Meta(description="How many documents.")]
    cost_net: Annotated[Decimal, Meta(description="Pounds without VAT.")]
    cost_tax: Annotated[Decimal, Meta(description="The VAT in pounds.")]
    cost_gross: Annotated[Decimal, Meta(description="Pounds with VAT.")]


class VatReport(Struct, frozen=True, kw_only=True, rename=PERIOD_NAMES):
    """The VAT of a period, and the boxes of a VAT return: box 1, VAT due on sales, and box 6, sales without VAT."""

    since: Annotated[date, Meta(description="The first UK day.")]
    until: Annotated[date, Meta(description="The last UK day, which is included.")]
    lines: list[VatLine]
    documents: Annotated[int, Meta(description="How many invoices and credit notes.")]
    cost_net: Annotated[Decimal, Meta(description="Pounds without VAT, less credit notes.")]
    cost_tax: Annotated[Decimal, Meta(description="The VAT in pounds, less that of credit notes.")]
    cost_gross: Annotated[Decimal, Meta(description="Pounds with VAT, less credit notes.")]
    box_1: Annotated[Decimal, Meta(description="VAT due on sales, in pounds and pence.")]
    box_6: Annotated[Decimal, Meta(description="Sales without VAT, in whole pounds: the pence are left out.")]


async def read_vat_report(tx: Transaction, since: date | None, until: date | None, now: datetime) -> VatReport:
    """Return the VAT of a period of UK days, both included; by default, of the last whole quarter.

    Without `since`, the period starts with the quarter of `until`; without `until`, it ends today. Raises DomainError
    (invalid).
    """
    first, last = _period(since, until, uk_date(now))
    lines = [_line(found) for found in await vat_sums(tx, first, last, VAT_AREA)]
    net, vat = sum((each.cost_net for each in lines), NOTHING), sum((each.cost_tax for each in lines), NOTHING)
    return VatReport(
        since=first,
        until=last,
        lines=lines,
        documents=sum(each.documents for each in lines),
        cost_net=net,
        cost_tax=vat,
        cost_gross=net + vat,
        box_1=vat,
        box_6=whole_pounds(net),
    )


def _period(since: date | None, until: date | None, today: date) -> tuple[date, date]:
    if since is None and until is None:
        return quarters(today)[1]
    until = until or today
    since = since or until.replace(month=until.month - (until.month - 1) % _MONTHS, day=1)
    require_period(since, until)
    return since, until


def quarters(day: date, like: date | None = None) -> list[tuple[date, date]]:
    """Return the quarter of a day and those before it, as first and last days.

    They are calendar quarters, unless `like` is the last day of another quarter: then they end in the same months.
    """
    ends = 0 if like is None or like.day < monthrange(like.year, like.month)[1] else like.month % _MONTHS
    month = day.year * _YEAR + day.month
    last = month + (ends - month) % _MONTHS
    starts = [_first_of(last + 1 - _MONTHS * number) for number in range(_QUARTERS + 1)]
    return [(start, following - timedelta(days=1)) for following, start in pairwise(starts)]


def _first_of(month: int) -> date:
    """Return the first day of a month; months are counted from the December before the year 0."""
    return date((month - 1) // _YEAR, (month - 1) % _YEAR + 1, 1)


def _line(vat_sum: VatSum) -> VatLine:
    net, vat = vat_sum.net, vat_sum.vat
    if vat_sum.kind == "credit_note":
        net, vat = NOTHING - net, NOTHING - vat  # no minus before 0
    return VatLine(
        kind=vat_sum.kind,
        supply="domestic" if vat_sum.inside else "export",
        tax_rate=vat_sum.rate,
        documents=vat_sum.documents,
        cost_net=net,
        cost_tax=vat,
        cost_gross=net + vat,
    )


def vat_csv(report: VatReport) -> str:
    """Return the lines of a report as CSV."""
    rows = (map(cell_of, (getattr(each, name) for name in VatLine.__struct_fields__)) for each in report.lines)
    return line(VatLine.__struct_fields__) + "".join(map(line, rows))
