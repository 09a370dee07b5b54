"""`/customer/{id}/statement`: credit, ageing and statement of a customer, also as files."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.audit.queries import latest_of
from tradecounter.billing.account_statement import (
    KINDS,
    MOST_SHOWN,
    SentStatement,
    StatementPeriod,
    read_statement,
    recent_days,
    send_statement,
    statement_file,
)
from tradecounter.billing.debtors import Reminder, read_reminder, remind_debtor
from tradecounter.billing.rules import AGES
from tradecounter.customers.operations.staff import present_customer
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import file_response, json_response
from tradecounter.kit.clock import day_on_pages, uk_date
from tradecounter.kit.errors import DomainError
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import plural
from tradecounter.notifications.billing_mails import debtor_reminded
from tradecounter.notifications.context import MailContext, MailSettings, NothingToSend
from tradecounter.parts.ageing_chart import ageing_chart
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import ShownCustomer, shown_customer
from tradecounter.settings import SettingsError


class StatementPage(StatementPeriod, frozen=True, kw_only=True):
    """The days of the statement, and its format."""

    format: Literal["html", "json", "csv", "pdf"] = "html"


class Mailing(Struct, frozen=True, kw_only=True):
    """An e-mail that is sent from the list of debtors, whose next row comes then, or from the statement."""

    from_debtors: bool = False

    @property
    def page(self) -> str:
        """The path of the page that is shown then."""
        return "/money" if self.from_debtors else "/customer/{id}/statement"


def _came_from(call: Call, customer: ShownCustomer) -> dict[str, Any]:
    """Return where a question leads back to: to the debtors, if the query says so, or to the statement."""
    if "from_debtors" in query_values(call.raw_query):
        return {"back": "/money", "back_name": "Debtors", "keeps": {"from_debtors": "true"}}
    return {"back": f"{customer.path}/statement", "back_name": "Statement"}


class CustomerStatementPages(Struct, frozen=True):
    """A customer's credit and statement."""

    desk: PageDesk
    parts: OfficeParts

    @page("/customer/{id}/statement", "A customer's credit and statement", scope="billing:read", query=StatementPage)
    async def show_statement(self, call: Call) -> Response:
        filled, wanted = Filled(query_values(call.raw_query)), StatementPage()
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            customer = await present_customer(tx, shown.account, self.desk.clock.now())
            try:
                wanted = call.query(StatementPage)
                statement = await read_statement(tx, shown.id, *recent_days(wanted, now), now)
            except DomainError as error:
                filled = filled.with_error(error)
                wanted = StatementPage()
                statement = await read_statement(tx, shown.id, *recent_days(wanted, now), now)
        if wanted.format == "json":
            return json_response(statement)
        if wanted.format != "html":
            letterhead = self.parts.letterhead
            return file_response(*await statement_file(statement, wanted.format, shown.name, lambda: letterhead, now))
        return self.desk.show(
            call,
            "customers/statement.html",
            form=filled,
            shown=shown,
            customer=customer,
            statement=statement,
            entries=statement.entries[-MOST_SHOWN:],
            kinds=KINDS,
            ageing=[(heading, getattr(statement.ageing, age)) for age, heading in AGES.items()],
            chart=ageing_chart("Due by age", statement.ageing),
        )

    async def _reminder_text(self, tx: Transaction, customer_id: int) -> tuple[str, str] | None:
        """Return the subject and the text of the e-mail; None while none can be sent."""
        try:
            context = MailContext(tx, MailSettings.from_settings(self.parts.settings), self.desk.clock.now())
            mail = await debtor_reminded(context, customer_id=customer_id, asked=0)
        except (NothingToSend, SettingsError):
            return None
        return None if mail is None else mail.as_text

    async def _ask_to_remind(self, tx: Transaction, call: Call, now: datetime) -> Question:
        customer = await shown_customer(tx, call)
        reminder = await read_reminder(tx, customer.id, now)
        letter = await self._reminder_text(tx, customer.id)
        earlier = (await latest_of(tx, "customer.remind", [f"customer/{customer.id}"])).values()
        of_it = (
            f"{in_pounds(reminder.overdue)} of it is overdue" if reminder.overdue else "nothing of it is overdue yet"
        )
        last = [f"The last reminder was sent on {day_on_pages(uk_date(at))}." for at in earlier]
        return Question(
            title=f"Remind {customer.name}",
            text=f"{reminder.recipient} gets an e-mail with {plural(reminder.invoices, 'unpaid invoice')},"
            f" {in_pounds(reminder.due)} in all; {of_it}.",
            detail=last,
            letter=letter,
            button="Send the reminder",
            **_came_from(call, customer),
        )

    @step(
        "/customer/{id}/remind",
        "Remind a customer of unpaid invoices",
        asks=_ask_to_remind,
        to=lambda sent: sent[1],
        done=lambda sent: f"The reminder is sent to {sent[0].recipient}.",
        scope="billing:write",
    )
    async def remind(self, tx: Transaction, call: Call, body: Mailing, now: datetime) -> tuple[Reminder, str]:
        reminder = await remind_debtor(tx, call.path_id("id", "customer"), now)
        return reminder, body.page.format(id=reminder.customer_id)

    async def _ask_to_send(self, tx: Transaction, call: Call) -> Question:
        customer = await shown_customer(tx, call)
        account = await fetch_account(tx, customer.id)
        return Question(
            title=f"Send the statement of {customer.name}",
            text=f"{account.billing_email} gets it by e-mail, as a PDF file of the last twelve months.",
            button="Send the statement",
            **_came_from(call, customer),
        )

    @step(
        "/customer/{id}/statement/send",
        "Send a customer its statement",
        asks=_ask_to_send,
        to=lambda sent: sent[1],
        done=lambda sent: f"The statement is sent to {sent[0].recipient}.",
        scope="billing:write",
    )
    async def send(self, tx: Transaction, call: Call, body: Mailing, now: datetime) -> tuple[SentStatement, str]:
        sent = await send_statement(tx, call.path_id("id", "customer"), now)
        return sent, body.page.format(id=sent.customer_id)
