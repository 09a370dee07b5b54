"""Creates pending orders: reads the account's standing, checks, prices and stores the order, and may confirm it.

See the specification, sections 3 and 4. Quotes are made from the same draft (`checked_draft`).
"""

import secrets
from decimal import ROUND_HALF_UP, Decimal

from msgspec.structs import asdict, replace

from tradecounter.credit.rules import require_credit
from tradecounter.db.changes import Version
from tradecounter.db.pipeline import Pipeline, Result
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import EventType
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import Code, DomainError, Kind, or_not_found, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.cancel_order import replace_order
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.create.check_request import CheckedRequest, check_request, named_addresses
from tradecounter.orders.create.draft import count_lines, price_lines
from tradecounter.orders.guards import require_prices, require_stock
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, total_costs
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.create import STANDING, AccountStanding, count_pending, insert_order, reserve_lines
from tradecounter.orders.queries.orders import lock_customer_and_find_reference
from tradecounter.orders.rules import account_blocked, tax_rate
from tradecounter.orders.shipping_options import choose_shipping, method_needed
from tradecounter.orders.states import ConfirmedOrder, OrderBase, OrderKind, PendingOrder, UnpricedQuote
from tradecounter.orders.wire import CreateOrderRequest
from tradecounter.shipping.methods import shipping_at
from tradecounter.storefront.view import view_at


def pipe_standing(
    p: Pipeline, kind: OrderKind, request: CreateOrderRequest, context: OrderContext
) -> Result[AccountStanding]:
    """Fetch the standing of a customer's account for a requested order or quote; see `standing_of`.

    The same round trip reads the marks of the catalogue, the prices and the shipping methods. So an order never has an
    older price than an order that was acknowledged before it (`storefront/view.py`).
    """
    return p.fetch(
        STANDING,
        customer_id=context.customer_id,
        kind=kind,
        address_ids=list(named_addresses(request)),
        lines=count_lines(context.view, request.items),
        cap=None if request.auto_confirm else context.policy.most_pending(kind),  # the order is confirmed, not pending
        now=context.now,
    )


def standing_of(result: Result[AccountStanding], customer_id: int) -> AccountStanding:
    """Return the fetched standing. Raises DomainError (not found) for an unknown customer."""
    return or_not_found(result.first, "customer", customer_id)


async def with_current_data(
    tx: Transaction, request: CreateOrderRequest, standing: AccountStanding, context: OrderContext
) -> tuple[AccountStanding, OrderContext]:
    """Return the standing and the context with the view and the shipping methods at the standing's marks.

    Takes no round trip if the context is current.
    """
    shipping = await shipping_at(tx, Version(standing.server, standing.shipping), context.shipping)
    skus = (item.sku for item in request.items)
    mark = Version(standing.server, standing.catalogue)
    view = await view_at(tx, mark, context.view, context.customer_id, skus, uk_date(context.now))
    if view is context.view:
        return standing, context if shipping is context.shipping else replace(context, shipping=shipping)
    lines = count_lines(view, request.items)
    if lines > len(standing.line_ids):  # a bundle has more components than the older view knew
        standing = replace(standing, line_ids=await reserve_lines(tx, lines))
    return standing, replace(context, view=view, shipping=shipping)


async def current_standing(
    tx: Transaction, kind: OrderKind, request: CreateOrderRequest, context: OrderContext
) -> tuple[AccountStanding, OrderContext]:
    """Fetch a standing, and return it with the context as `with_current_data` does. Raises DomainError (not found)."""
    async with tx.pipeline() as p:
        standing = pipe_standing(p, kind, request, context)
    return await with_current_data(tx, request, standing_of(standing, context.customer_id), context)


_CODE_BYTES = 16
GRAM = Decimal("0.001")  # of a kilogram; the database stores weights to the gram


async def place_order(
    tx: Transaction,
    request: CreateOrderRequest,
    standing: AccountStanding,
    context: OrderContext,
    *,
    override_credit: str | None = None,
    replaces: str | None = None,
) -> tuple[PendingOrder | ConfirmedOrder, list[OrderLine]]:
    """Create a pending order, confirm it if the request says so, and return it with its lines.

    `override_credit` is the reason why the order may exceed the account's credit. Raises DomainError as `checked_draft`
    and `confirm_order` do.
    """
    draft, lines = await checked_draft(
        tx, "order", request, standing, context, checks_credit=override_credit is None, replaces=replaces
    )
    order = PendingOrder(**asdict(draft), expires_at=context.now + context.policy.pending_lifetime)
    insert_order(tx, order, lines)
    record_creation(tx, "order.create", "order.created", order, replaces)
    if not request.auto_confirm:
        return order, lines
    code, policy = order.confirmation_code, context.policy
    return await confirm_order(
        tx, context.customer_id, code, None, policy, context.now, override_credit=override_credit
    )


def record_creation(
    tx: Transaction, action: str, event: EventType, order: PendingOrder | UnpricedQuote, replaces: str | None = None
) -> None:
    """Record the creation of an order or a quote in both logs."""
    record_order_event(tx, event, order, order.created_at, cost_gross=order.cost_gross)
    after = {
        "customer_id": order.customer_id,
        "cost_gross": order.cost_gross,
        "replaces": replaces and replaces.lower(),
    }
    audit_order(tx, action, order, order.created_at, after=after)


async def checked_draft(
    tx: Transaction,
    kind: OrderKind,
    request: CreateOrderRequest,
    standing: AccountStanding,
    context: OrderContext,
    *,
    checks_credit: bool = True,
    replaces: str | None = None,
) -> tuple[OrderBase, list[OrderLine]]:
    """Return the common data of a new order or quote, and its lines, after all checks.

    `replaces` is the confirmation code of a pending order of the customer, which is cancelled first.

    Raises DomainError as `replace_order` does, and invalid, payment required, conflict (the customer is blocked or at
    its cap, its reference is already used, or a guard of the request stops the order), precondition failed
    (`auto_confirm` without a shipping method).
    """
    basket = None if replaces is None else await replace_order(tx, context.customer_id, replaces, kind, context.now)
    if standing.blocked:
        raise account_blocked()
    checked = check_request(kind, request, standing, context)
    draft, lines = _draft(kind, request, standing, context, checked, basket)
    require_prices(request, lines, draft.cost_gross)
    # A confirmation that follows at once decides; a quote is confirmed later.
    if kind == "order" and not draft.allow_back_orders and not request.auto_confirm:
        available = {item.row: context.view.available(item.row) for item in checked.lines}
        require_stock([(item.row, item.product.sku, item.quantity) for item in checked.lines], available)
    gross = _gross_with_shipping(draft, standing, auto_confirm=bool(request.auto_confirm))
    if checks_credit:
        require_credit(standing.credit_limit, standing.outstanding, gross)
    if standing.near_cap:
        await _require_room(tx, kind, context)
    if standing.unique_references:
        await require_unused(tx, request.customer_reference, context)
    return draft, lines


def _draft(
    kind: OrderKind,
    request: CreateOrderRequest,
    standing: AccountStanding,
    context: OrderContext,
    checked: CheckedRequest,
    basket: int | None,
) -> tuple[OrderBase, list[OrderLine]]:
    addresses, offered = checked.addresses, checked.shipping
    rate = tax_rate(addresses.shipping.country_code, context.policy.vat_rate)
    lines = price_lines(context.view, checked.lines, rate, standing.order_id, standing.line_ids)
    cost_net, cost_tax = total_costs(lines)
    draft = OrderBase(
        id=standing.order_id,
        customer_id=context.customer_id,
        kind=kind,
        state="pending",
        confirmation_code=context.code or secrets.token_hex(_CODE_BYTES),
        customer_reference=request.customer_reference,
        external_customer_id=request.external_customer_id,
        billing_address=addresses.billing,
        shipping_address=addresses.shipping,
        order_notifications=request.order_notifications,
        courier_notifications=request.courier_notifications,
        shipping_region=offered.region.id,
        shipping_options=list(offered.options),
        shipping_method=None if request.shipping_method is None else request.shipping_method.id,
        shipping_weight=offered.weight.quantize(GRAM, ROUND_HALF_UP),
        cost_net=cost_net,
        cost_tax=cost_tax,
        tax_rate=rate,
        allow_back_orders=request.allow_back_orders is not False,
        created_at=context.now,
        in_basket_of=basket,
    )
    return draft, lines


def _gross_with_shipping(draft: OrderBase, standing: AccountStanding, *, auto_confirm: bool) -> Decimal:
    """Return the gross with the chosen shipping, if any. Raises DomainError: invalid, precondition failed."""
    shipping_option = choose_shipping(draft.shipping_options, draft.shipping_method, standing.shipping_method)
    if auto_confirm and shipping_option is None:
        raise method_needed(draft.shipping_options)
    return draft.cost_gross if shipping_option is None else draft.gross_with(shipping_option)


async def _require_room(tx: Transaction, kind: OrderKind, context: OrderContext) -> None:
    """Raise DomainError (conflict) when a customer has as many pending orders, or unpriced quotes, as it may have.

    Far below this cap, creations share a lock on the customer and run at the same time: even one creation on every
    database connection could not exceed the cap. Near the cap, each creation takes the lock exclusively and counts
    again.
    """
    most = context.policy.most_pending(kind)
    if await count_pending(tx, context.customer_id, kind, context.now) >= most:
        raise DomainError(
            Kind.CONFLICT,
            f"an account may have at most {most} pending orders: confirm an order, or wait until one expires"
            if kind == "order"
            else f"an account may have at most {most} unpriced quotes: wait until support has priced one",
            code=Code.TOO_MANY_PENDING,
        )


async def require_unused(
    tx: Transaction, customer_reference: str, context: OrderContext, but: int | None = None
) -> None:
    """Raise DomainError (conflict) if an order other than `but` has the reference. Locks the customer's row."""
    other = await lock_customer_and_find_reference(tx, context.customer_id, customer_reference, context.now, but)
    if other is not None:
        message = f"customer_reference: {customer_reference!r} is already used by {other.name}"
        raise DomainError(Kind.CONFLICT, message, code=Code.DUPLICATE_REFERENCE)


async def create_for_customer(
    tx: Transaction,
    request: CreateOrderRequest,
    context: OrderContext,
    *,
    override_credit: str | None = None,
    replaces: str | None = None,
) -> PendingOrder | ConfirmedOrder:
    """Create an order with the account's standing as it is now, and confirm it if the request says so.

    Raises DomainError as `place_order` does.
    """
    if override_credit is not None:
        override_credit = require_text("override_credit.reason", override_credit, LONGEST_REASON)
    standing, context = await current_standing(tx, "order", request, context)
    order, _ = await place_order(tx, request, standing, context, override_credit=override_credit, replaces=replaces)
    return order
