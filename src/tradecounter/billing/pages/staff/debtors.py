"""`/money`: who owes what, by age."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.billing.ageing_chart import ageing_chart
from tradecounter.billing.debtors import read_debtor_table, read_debtor_totals
from tradecounter.billing.print_statement import AGES
from tradecounter.billing.queries.debtors import DEBTORS, DebtorRecord
from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text
from tradecounter.edge.pages.listing import After, listed
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts

_COLUMNS = (
    Column("Customer", "name"),
    *(Column(name, age, numeric=True) for age, name in AGES.items()),
    Column("Due", "due", numeric=True),
    Column("On the account", numeric=True),
)
_MOST_OVERDUE_FIRST = "-overdue"
_HEADINGS = ("customer_id", "customer", *AGES, "due", "overdue", "unallocated")


class DebtorTable(TableParameters, frozen=True, kw_only=True):
    """The table of debtors has no filters."""


@dataclass(frozen=True, slots=True)
class DebtorPages:
    """Debtors by age."""

    desk: PageDesk
    parts: OfficeParts

    @page("/money", "Money", scope="billing:read", query=DebtorTable)
    async def list_debtors(self, call: Call) -> Response:
        now = self.desk.clock.now()

        async def find(wanted: DebtorTable, sort: Sort, after: After) -> list[DebtorRecord]:
            async with self.desk.reading() as tx:
                return await read_debtor_table(
                    tx, now, sort.column, wanted.most, descending=sort.descending, after=after
                )

        found = await listed(call, DebtorTable, DEBTORS.sorts, _MOST_OVERDUE_FIRST, find)
        if found.is_file:
            return csv_file("debtors", _HEADINGS, map(_file_row, found.rows))
        async with self.desk.reading() as tx:
            totals = await read_debtor_totals(tx, now)
        address, sort = self.desk.view(call).at("/money"), found.sort
        table = Table.of(
            call,
            address,
            _COLUMNS,
            found.rows,
            sort,
            lambda row: cursor_text(*DEBTORS.place_of(row, sort.column)),
        )
        chart = ageing_chart("Due by age", totals) if totals.debtors else None
        return self.desk.show(
            call, "billing/debtors.html", form=found.form, table=table, totals=totals, chart=chart, ages=AGES
        )


def _file_row(debtor: DebtorRecord) -> tuple[object, ...]:
    ages = (getattr(debtor, age) for age in AGES)
    return (debtor.customer_id, debtor.name, *ages, debtor.due, debtor.overdue, debtor.unallocated)
