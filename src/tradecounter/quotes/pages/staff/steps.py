"""Forms of a quote: decline it, or confirm it for the customer."""

from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.customers.operations.staff import present_customer
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.confirm_form import ConfirmForm, confirmation
from tradecounter.orders.operations.sales import SELLERS, confirm_quoted
from tradecounter.orders.requests import Declination
from tradecounter.orders.shipping_options import find_option
from tradecounter.orders.states import AnyOrder, PricedQuote
from tradecounter.parts.back_office import OfficeParts
from tradecounter.quotes.decline_quote import decline_quote
from tradecounter.quotes.operations.staff import code_of
from tradecounter.quotes.pages.staff.sheet import quote_sheet


@dataclass(frozen=True, slots=True)
class QuoteStepPages:
    """The forms that end a quote."""

    desk: PageDesk
    parts: OfficeParts

    @step(
        "/quote/{code}/decline",
        "Decline a quote",
        shown=lambda self, call, filled: self._show(call, "quotes/decline.html", filled),
        to="/quote",
        done="The quote is declined. The customer gets the reason by e-mail.",
        scope="quotes:write",
    )
    async def decline(self, tx: Transaction, call: Call, body: Declination, now: datetime) -> None:
        await decline_quote(tx, code_of(call), body.reason, now)

    @step(
        "/quote/{code}/confirm",
        "Confirm a quote",
        shown=lambda self, call, filled: self._show(call, "quotes/confirm.html", filled),
        to=lambda order: f"/order/{order.name}",
        done=lambda order: f"The quote is now order {order.name}. The customer gets an e-mail.",
        scope="quotes:write",
        roles=SELLERS,
    )
    async def confirm(self, tx: Transaction, call: Call, body: ConfirmForm, now: datetime) -> AnyOrder:
        return await confirm_quoted(tx, code_of(call), confirmation(call, body), self.parts.contexts, now)

    async def _show(self, call: Call, template: str, filled: Filled) -> Response:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            sheet = await quote_sheet(tx, code_of(call), now)
            customer = await present_customer(tx, sheet.account, now)
        if not sheet.is_open and not filled.message:
            raise DomainError(Kind.CONFLICT, f"the quote is {sheet.status.lower()}")
        wanted = (sheet.quote.shipping_method, sheet.account.shipping_method)
        method = next((each for each in wanted if find_option(sheet.options, each)), None)
        if method is None and sheet.cheapest is not None:
            method = sheet.cheapest.id
        return self.desk.show(
            call,
            template,
            form=filled,
            sheet=sheet,
            customer=customer,
            method=method,
            is_priced=isinstance(sheet.quote, PricedQuote),
        )
