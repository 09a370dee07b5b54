"""`/money`: who owes what, by age; and reminders to several debtors, each in its own transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.audit.queries import latest_of
from tradecounter.billing.debtors import age_starts, read_debtor_totals, remind_debtor
from tradecounter.billing.queries.debtors import DEBTORS, DebtorRecord, chosen_debtors
from tradecounter.billing.rules import AGES
from tradecounter.customer_notes.queries import promises_of
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import parse_form
from tradecounter.edge.page_kit.submitted_forms import read_submitted
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder, TableParameters
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import Outcome, PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.clock import uk_date
from tradecounter.kit.numbers import Id, read_id
from tradecounter.parts.ageing_chart import ageing_chart
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


class DebtorPages(Struct, frozen=True):
    """Debtors by age."""

    desk: PageDesk
    parts: OfficeParts

    async def _values(
        self, tx: Transaction, listing: Listing[TableParameters, DebtorRecord], now: datetime
    ) -> dict[str, Any]:
        totals = await read_debtor_totals(tx, now)
        customers = [debtor.customer_id for debtor in listing.rows]
        promises = await promises_of(tx, customers)
        reminded = await latest_of(tx, "customer.remind", [f"customer/{customer}" for customer in customers])
        told = {remittance.customer_id: remittance for remittance in await awaited_of(tx, customers, now - AWAITED_FOR)}
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

    @table_page(
        "/money",
        "Money",
        columns=_COLUMNS,
        order=TableOrder(DEBTORS.sorts, _MOST_OVERDUE_FIRST, DEBTORS.place_of),
        template="billing/debtors.html",
        file="debtors",
        cells=_CELLS,
        values=_values,
        scope="billing:read",
    )
    async def list_debtors(self, tx: Transaction, at: RowsToRead, now: datetime) -> list[DebtorRecord]:
        return await DEBTORS.page(tx, age_starts(now), **at)


_REMIND = "/money/remind"
_MOST_REMINDED = 50


class ChosenDebtors(Struct, frozen=True):
    """The debtors that were ticked."""

    customer: Annotated[tuple[str, ...], Meta(description="Customer ids.")] = ()


class RemindersForm(Struct):
    """The debtors to remind."""

    customer: Annotated[list[Id], Meta(max_length=_MOST_REMINDED)] = []


class RemindDebtorsPages(Struct, frozen=True):
    """The form that reminds several debtors."""

    desk: PageDesk
    parts: OfficeParts

    @page(_REMIND, "Remind several debtors", scope="billing:write", query=ChosenDebtors)
    async def show_remind(self, call: Call) -> Response:
        known = [number for text in call.query(ChosenDebtors).customer if (number := read_id(text)) is not None]
        if not 0 < len(known) <= _MOST_REMINDED:
            return self._back_to_debtors(call)
        return await self._show(call, Filled(), known)

    @form(_REMIND, "Remind several debtors", scope="billing:write")
    async def remind(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        chosen = list(dict.fromkeys(parse_form(submitted, RemindersForm).customer))
        if not chosen:
            return self._back_to_debtors(call)

        async def work(tx: Transaction, place: int, now: datetime) -> str:
            return f"Sent to {(await remind_debtor(tx, chosen[place], now)).recipient}"

        outcomes = await self.desk.change_each(call, submitted, [str(each) for each in chosen], work)
        return await self._show(call, Filled(submitted.values), chosen, outcomes)

    def _back_to_debtors(self, call: Call) -> Response:
        return self.desk.go(
            call, "/money", f"Nobody is reminded: tick 1 to {_MOST_REMINDED} debtors first.", warns=True
        )

    async def _show(
        self, call: Call, filled: Filled, chosen: Sequence[int], outcomes: Sequence[Outcome] = ()
    ) -> Response:
        """Show debtors with overdue invoices, ticked unless they were reminded today, or the outcome for each."""
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            debtors = await chosen_debtors(tx, chosen, now)
            reminded = await latest_of(tx, "customer.remind", [f"customer/{debtor.customer_id}" for debtor in debtors])
        return self.desk.show(
            call,
            "billing/remind_debtors.html",
            form=filled,
            debtors=debtors,
            reminded=reminded,
            outcomes=outcomes,
            reminded_today={name for name, at in reminded.items() if uk_date(at) == uk_date(now)},
            names={str(debtor.customer_id): debtor.name for debtor in debtors},
        )
