"""`/money`: who owes what, by age."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from tradecounter.audit.queries import latest_of
from tradecounter.billing.ageing_chart import ageing_chart
from tradecounter.billing.debtors import read_debtor_table, read_debtor_totals
from tradecounter.billing.print_statement import AGES
from tradecounter.billing.queries.debtors import DEBTORS, DebtorRecord
from tradecounter.customer_notes.queries import promises_of
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Cells, Column, Order, TableParameters
from tradecounter.edge.pages.listing import At, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.kit.local_time import uk_date
from tradecounter.parts.back_office import OfficeParts
from tradecounter.payments.queries.remittances import awaited_of
from tradecounter.payments.remittances import AWAITED_FOR

_COLUMNS = (
    Column("Customer", "name"),
    *(Column(name, age, numeric=True) for age, name in AGES.items()),
    Column("Overdue", "overdue", numeric=True),
    Column("Due", "due", numeric=True),
)
_MOST_OVERDUE_FIRST = "-overdue"
_CELLS: Cells = {
    "customer_id": "customer_id",
    "customer": "name",
    **{name: name for name in (*AGES, "due", "overdue", "unallocated")},
}


class DebtorTable(TableParameters, frozen=True, kw_only=True):
    """The table of debtors has no filters."""


class DebtorPages(Struct, frozen=True):
    """Debtors by age."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/money",
        "Money",
        columns=_COLUMNS,
        order=Order(DEBTORS.sorts, _MOST_OVERDUE_FIRST, DEBTORS.place_of),
        template="billing/debtors.html",
        file="debtors",
        cells=_CELLS,
        shown=lambda self, _, found: self._totals(found.rows),
        scope="billing:read",
    )
    async def list_debtors(self, tx: Transaction, wanted: DebtorTable, at: At, now: datetime) -> list[DebtorRecord]:
        return await read_debtor_table(tx, now, **at)

    async def _totals(self, debtors: Sequence[DebtorRecord]) -> dict[str, Any]:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            totals = await read_debtor_totals(tx, now)
            customers = [debtor.customer_id for debtor in debtors]
            promises = await promises_of(tx, customers)
            reminded = await latest_of(tx, "customer.remind", [f"customer/{each}" for each in customers])
            told = {each.customer_id: each for each in await awaited_of(tx, customers, now - AWAITED_FOR)}
        chart = ageing_chart("Due by age", totals) if totals.debtors else None
        return {
            "totals": totals,
            "chart": chart,
            "ages": AGES,
            "promises": promises,
            "told": told,
            "reminded": reminded,
            "today": uk_date(now),
        }
