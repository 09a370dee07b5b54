"""`/statement/{id}`: a customer's statement with what is due by age, as a page, CSV or PDF."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.backoffice.billing import attachment
from tradecounter.billing.account_statement import AccountStatement, read_statement, statement_csv
from tradecounter.billing.print_statement import AGES, KINDS, print_statement
from tradecounter.customers.queries.accounts import the_account
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.page_kit.forms import Filled, Submitted, query_values
from tradecounter.pages.backoffice.ageing import ageing_chart
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.listing import day_of
from tradecounter.pages.operation import page
from tradecounter.pages.page_desk import PageDesk
from tradecounter.rest.call import Call
from tradecounter.rest.statuses import STATUS

_PATHS = {"invoice": "/invoice/", "credit_note": "/credit-note/"}  # the others are payments


class StatementQuery(Struct, frozen=True, kw_only=True, rename={"since": "from", "until": "to"}):
    """The days of a statement, both included."""

    since: str | None = None
    until: str | None = None
    format: Literal["html", "csv", "pdf"] = "html"


@dataclass(frozen=True, slots=True)
class StatementPages:
    """Statements."""

    desk: PageDesk
    parts: OfficeParts

    @page("/statement/{id}", "A customer's statement", scope="billing:read", query=StatementQuery)
    async def show_statement(self, call: Call) -> Response:
        customer_id, now = call.path_id("id", "customer"), self.desk.clock.now()
        filled, wanted, found = Filled(query_values(call.raw_query)), StatementQuery(), None
        async with self.desk.reading() as tx:
            account = await the_account(tx, customer_id)
            try:
                wanted = call.query(StatementQuery)
                since, until = day_of("from", wanted.since), day_of("to", wanted.until)
                found = await read_statement(tx, customer_id, since, until, now)
            except DomainError as error:
                if error.kind is not Kind.INVALID:
                    raise
                filled = Filled.of(Submitted(filled.values), error, STATUS[error.kind])
        if found is not None and wanted.format != "html":
            return await self._file(found, account.name, wanted.format)
        return self.desk.show(
            call,
            "money/statement.html",
            form=filled,
            account=account,
            statement=found,
            chart=None if found is None else ageing_chart(f"Due by age on {found.until:%-d %B %Y}", found.ageing),
            ages=AGES,
            kinds=KINDS,
            path_of=lambda entry: f"{_PATHS.get(entry.kind, '/payment/')}{entry.number}",
        )

    async def _file(self, found: AccountStatement, name: str, media: Literal["csv", "pdf"]) -> Response:
        file = f"statement-{found.customer_id}-{found.until}.{media}"
        if media == "csv":
            return attachment(statement_csv(found).encode(), file, "text/csv")
        now = self.desk.clock.now()
        pdf = await asyncio.to_thread(print_statement, found, name, self.parts.letterhead, now)
        return attachment(pdf, file, "application/pdf")
