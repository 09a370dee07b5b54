"""The customer's statement, and its credit limit."""

from datetime import date, timedelta
from urllib.parse import urlencode

from msgspec import Struct
from starlette.responses import Response

from tradecounter.billing.account_statement import KINDS, ageing_chart, ageing_of, read_statement
from tradecounter.billing.credit_overview import order_status, read_credit
from tradecounter.billing.operations.wire import StatementParameters
from tradecounter.billing.queries.invoice_records import overdue_of
from tradecounter.billing.queries.ledger import unallocated_of
from tradecounter.billing.queries.statements import due_before
from tradecounter.billing.statement_files import statement_days, statement_file
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.page_kit.tables import PAGE_SIZE
from tradecounter.edge.pages.operation import ACCOUNTS, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.clock import UK, uk_date
from tradecounter.kit.errors import DomainError
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.parts.account import AccountParts

_STATEMENT = "/account/invoice/statement"
_MOST_ENTRIES = 20 * PAGE_SIZE  # entries on the page; the files have all


class StatementPages(Struct, frozen=True):
    """The statement as a page and as files."""

    desk: PageDesk
    parts: AccountParts

    @page(_STATEMENT, "Statement", user_roles=ACCOUNTS, query=StatementParameters)
    async def show_statement(self, call: Call) -> Response:
        values = {name: found for name, found in query_values(call.raw_query).items() if any(found)}
        filled, wanted, now = Filled(values), StatementParameters(), self.desk.clock.now()
        async with self.desk.reading() as tx:
            account = await fetch_account(tx, call.customer_id)
            try:
                wanted = call.query(StatementParameters)
                statement = await read_statement(tx, account.id, *statement_days(wanted), now)
            except DomainError as error:
                filled = filled.with_error(error)
                statement = await read_statement(tx, account.id, None, None, now)
        if wanted.format != "json" and not filled.errors:
            settings = self.parts.settings
            return await statement_file(statement, wanted.format, account.name, lambda: letterhead_from(settings), now)
        days = {"from": statement.since.isoformat(), "to": statement.until.isoformat()}
        address = self.desk.view(call).at(_STATEMENT)
        this_month = now.astimezone(UK).date().replace(day=1)
        last_day = this_month - timedelta(days=1)
        spans = (
            ("This month", {"from": this_month.isoformat()}),
            ("Last month", {"from": last_day.replace(day=1).isoformat(), "to": last_day.isoformat()}),
        )
        return self.desk.show(
            call,
            "billing/statement.html",
            form=filled,
            statement=statement,
            entries=statement.entries[-_MOST_ENTRIES:],
            kinds=KINDS,
            days=days,
            months=[(name, f"{address}?{urlencode(span)}") for name, span in spans],
            files=[(name, f"{address}?{urlencode({**days, 'format': name})}") for name in ("csv", "pdf")],
            chart=ageing_chart("Due by age", statement.ageing),
        )


_MOST_UNPAID = 100


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
            debts=[
                (order_status(debt, now), debt.due_at is not None) for debt in credit.debts.between(0, _MOST_UNPAID)
            ],
            more=max(len(credit.debts) - _MOST_UNPAID, 0),
            day_of=lambda text: date.fromisoformat(text[:10]),
            chart=ageing_chart("Due by age", ageing),
        )
