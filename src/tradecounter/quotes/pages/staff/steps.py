"""Forms of a quote: decline it, or confirm it for the customer."""

from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.credit.queries import fetch_credit_room
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.offers import chosen_option, dated_now
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.orders.operations.steps import ConfirmForm, confirmation
from tradecounter.orders.states import AnyOrder, PricedQuote
from tradecounter.parts.back_office import OfficeParts
from tradecounter.quotes.handle_quotes import confirm_quote, decline_quote
from tradecounter.quotes.operations.staff import code_of
from tradecounter.quotes.pages.staff.one_quote import quote_sheet
from tradecounter.quotes.wire import Declination


class ConfirmQuoteForm(ConfirmForm):
    """How a quote is sent as an order, and which of its prices the page has shown."""

    pricing: int | None = None


class QuoteStepPages(Struct, frozen=True):
    """The forms that end a quote."""

    desk: PageDesk
    parts: OfficeParts

    async def _sheet(self, call: Call, filled: Filled, now: datetime) -> dict[str, Any]:
        async with self.desk.reading() as tx:
            sheet = await quote_sheet(tx, code_of(call), now)
            room = await fetch_credit_room(tx, sheet.account.id)
        if not sheet.is_open and not filled.message:
            raise DomainError(Kind.CONFLICT, f"the quote is {sheet.status.lower()}")
        lines = [shown.line for shown in sheet.lines]
        return {
            "sheet": replace(sheet, quote=await dated_now(sheet.quote, lines, self.parts.views, now)),
            "room": room,
            "chosen": chosen_option(sheet.quote, sheet.account.shipping_method),
            "is_priced": isinstance(sheet.quote, PricedQuote),
        }

    @step(
        "/quote/{code}/decline",
        "Decline a quote",
        template="quotes/decline.html",
        values=_sheet,
        to="/quote",
        done="The quote is declined. The customer gets the reason by e-mail.",
        scope="quotes:write",
    )
    async def decline(self, tx: Transaction, call: Call, body: Declination, now: datetime) -> None:
        await decline_quote(tx, code_of(call), body.reason, now)

    @step(
        "/quote/{code}/confirm",
        "Confirm a quote",
        template="quotes/confirm.html",
        values=_sheet,
        to=lambda order: f"/order/{order.name}",
        done=lambda order: f"The quote is now order {order.name}. The customer gets an e-mail.",
        scope="quotes:write",
        roles=SELLERS,
    )
    async def confirm(self, tx: Transaction, call: Call, body: ConfirmQuoteForm, now: datetime) -> AnyOrder:
        request, policy = confirmation(call, body), self.parts.contexts.policy
        return await confirm_quote(tx, code_of(call), request, policy, now, pricing=body.pricing)
