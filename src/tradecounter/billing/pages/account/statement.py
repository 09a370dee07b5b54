"""`/account/invoice/statement`: what was invoiced, credited and paid between two days."""

from datetime import timedelta
from urllib.parse import urlencode

from msgspec import Struct
from starlette.responses import Response

from tradecounter.billing.account_statement import read_statement
from tradecounter.billing.ageing_chart import ageing_chart
from tradecounter.billing.operations.wire import StatementParameters
from tradecounter.billing.print_statement import KINDS
from tradecounter.billing.statement_files import statement_days, statement_file
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.edge.page_kit.forms import Filled, query_values
from tradecounter.edge.page_kit.tables import PAGE_SIZE
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import ACCOUNTS
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError
from tradecounter.kit.local_time import UK
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.parts.account import AccountParts

_PATH = "/account/invoice/statement"
_MOST_SHOWN = 20 * PAGE_SIZE  # entries on the page; the files have all


class StatementPages(Struct, frozen=True):
    """The statement as a page and as files."""

    desk: PageDesk
    parts: AccountParts

    @page(_PATH, "Statement", user_roles=ACCOUNTS, query=StatementParameters)
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
        address = self.desk.view(call).at(_PATH)
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
            entries=statement.entries[-_MOST_SHOWN:],
            kinds=KINDS,
            days=days,
            months=[(name, f"{address}?{urlencode(span)}") for name, span in spans],
            files=[(name, f"{address}?{urlencode({**days, 'format': name})}") for name in ("csv", "pdf")],
            chart=ageing_chart("Due by age", statement.ageing),
        )
