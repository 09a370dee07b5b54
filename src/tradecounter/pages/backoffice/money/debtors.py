"""`/money`: who owes what, by age."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any

from starlette.responses import Response

from tradecounter.billing.account_statement import Ageing, Debtor, read_debtors
from tradecounter.billing.print_statement import AGES
from tradecounter.kit.errors import invalid
from tradecounter.kit.money import NOTHING
from tradecounter.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text
from tradecounter.pages.backoffice.ageing import ageing_chart
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.listing import After, listed
from tradecounter.pages.operation import page
from tradecounter.pages.page_desk import PageDesk
from tradecounter.rest.call import Call

_COLUMNS = (
    Column("Customer", "name"),
    *(Column(name, age, numeric=True) for age, name in AGES.items()),
    Column("Due", "due", numeric=True),
    Column("On the account", numeric=True),
)
_VALUES: Mapping[str, Callable[[Debtor], Any]] = {
    "name": lambda debtor: debtor.name.casefold(),
    "due": attrgetter("due"),
    "overdue": attrgetter("overdue"),
    **{age: attrgetter(f"ageing.{age}") for age in AGES},
}
_SORTS: Mapping[str, Any] = dict.fromkeys(_VALUES, int)  # a cursor is the number of rows before it
_MOST_OVERDUE_FIRST = "-overdue"
_HEADINGS = ("customer_id", "customer", *AGES, "due", "overdue", "unallocated")


class DebtorTable(TableParameters, frozen=True, kw_only=True):
    """The table of debtors has no filters."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums of all debtors."""

    due: Decimal
    overdue: Decimal
    debtors: int
    late: int
    ageing: Ageing


@dataclass(frozen=True, slots=True)
class DebtorPages:
    """Debtors by age."""

    desk: PageDesk
    parts: OfficeParts

    @page("/money", "Money", scope="billing:read", query=DebtorTable)
    async def list_debtors(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            debtors = await read_debtors(tx, self.desk.clock.now())

        async def find(wanted: DebtorTable, sort: Sort, after: After) -> list[tuple[int, Debtor]]:
            ordered = sorted(debtors, key=_VALUES[sort.column], reverse=sort.descending)
            first = 0 if after is None else after[1]
            if first < 0:
                raise invalid("after", "take it from the link to the next page")
            return list(enumerate(ordered))[first : first + wanted.most]

        found = await listed(call, DebtorTable, _SORTS, _MOST_OVERDUE_FIRST, find)
        if found.is_file:
            return csv_file("debtors", _HEADINGS, (_file_row(debtor) for _, debtor in found.rows))
        address = self.desk.view(call).at("/money")
        table = Table.of(call, address, _COLUMNS, found.rows, found.sort, lambda row: cursor_text(0, row[0] + 1))
        totals = totals_of(debtors)
        chart = ageing_chart("Due by age", totals.ageing) if debtors else None
        return self.desk.show(
            call, "money/debtors.html", form=found.form, table=table, totals=totals, chart=chart, ages=AGES
        )


def totals_of(debtors: list[Debtor]) -> Totals:
    """Return the sums of debtors."""
    ageing = Ageing(**{age: sum((getattr(d.ageing, age) for d in debtors), NOTHING) for age in AGES})
    return Totals(
        sum((d.due for d in debtors), NOTHING),
        sum((d.overdue for d in debtors), NOTHING),
        len(debtors),
        sum(1 for d in debtors if d.overdue),
        ageing,
    )


def _file_row(debtor: Debtor) -> tuple[object, ...]:
    ages = (getattr(debtor.ageing, age) for age in AGES)
    return (debtor.customer_id, debtor.name, *ages, debtor.due, debtor.overdue, debtor.unallocated)
