"""Lets the orders of a sandbox live: each pass takes the next step of every order whose pace is over.

The steps are the use cases that the staff and their programs take; no rule of an order knows that it is a test.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from msgspec.structs import replace

from tradecounter.billing.issue_invoice import issue_invoice
from tradecounter.billing.queries.ledger import invoices_of_order
from tradecounter.db.advisory_locks import TRY_TO_LIVE
from tradecounter.db.pool import DATABASE_AWAY, Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.kit.errors import DomainError
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.back_orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.queries.changes import store_changed_order, store_lines
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.requests import Cancellation, QuotePrice
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.orders.units import NamedUnits, status_of
from tradecounter.payments.record_payment import NewPayment, pay_invoice
from tradecounter.quotes.decline_quote import decline_quote
from tradecounter.quotes.price_quote import price_quote
from tradecounter.sandbox.queries.living import LivingOrder, living_orders, shipments_of
from tradecounter.sandbox.rules import SUPPLIED_AFTER, next_sighting, pace_of, wishes_of
from tradecounter.shipments.dispatch_order import dispatch_order
from tradecounter.shipments.requests import DispatchRequest
from tradecounter.shipments.track_shipment import NewTrackingEvent, track_shipment
from tradecounter.stock.queries.allocation import release

log = structlog.get_logger()

MOST = 200  # orders of a pass: a few seconds of work
_SAID = {"In transit": "On its way", "Delivered": "Left with the recipient"}


@dataclass(slots=True)
class Life:
    """What the steps need: the pace, the letterhead of invoices, how long a price holds, the secret of its link.

    `reached` is the last order of the pass before, if there were more: what cannot go on holds up no other.
    """

    pace: timedelta
    letterhead: Letterhead
    quote_lifetime: timedelta
    secret: Callable[[], str]
    reached: int = 0


async def live_on(tx: Transaction, database: Database, life: Life, now: datetime) -> int:
    """Take the next step of orders whose pace is over, each in a transaction of its own; return how many.

    A pass takes MOST orders, the next pass those after them. Does nothing while another process does it.
    """
    if not await tx.fetch_value(TRY_TO_LIVE):
        return 0
    count, orders = 0, await living_orders(tx, now, life.pace, life.reached, MOST)
    life.reached = orders[-1].id if len(orders) == MOST else 0
    for order in orders:
        try:
            async with transaction(database) as own:
                count += await _step(own, order, life, now)
        except DomainError as error:  # such as a blocked account; the other orders live on
            log.info("an order of the sandbox cannot take its next step", order=order.id, reason=str(error))
        except DATABASE_AWAY:
            raise
        except Exception:  # a fault of ours at one order
            log.exception("an order of the sandbox failed to take its next step", order=order.id)
    return count


async def _step(tx: Transaction, order: LivingOrder, life: Life, now: datetime) -> bool:
    """Take an order's next step, and return whether there is one. Raises DomainError."""
    wishes = wishes_of(order.customer_reference)
    if order.confirmed_at is None:
        return await _answer_quote(tx, order, wishes, life, now)
    name, lines = str(order.id), await lines_of_order(tx, order.id)
    untouched = not any(line.dispatched for line in lines)
    if "cancel" in wishes and untouched:
        await cancel_order(tx, name, Cancellation("The reference asks for it."), now)
        return True
    pace = pace_of(order.customer_reference, life.pace)
    waited = now - order.confirmed_at
    if "back-order" in wishes and untouched and waited < SUPPLIED_AFTER * pace:
        return await _take_back_units(tx, order.id)
    if any(line.allocated for line in lines):
        await dispatch_order(tx, name, _parcel(order, lines, first=untouched), now)
        return True
    if missing := _missing(lines):
        return waited >= SUPPLIED_AFTER * pace and await _supply(tx, missing, now)
    return await _finish(tx, order, wishes, life, now)


async def _answer_quote(tx: Transaction, order: LivingOrder, wishes: set[str], life: Life, now: datetime) -> bool:
    code = order.confirmation_code
    if "cancel" in wishes:
        await decline_quote(tx, code, "The reference asks for it.", now)
    else:
        price = QuotePrice(note="A price of the sandbox.", force=True)
        await price_quote(tx, code, price, now, life.quote_lifetime, life.secret())
    return True


def _parcel(order: LivingOrder, lines: list[OrderLine], *, first: bool) -> DispatchRequest:
    """Return the next shipment: the first line alone where there are several, then all that is allocated."""
    number = f"SBX{order.id:08}{'A' if first else 'B'}"
    if first and len(lines) > 1:
        line = next(line for line in lines if line.allocated)
        return DispatchRequest(items=[NamedUnits(line.id, line.allocated)], tracking_number=number)
    return DispatchRequest(tracking_number=number, only_allocated=True)


async def _finish(tx: Transaction, order: LivingOrder, wishes: set[str], life: Life, now: datetime) -> bool:
    """Report where the shipments of a dispatched order are, invoice it, or pay its invoice."""
    name, shipments = str(order.id), await shipments_of(tx, order.id)
    sighted = next_sighting([shipment.latest for shipment in shipments])
    if sighted is not None:
        for number in dict.fromkeys(each.tracking_number for each in shipments if each.latest != sighted):
            await track_shipment(tx, name, number, NewTrackingEvent(type=sighted, description=_SAID[sighted]), now)
        return True
    if (await issue_invoice(tx, name, life.letterhead, now)).new:
        return True
    owed = [invoice for invoice in await invoices_of_order(tx, order.id) if invoice.due]
    if "unpaid" in wishes or not owed:
        return False
    payment = NewPayment(amount=owed[0].due, reference=f"SANDBOX-{owed[0].invoice}")
    await pay_invoice(tx, owed[0].invoice, payment, now)
    return True


def _missing(lines: list[OrderLine]) -> Counter[str]:
    """Return the units that an order waits for, by SKU; those of a bundle by its components' SKUs."""
    missing: Counter[str] = Counter()
    for line in lines:
        for part in line.components or (line,):
            missing[part.sku] += part.back_ordered
    return +missing


async def _supply(tx: Transaction, missing: Counter[str], now: datetime) -> bool:
    """Bring the units that an order waits for into stock, where the oldest orders get them first."""
    reason = "A delivery of the sandbox"
    await adjust_stock(tx, [Adjustment(sku=sku, change=units, reason=reason) for sku, units in missing.items()], now)
    return True


async def _take_back_units(tx: Transaction, order_id: int) -> bool:
    """Let an order wait for the units that it has; return whether it had any.

    No use case does it: the reseller never takes units from an order that it does not change.
    """
    await lock_waiting_orders(tx, also=order_id)
    order, lines = await lock_order(tx, order_id), await lines_of_order(tx, order_id)
    if not isinstance(order, ConfirmedOrder) or not any(line.allocated for line in lines):
        return False
    taken: Counter[int] = Counter()
    for line in lines:
        for part in line.components or (line,):
            taken[part.product_id] += part.allocated
    waiting = [_waiting(line) for line in lines]
    await store_lines(tx, waiting)
    await store_changed_order(tx, replace(order, status=status_of(waiting, {}, order.gross)))
    await release(tx, taken, Counter({product: -units for product, units in taken.items()}))
    return True


def _waiting(line: OrderLine) -> OrderLine:
    return replace(
        line,
        allocated=0,
        back_ordered=line.to_come,
        components=tuple(map(_waiting, line.components)),
    )
