"""The tools that price, confirm and read orders, and that ask for quotes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.json import decode
from msgspec.structs import asdict

from tradecounter.agents.consents import lock_agent
from tradecounter.agents.operations.approvals import Confirmation, Shown, held_back
from tradecounter.agents.operations.tools import Caller, tool
from tradecounter.agents.queries import insert_agent_order
from tradecounter.approvals.queries import find_approval
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.wire import AddressDetails
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.rest.paging import Page
from tradecounter.kit.clock import Clock, local_text, uk_date
from tradecounter.kit.errors import Code, DomainError, FieldError, Kind
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import Id, PoundsToCompare
from tradecounter.kit.wire import Amount, LocalDateTime, made_from
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.interface_document import FoundOrder
from tradecounter.orders.lines import products_of
from tradecounter.orders.operations.order_lists import OrderListParameters, order_list_filter
from tradecounter.orders.operations.public import OrderCreation
from tradecounter.orders.present import created_order, order_on_the_wire, pending_order
from tradecounter.orders.queries.order_lists import list_orders, listed_orders
from tradecounter.orders.queries.orders import (
    fetch_own_order_by_code,
    fetch_readable_order,
    lines_of,
    lines_of_order,
    pipe_by_code,
    pipe_lock_unconfirmed,
)
from tradecounter.orders.shipping_options import choose_shipping, find_option
from tradecounter.orders.states import NumberedOrder, PendingOrder, PricedQuote
from tradecounter.orders.wire import (
    AllowBackOrders,
    CreatedOrder,
    CreatedOrderItem,
    CreateOrderShipping,
    MaxCostGross,
    Order,
    OrderAddressDetails,
    OrderDetails,
)
from tradecounter.products.wire import Product
from tradecounter.shipments.queries.fulfilment import OrderFulfilment
from tradecounter.storefront.storefront import RefreshableViews

_ADDRESSES = (OrderAddressDetails, AddressDetails)
_MOST = 50
_MOST_LINES = 100_000  # more than so many orders have


class PriceOrder(OrderDetails, omit_defaults=True):
    """An order to price."""

    max_cost_gross: MaxCostGross = None
    allow_back_orders: AllowBackOrders = None


class RequestQuote(OrderDetails, omit_defaults=True):
    """What a quote is asked for."""


class PricedOrder(Struct, kw_only=True):
    """A pending order: nothing is bought until it is confirmed."""

    confirmation_code: Annotated[str, Meta(description="The code to confirm the order by.")]
    total: Annotated[
        Amount | UnsetType,
        Meta(description="The order with `shipping_method`, VAT included; absent: choose one of the options."),
    ] = UNSET
    shipping_method: Annotated[int | UnsetType, Meta(description="The method that `total` includes.")] = UNSET
    items: Annotated[list[CreatedOrderItem], Meta(description="The priced lines.")]
    shipping_options: Annotated[
        list[CreateOrderShipping], Meta(description="The methods; `total_gross` is the order with it, VAT included.")
    ]
    cost_net: Annotated[Amount, Meta(description="The items, without VAT and shipping.")]
    cost_tax: Annotated[Amount, Meta(description="VAT of the items.")]
    cost_gross: Annotated[Amount, Meta(description="The items with VAT, without shipping.")]
    expires_on: Annotated[LocalDateTime, Meta(description="Until when it can be confirmed at this price.")]


class ConfirmOrder(Struct):
    """What was shown to the person who decides."""

    confirmation_code: Annotated[
        str, Meta(min_length=1, max_length=100, description="From `price_order`, or a quote's.")
    ]
    shipping_method: Annotated[Id, Meta(description="The id of one of the `shipping_options`.")]
    total: Annotated[PoundsToCompare, Meta(description="The `total`, or the method's `total_gross`, as it was shown.")]


class ListOrders(Struct):
    """Which orders; they match all that is given."""

    status: Annotated[Annotated[str, Meta(max_length=100)] | None, Meta(description="Such as `Completed`.")] = None
    customer_reference: Annotated[
        Annotated[str, Meta(max_length=100)] | None, Meta(description="The customer's own reference.")
    ] = None
    sku: Annotated[Annotated[str, Meta(max_length=100)] | None, Meta(description="Orders with this product.")] = None
    created_from: Annotated[LocalDateTime | None, Meta(description="Created then or later.")] = None
    created_to: Annotated[LocalDateTime | None, Meta(description="Created then or earlier.")] = None
    page: Annotated[int, Meta(ge=1, le=100_000, description="The page, from 1 on.")] = 1
    limit: Annotated[int, Meta(ge=1, le=_MOST, description=f"Orders per page, at most {_MOST}.")] = 10


class FoundOrders(Struct):
    """Orders, the latest confirmed first."""

    total: Annotated[int, Meta(description="How many orders match.")]
    orders: Annotated[list[Order], Meta(description="The orders of the page.")]


class GetOrder(Struct):
    """An order by any of its names."""

    reference: Annotated[
        str,
        Meta(min_length=1, max_length=100, description="The order reference, the order id or the confirmation code."),
    ]


class OrderTools(Struct, frozen=True):
    """The tools of orders and quotes."""

    database: Database
    views: RefreshableViews
    creation: OrderCreation
    fulfilment: OrderFulfilment
    clock: Clock

    @tool("Price an order", "order", changes=True, takes=PriceOrder, referenced=_ADDRESSES)
    async def price_order(self, caller: Caller, request: bytes) -> PricedOrder:
        """Price an order and hold it as pending. Nothing is bought: show the person the lines and the total first.

        Then call `confirm_order` with the `confirmation_code`, the shipping method and the total that was shown.
        An address is a full one, or only the `id` of a saved one (`get_account`).
        """
        created = decode(
            await self.creation.create(caller.customer_id, caller.actor, request, "order"), type=CreatedOrder
        )
        async with reading(self.database) as tx:
            order = await fetch_own_order_by_code(tx, caller.customer_id, created.confirmation_code)
            account = await fetch_account(tx, caller.customer_id)
        if not isinstance(order, PendingOrder):
            raise TypeError("a new order is pending")
        option = choose_shipping(order.shipping_options, order.shipping_method, account.shipping_method)
        return made_from(
            created,
            PricedOrder,
            total=UNSET if option is None else order.gross_with(option),
            shipping_method=UNSET if option is None else option.id,
            expires_on=local_text(order.expires_at),
        )

    @tool("Confirm an order", "order", changes=True, destructive=True, idempotent=True, referenced=_ADDRESSES)
    async def confirm_order(self, caller: Caller, request: ConfirmOrder) -> Confirmation:
        """Buy a pending order or a priced quote. This is binding: only do so when the person has agreed to the total.

        The total must be the one that was shown, else nothing is bought (`price_changed`). Above a limit of yours,
        people of the customer have to approve the order first (`approval_needed`). Calling it again says how it went,
        and returns the same order.
        """
        customer, code = caller.customer_id, request.confirmation_code.strip().lower()
        policy, now, agent = self.creation.contexts.policy, self.clock.now(), caller.agent
        method: int | None = request.shipping_method
        async with transaction(self.database, caller.actor) as tx:
            consent = None if agent is None else await lock_agent(tx, agent, now)
            shown = await _require_shown_total(tx, customer, code, request, now)
            if agent is not None and consent is not None:
                approval = await find_approval(tx, customer, code, now)
                held = await held_back(tx, agent, consent, approval, code, shown, now)
                if held is not None:
                    return held
                if approval is not None:
                    code, method = approval.code, None  # as people have confirmed it
            order, lines = await confirm_order(tx, customer, code, method, policy, now)
            if agent is not None and shown is not None:
                await insert_agent_order(tx, agent, order.id, uk_date(now), order.gross)
        total = f"{in_pounds(order.gross)} with VAT and shipping"
        message = f"the order over {total} is confirmed as {order.order_reference}"
        return Confirmation("confirmed", message, created_order(order, lines))

    @tool("List orders", "read", "order", referenced=(Product,))
    async def list_orders(self, caller: Caller, request: ListOrders) -> FoundOrders:
        """List the customer's confirmed orders, open and completed, newest first."""
        given = asdict(request)
        page = Page(given.pop("page"), given.pop("limit"))
        wanted = order_list_filter(OrderListParameters(**given))
        start = (page.number - 1) * page.limit
        async with reading(self.database) as tx:
            total, numbers = await list_orders(tx, caller.customer_id, wanted, start, start + page.limit)
            orders = await listed_orders(tx, caller.customer_id, numbers.tolist(), _MOST_LINES) if len(numbers) else []
            return FoundOrders(total, await self._shown(tx, caller.customer_id, orders))

    @tool("Get an order", "read", "order", gives=FoundOrder, referenced=(Product,))
    async def get_order(self, caller: Caller, request: GetOrder) -> Any:
        """Read an order with its lines, parcels and tracking; a pending one by its confirmation code."""
        async with reading(self.database) as tx:
            order = await fetch_readable_order(tx, caller.customer_id, request.reference)
            if not isinstance(order, NumberedOrder):
                return pending_order(order, await lines_of_order(tx, order.id), self.clock.now())
            [shown] = await self._shown(tx, caller.customer_id, [order])
            return shown

    @tool("Ask for a quote", "order", changes=True, takes=RequestQuote, gives=CreatedOrder, referenced=_ADDRESSES)
    async def request_quote(self, caller: Caller, request: bytes) -> bytes:
        """Ask support for a special price. Support answers by e-mail; `confirm_order` then buys at the quoted price."""
        return await self.creation.create(caller.customer_id, caller.actor, request, "quote")

    async def _shown(self, tx: Transaction, customer_id: int, orders: Sequence[NumberedOrder]) -> list[Any]:
        ids = [order.id for order in orders]
        lines, fulfilled = await lines_of(tx, ids), await self.fulfilment.of_orders(tx, ids)
        products = [product for id_ in ids for product in products_of(lines[id_])]
        view, now = await self.views.showing(customer_id, products), self.clock.now()
        return [order_on_the_wire(order, lines[order.id], fulfilled[order.id], view, now) for order in orders]


async def _require_shown_total(
    tx: Transaction, customer_id: int, code: str, request: ConfirmOrder, now: datetime
) -> Shown | None:
    """Check that an order costs what was shown; return it, locked, with its shipping method.

    Returns None if it cannot be confirmed, or not by this method. Raises DomainError (conflict).
    """
    async with tx.pipeline() as p:
        # Otherwise support could price a quote again before it is confirmed.
        pipe_lock_unconfirmed(p, customer_id, code)
        result = pipe_by_code(p, customer_id, code)
    order = result.first
    if not isinstance(order, PendingOrder | PricedQuote) or order.has_expired(now):
        return None  # confirming says why it cannot be confirmed, or that it was
    option = find_option(order.shipping_options, request.shipping_method)
    if option is None:
        return None  # confirming says which there are
    total = order.gross_with(option)
    if total != request.total:
        costs = in_pounds(total)
        problem = f"the order costs {costs} by this shipping method, which is not what was shown: show that total first"
        error = FieldError("total", problem, Code.PRICE_CHANGED)
        raise DomainError(Kind.CONFLICT, str(error), code=Code.PRICE_CHANGED, field_errors=[error])
    return order, option
