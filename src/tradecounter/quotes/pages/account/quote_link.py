"""`/account/quote-link/{secret}`: a priced quote, for the recipient of its e-mail, who needs no user.

Opening the page accepts nothing, since programs that scan e-mails open links. Only the form does. Its recipient may be
a user with a limit for one order, so a quote above the least limit of the customer's users is accepted in the account.
"""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.approvals.queries import least_limit
from tradecounter.approvals.rules import needs_approval, require_no_approval
from tradecounter.customers.address_rules import address_lines
from tradecounter.db.transaction import transaction
from tradecounter.edge.page_kit.forms import Filled, parse_form, read_submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import TEXT, Parameter
from tradecounter.edge.rest.responses import STATUS
from tradecounter.identity.admission import sender_of
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import in_pounds
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import PricedQuote
from tradecounter.parts.account import AccountParts
from tradecounter.quotes.pages.account.quotes import AcceptForm
from tradecounter.quotes.quote_links import accept_by_link, link_actor, quote_by_link

_PATH, _ACCEPTED = "/account/quote-link/{secret}", "/account/quote-link"
_SECRET = (Parameter("secret", "The secret of the link.", TEXT, "0" * 64),)
_FOR_THE_FORM = {Kind.INVALID, Kind.PAYMENT_REQUIRED, Kind.PRECONDITION_FAILED}  # the link is still good


class QuoteLinkPages(Struct, frozen=True):
    """The pages of one-time links, which are open to people who have not signed in."""

    desk: PageDesk
    parts: AccountParts

    @page(_PATH, "Your quote", path_parameters=_SECRET, signed_out=True)
    async def show_quote(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @form(_PATH, "Accept your quote", path_parameters=_SECRET, signed_out=True)
    async def accept(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        try:
            method = parse_form(submitted, AcceptForm).shipping_method
            actor, now = link_actor(sender_of(call.request.scope).address), self.desk.clock.now()
            async with transaction(self.desk.database, actor) as tx:
                order = await accept_by_link(tx, _secret(call), method, self.parts.contexts.policy, now)
                require_no_approval((), await least_limit(tx, order.customer_id), order.gross)
        except DomainError as error:
            if error.kind not in _FOR_THE_FORM:
                raise
            return await self._show(call, Filled.of(submitted, error, STATUS[error.kind]))
        return self.desk.go(call, _ACCEPTED, f"You have accepted the quote. It is now order {order.order_reference}.")

    @page(_ACCEPTED, "Your quote is accepted", signed_out=True)
    async def show_accepted(self, call: Call) -> Response:
        return self.desk.show(call, "quotes/accepted.html")

    async def _show(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            offered = await quote_by_link(tx, _secret(call), self.desk.clock.now())
            limit = await least_limit(tx, offered.account.id)
        quote = offered.quote
        return self.desk.show(
            call,
            "quotes/linked_quote.html",
            form=filled,
            path=f"{_ACCEPTED}/{_secret(call)}",
            offered=offered,
            needs_user=needs_approval((), limit, quote.least_gross),
            quote=quote,
            delivery=address_lines(quote.shipping_address),
            options=[(option.id, _in_words(quote, option)) for option in quote.shipping_options],
            chosen=quote.shipping_method or offered.account.shipping_method,
        )


def _in_words(quote: PricedQuote, option: ShippingOption) -> str:
    return f"{option.name}, {in_pounds(option.cost_net)}: {in_pounds(quote.gross_with(option))} in total with VAT"


def _secret(call: Call) -> str:
    return call.path_text("secret", "link")
