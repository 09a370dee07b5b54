"""`/api/quote`: quotes of all customers, to which support gives prices."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.kit.wire import made_from
from tradecounter.orders.interface_document import PENDING_ORDER
from tradecounter.orders.operations.staff import CONFIRM_ERRORS, ORDERS_DESCRIBED, SELLERS, check_override
from tradecounter.orders.order_context import OrderingPolicy
from tradecounter.orders.present import created_order
from tradecounter.orders.queries.all_orders import OrderFilter, orders_after
from tradecounter.orders.reseller_wire import Confirmation, ResellerOrder, ResellerShippingOption
from tradecounter.orders.states import State, pricing_of, quote_status
from tradecounter.parts.present_order import OrderPresenter, option_in_utc
from tradecounter.quotes.handle_quotes import confirm_quote, decline_quote
from tradecounter.quotes.price_quote import CostedQuote, fetch_costed_quote, price_quote, with_costs
from tradecounter.quotes.wire import Declination, Margin, QuotedItem, QuotedShipping, QuotePrice, ResellerQuote

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_OPTION = ResellerShippingOption(
    id=101,
    provider="Northway Parcels",
    description="UK mainland next working day",
    cost_net=Decimal("7.04"),
    expected_dispatch_date=_AT.replace(hour=16),
    expected_arrival_date=_AT.replace(day=17),
    total_gross=Decimal("554.93"),
)
_QUOTE = made_from(
    PENDING_ORDER,
    ResellerQuote,
    shipping_method=None,
    shipping_options=[_OPTION],
    status="Priced",
    customer_id=1001,
    created_at=_AT,
    priced_at=_AT,
    expires_at=_AT.replace(day=23),
    note="With our thanks.",
    margin=Margin(Decimal("435.00"), Decimal("360.00"), Decimal("75.00"), Decimal("17.24")),
)
_QUOTE_PRICE = QuotePrice(
    [QuotedItem("CV-320P", Decimal("72.50"))],
    [QuotedShipping(101, Decimal("0.00"))],
    "With our thanks.",
)
_DESCRIBED: Mapping[type, Described] = {
    ResellerQuote: Described("The quote.", _QUOTE, "Quote"),
    QuotePrice: Described("", _QUOTE_PRICE),
    Declination: Described("", Declination("The product is no longer made.")),
}
QUOTES = Subject(tag="Quotes", read="quotes:read", write="quotes:write", described={**ORDERS_DESCRIBED, **_DESCRIBED})
ONE_QUOTE = "/api/quote/{code}"

QuoteCode = Annotated[
    str,
    InPath("code", "The quote's confirmation code.", "657cdc3344bb2a3356c0c53b05b216f8", "quote", in_lower_case=True),
]


class QuoteListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/quote`."""

    state: Annotated[State | None, Meta(description="Only quotes in this state.")] = None
    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's quotes.")] | None = None


class QuoteOperations(Struct, frozen=True):
    """The endpoints of quotes. `secret` returns the installation's secret key."""

    desk: Desk
    orders: OrderPresenter
    policy: OrderingPolicy
    secret: Callable[[], str]

    @QUOTES.lists("/api/quote", "The quotes.")
    async def list_quotes(self, tx: Transaction, now: datetime, query: QuoteListParameters) -> ListPage[ResellerQuote]:
        """Quotes of all customers."""
        order_filter = OrderFilter(
            customer_id=query.customer_id, state=query.state, kind="quote", changed_since=query.since
        )
        quotes = await orders_after(tx, order_filter, query.after, query.limit + 1)
        return ListPage(quotes, (_present(quote, now) for quote in await with_costs(tx, quotes)))

    @QUOTES.shows(ONE_QUOTE)
    async def get_quote(self, tx: Transaction, now: datetime, code: QuoteCode) -> ResellerQuote:
        """One quote."""
        return _present(await fetch_costed_quote(tx, code), now)

    @QUOTES.changes("POST", f"{ONE_QUOTE}/price", dry_run=True)
    async def price_quote(self, tx: Transaction, now: datetime, code: QuoteCode, body: QuotePrice) -> ResellerQuote:
        """Set or change a quote's prices.

        The customer gets an e-mail, and can confirm the quote until it expires.
        """
        await price_quote(tx, code, body, now, self.policy.quote_lifetime, self.secret())
        return _present(await fetch_costed_quote(tx, code), now)

    @QUOTES.changes("POST", f"{ONE_QUOTE}/decline")
    async def decline_quote(self, tx: Transaction, now: datetime, code: QuoteCode, body: Declination) -> ResellerQuote:
        """Decline a quote.

        The customer gets an e-mail with the reason.
        """
        await decline_quote(tx, code, body.reason, now)
        return _present(await fetch_costed_quote(tx, code), now)

    @QUOTES.changes("POST", f"{ONE_QUOTE}/confirm", errors=CONFIRM_ERRORS, roles=SELLERS)
    async def confirm_quote(
        self, tx: Transaction, now: datetime, call: Call, code: QuoteCode, body: Confirmation
    ) -> ResellerOrder:
        """Confirm a priced quote for its customer.

        It becomes an order. A confirmed quote stays as it is. `override_credit` needs the scope `billing:write` too.
        """
        check_override(call, body.override_credit)
        return await self.orders.one(tx, await confirm_quote(tx, code, body, self.policy, now), now)


def code_of(call: Call) -> str:
    """Return the confirmation code in a path."""
    return call.path_text("code", "quote").lower()


def _present(costed: CostedQuote, now: datetime) -> ResellerQuote:
    quote, pricing = costed.quote, pricing_of(costed.quote)
    options = {option.id: option_in_utc(quote, option) for option in quote.shipping_options}
    chosen = None if quote.shipping_method is None else options[quote.shipping_method]
    return made_from(
        created_order(quote, costed.lines),
        ResellerQuote,
        shipping_method=chosen,
        shipping_options=list(options.values()),
        status=quote_status(quote, now),
        customer_id=quote.customer_id,
        created_at=quote.created_at,
        priced_at=None if pricing is None else pricing.priced_at,
        expires_at=None if pricing is None else pricing.expires_at,
        note=None if pricing is None else pricing.quote_note,
        margin=costed.margin,
    )
