"""`/account/credit`: the credit limit, what is used of it, and which orders are to be paid."""

from datetime import date

from msgspec import Struct
from starlette.responses import Response

from tradecounter.billing.account_statement import ageing_of
from tradecounter.billing.ageing_chart import ageing_chart
from tradecounter.billing.credit_overview import order_status, read_credit
from tradecounter.billing.queries.invoice_records import overdue_of
from tradecounter.billing.queries.ledger import unallocated_of
from tradecounter.billing.queries.statement import due_before
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import ACCOUNTS
from tradecounter.edge.rest.call import Call
from tradecounter.kit.local_time import uk_date
from tradecounter.parts.account import AccountParts

_MOST_SHOWN = 100


class CreditPages(Struct, frozen=True):
    """The page of the credit."""

    desk: PageDesk
    parts: AccountParts

    @page("/account/credit", "Credit", user_roles=ACCOUNTS)
    async def show_credit(self, call: Call) -> Response:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            account = await fetch_account(tx, call.customer_id)
            credit = await read_credit(tx, account.id)
            overdue = await overdue_of(tx, account.id, now)
            unallocated = await unallocated_of(tx, account.id)
            ageing = ageing_of(await due_before(tx, account.id, now), uk_date(now))
        return self.desk.show(
            call,
            "billing/credit.html",
            account=account,
            credit=credit,
            available=credit.limit - credit.outstanding,
            overdue=overdue,
            unallocated=unallocated,
            debts=[(order_status(debt, now), debt.due_at is not None) for debt in credit.debts.between(0, _MOST_SHOWN)],
            more=max(len(credit.debts) - _MOST_SHOWN, 0),
            day_of=lambda text: date.fromisoformat(text[:10]),
            chart=ageing_chart("Due by age", ageing),
        )
