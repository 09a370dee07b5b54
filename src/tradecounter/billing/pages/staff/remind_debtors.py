"""`/money/remind`: reminders to several debtors at once, each in a transaction of its own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.audit.queries import latest_of
from tradecounter.billing.queries.debtors import chosen_debtors
from tradecounter.billing.remind_debtor import remind_debtor
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled, parse_form, read_submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import Outcome, PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.number_types import Id
from tradecounter.kit.numbers import read_id
from tradecounter.parts.back_office import OfficeParts

_REMIND = "/money/remind"
_MOST = 50


class ChosenDebtors(Struct, frozen=True):
    """The debtors that were ticked."""

    customer: Annotated[tuple[str, ...], Meta(description="Customer ids.")] = ()


class RemindersForm(Struct):
    """The debtors to remind."""

    customer: Annotated[list[Id], Meta(max_length=_MOST)] = []


class RemindDebtorsPages(Struct, frozen=True):
    """The form that reminds several debtors."""

    desk: PageDesk
    parts: OfficeParts

    @page(_REMIND, "Remind several debtors", scope="billing:write", query=ChosenDebtors)
    async def show_remind(self, call: Call) -> Response:
        known = [number for text in call.query(ChosenDebtors).customer if (number := read_id(text)) is not None]
        if not 0 < len(known) <= _MOST:
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
        return self.desk.go(call, "/money", f"Nobody is reminded: tick 1 to {_MOST} debtors first.", warns=True)

    async def _show(
        self, call: Call, filled: Filled, chosen: Sequence[int], outcomes: Sequence[Outcome] = ()
    ) -> Response:
        """Show those with something overdue, ticked unless they were reminded today, or what came of each."""
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            debtors = await chosen_debtors(tx, chosen, now)
            reminded = await latest_of(tx, "customer.remind", [f"customer/{each.customer_id}" for each in debtors])
        return self.desk.show(
            call,
            "billing/remind_debtors.html",
            form=filled,
            debtors=debtors,
            reminded=reminded,
            outcomes=outcomes,
            reminded_today={name for name, at in reminded.items() if uk_date(at) == uk_date(now)},
            names={str(each.customer_id): each.name for each in debtors},
        )
