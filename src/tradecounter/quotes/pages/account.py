"""`/account/quote`: the customer's quotes; `/account/quote-link`: one of them, without a user."""

from datetime import datetime
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.approvals.queries import find_approval, least_limit
from tradecounter.approvals.rules import needs_approval, require_no_approval
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import parse_form
from tradecounter.edge.page_kit.submitted_forms import read_submitted
from tradecounter.edge.page_kit.tables import (
    Cells,
    Column,
    Sort,
    Table,
    TableParameters,
    csv_of,
    cursor_text,
    read_cursor,
)
from tradecounter.edge.pages.operation import BUYER, form, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import action, step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import TEXT, Parameter
from tradecounter.edge.rest.responses import STATUS
from tradecounter.identity.admission import sender_of
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING, in_pounds
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.guards import ConfirmationGuards
from tradecounter.orders.offers import chosen_option, dated_now
from tradecounter.orders.queries.orders import lines_of_order
from tradecounter.orders.rules import QUOTE_PRICED, QUOTE_WAITING
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import (
    AnyOrder,
    ConfirmedOrder,
    NumberedOrder,
    PricedQuote,
    pricing_of,
    quote_status,
)
from tradecounter.parts.account import AccountParts
from tradecounter.quotes.handle_quotes import decline_own_quote
from tradecounter.quotes.queries import fetch_own_quote, open_quotes, own_quotes
from tradecounter.quotes.quote_links import accept_by_link, link_actor, quote_by_link
from tradecounter.quotes.wire import DeclineQuoteRequest

_QUOTES = "/account/quote"
_QUOTE, _DECLINE = f"{_QUOTES}/{{code}}", f"{_QUOTES}/{{code}}/decline"
_QUOTE_COLUMNS = (
    Column("Your reference"),
    Column("Requested"),
    Column("State"),
    Column("The price holds until"),
    Column("Total", numeric=True),
)
_MOST_OPEN = 20
_QUOTE_CELLS: Cells = {
    "confirmation_code": "quote.confirmation_code",
    "customer_reference": "quote.customer_reference",
    "requested_at": "quote.created_at",
    "status": "status",
    "expires_at": "expires_at",
    "gross": "quote.cost_gross",
}


class AcceptForm(Struct):
    """The shipping option, by default the quote's own or the account's; and which of its prices the page has shown."""

    shipping_method: int | None = None
    pricing: int | None = None


class OwnQuoteRow(Struct, frozen=True):
    """A quote in the list."""

    quote: AnyOrder
    status: str
    expires_at: datetime | None


class OwnQuotePages(Struct, frozen=True):
    """The pages of quotes."""

    desk: PageDesk
    parts: AccountParts

    @page(_QUOTES, "Quotes", user_roles=BUYER, query=TableParameters)
    async def list_quotes(self, call: Call) -> Response:
        wanted, now = call.query(TableParameters), self.desk.clock.now()
        after = read_cursor(wanted.after, int)
        async with self.desk.reading() as tx:
            quotes = await own_quotes(tx, call.customer_id, wanted.most, None if after is None else after[1])
            open_ones = await open_quotes(tx, call.customer_id, _MOST_OPEN) if after is None else []
        rows = [_quote_row(quote, now) for quote in quotes]
        if wanted.is_file:
            return csv_of("quotes", _QUOTE_CELLS, rows)
        address = self.desk.view(call).at(_QUOTES)
        sort = Sort("requested", descending=True)
        table = Table.of(call, address, _QUOTE_COLUMNS, rows, sort, lambda row: cursor_text(0, row.quote.id))
        to_decide = [row for each in open_ones if (row := _quote_row(each, now)).status == QUOTE_PRICED]
        return self.desk.show(call, "quotes/list.html", table=table, to_decide=to_decide)

    async def _quote(self, call: Call, now: datetime) -> dict[str, Any]:
        async with self.desk.reading() as tx:
            quote = await fetch_own_quote(tx, call.customer_id, _code(call))
            lines = await lines_of_order(tx, quote.id)
            account = await fetch_account(tx, call.customer_id)
            approval = await find_approval(tx, call.customer_id, quote.confirmation_code, now)
            room = await fetch_credit_room(tx, call.customer_id)
        quote = await dated_now(quote, lines, self.parts.views, now)
        row, pricing, user = _quote_row(quote, now), pricing_of(quote), user_of(call)
        return {
            "quote": quote,
            "state": row.status,
            "expires_at": row.expires_at,
            "note": None if pricing is None else pricing.quote_note,
            "order": quote if isinstance(quote, NumberedOrder) else None,
            "is_priced": row.status == QUOTE_PRICED,
            "is_open": row.status in {QUOTE_WAITING, QUOTE_PRICED},
            "lines": lines,
            "approval": approval,
            "limit": user.order_limit if needs_approval(user.roles, user.order_limit, quote.least_gross) else None,
            "saved": sum(((line.cost_at_request - line.unit_cost) * line.quantity for line in lines), NOTHING),
            "chosen": chosen_option(quote, account.shipping_method),
            "room": room,
        }

    @page(_QUOTE, "One quote", user_roles=BUYER)
    async def show_quote(self, call: Call, filled: Filled) -> Response:
        return self.desk.show(call, "quotes/quote.html", form=filled, **await self._quote(call, self.desk.clock.now()))

    @action(
        _QUOTE,
        "Accept a quote",
        shown=show_quote,
        to=lambda order: f"/account/order/{order.order_reference}",
        done=lambda order: f"You have accepted the quote. It is order {order.order_reference}.",
        user_roles=BUYER,
    )
    async def accept(self, tx: Transaction, call: Call, body: AcceptForm, now: datetime) -> ConfirmedOrder:
        user, quote = user_of(call), await fetch_own_quote(tx, call.customer_id, _code(call))
        order, _ = await confirm_order(
            tx,
            call.customer_id,
            quote.confirmation_code,
            body.shipping_method,
            self.parts.contexts.policy,
            now,
            guards=ConfirmationGuards(pricing=body.pricing),
        )
        if not isinstance(quote, NumberedOrder):
            require_no_approval(user.roles, user.order_limit, order.gross)
        return order

    @step(
        _DECLINE,
        "Decline a quote",
        template="quotes/decline.html",
        values=_quote,
        to=_QUOTES,
        done="The quote is declined.",
        user_roles=BUYER,
    )
    async def decline(self, tx: Transaction, call: Call, body: DeclineQuoteRequest, now: datetime) -> None:
        await decline_own_quote(tx, call.customer_id, _code(call), body.reason, now)


def _quote_row(quote: AnyOrder, now: datetime) -> OwnQuoteRow:
    return OwnQuoteRow(quote, quote_status(quote, now), quote.expires_at if isinstance(quote, PricedQuote) else None)


def _code(call: Call) -> str:
    return call.path_text("code", "quote")


_LINK, _ACCEPTED = "/account/quote-link/{secret}", "/account/quote-link"
_LINK_PARAMETER = (Parameter("secret", "The secret of the link.", TEXT, "0" * 64),)
_FOR_THE_FORM = {Kind.INVALID, Kind.PAYMENT_REQUIRED, Kind.PRECONDITION_FAILED}  # the link is still good


class QuoteLinkPages(Struct, frozen=True):
    """The pages of one-time links, which are open to people who have not signed in.

    Opening the page accepts nothing, since programs that scan e-mails open links. Only the form does. Its recipient may
    be a user with a limit for one order, so a quote above the least limit of the customer's users is accepted in the
    account.
    """

    desk: PageDesk
    parts: AccountParts

    @page(_LINK, "Your quote", path_parameters=_LINK_PARAMETER, signed_out=True)
    async def show_quote(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            offered = await quote_by_link(tx, _secret_of(call), self.desk.clock.now())
            limit = await least_limit(tx, offered.account.id)
        quote = offered.quote
        return self.desk.show(
            call,
            "quotes/linked_quote.html",
            form=filled,
            path=f"{_ACCEPTED}/{_secret_of(call)}",
            offered=offered,
            needs_user=needs_approval((), limit, quote.least_gross),
            quote=quote,
            delivery=address_lines(quote.shipping_address),
            options=[(option.id, _in_words(quote, option)) for option in quote.shipping_options],
            chosen=quote.shipping_method or offered.account.shipping_method,
        )

    @form(_LINK, "Accept your quote", path_parameters=_LINK_PARAMETER, signed_out=True)
    async def accept(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        try:
            method = parse_form(submitted, AcceptForm).shipping_method
            actor, now = link_actor(sender_of(call.request.scope).address), self.desk.clock.now()
            async with transaction(self.desk.database, actor) as tx:
                order = await accept_by_link(tx, _secret_of(call), method, self.parts.contexts.policy, now)
                require_no_approval((), await least_limit(tx, order.customer_id), order.gross)
        except DomainError as error:
            if error.kind not in _FOR_THE_FORM:
                raise
            return await self.show_quote(call, Filled.of(submitted, error, STATUS[error.kind]))
        return self.desk.go(call, _ACCEPTED, f"You have accepted the quote. It is now order {order.order_reference}.")

    @page(_ACCEPTED, "Your quote is accepted", signed_out=True)
    async def show_accepted(self, call: Call) -> Response:
        return self.desk.show(call, "quotes/accepted.html")


def _in_words(quote: PricedQuote, option: ShippingOption) -> str:
    return f"{option.name}, {in_pounds(option.cost_net)}: {in_pounds(quote.gross_with(option))} in total with VAT"


def _secret_of(call: Call) -> str:
    return call.path_text("secret", "link")
