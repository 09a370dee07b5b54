"""Lets the orders of a sandbox live: each pass takes the next step of every order whose pace is over.

The steps are the use cases that the staff and their programs take; no rule of an order knows that it is a test.
"""

from datetime import datetime, timedelta

import structlog
from msgspec import Struct
from msgspec.structs import replace

from tradecounter.billing.invoices import issue_invoice
from tradecounter.billing.queries.ledger import invoices_of_order
from tradecounter.db.advisory_locks import TRY_TO_LIVE
from tradecounter.db.pool import DATABASE_AWAY, Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.kit.errors import DomainError
from tradecounter.orders.lines import OrderLine, released_units, status_of
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.queries.changes import store_changed_order, store_lines
from tradecounter.orders.queries.orders import lines_of_order, lock_order
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.sandbox.queries import LivingOrder, living_orders, shipments_of
from tradecounter.sandbox.rules import SUPPLIED_AFTER, next_sighting, pace_of, wishes_of
from tradecounter.sandbox.steps import (
    Cancelled,
    Declined,
    Dispatched,
    Priced,
    Reseller,
    Settled,
    Step,
    Supplied,
    Tracked,
)
from tradecounter.stock.queries.stock import release

log = structlog.get_logger()

MOST = 200  # orders of a pass: a few seconds of work
_ASKED_FOR = "The reference asks for it."
_SAID = {"In transit": "On its way", "Delivered": "Left with the recipient"}


class Life(Struct):
    """What the lives need: the pace, and the reseller.

    `reached` is the last order of the pass before, if there were more: what cannot go on holds up no other.
    """

    pace: timedelta
    reseller: Reseller
    reached: int = 0


async def live_on(tx: Transaction, database: Database, life: Life, now: datetime) -> int:
    """Take the next step of orders whose pace is over, each in a transaction of its own; return how many.

    A pass takes MOST orders, the next pass those after them. Does nothing while another process does it.
    """
    if not await tx.fetch_value(TRY_TO_LIVE):
        return 0
    orders = await living_orders(tx, now, life.pace, life.reached, MOST)
    life.reached = orders[-1].id if len(orders) == MOST else 0
    count = 0
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
    lines = await lines_of_order(tx, order.id)
    if order.confirmed_at is not None and not any(line.to_come for line in lines):
        return await _finish(tx, order, life.reseller, now)
    waited = now - (order.confirmed_at or now)
    patient = waited < SUPPLIED_AFTER * pace_of(order.customer_reference, life.pace)
    step = _next_step(order, lines, patient=patient)
    if isinstance(step, Dispatched) and patient and _wants_to_wait(order, lines):
        return await _take_back_units(tx, order.id)
    if step is None:
        return False
    await step(tx, order.confirmation_code, life.reseller, now)
    return True


def _next_step(order: LivingOrder, lines: list[OrderLine], *, patient: bool) -> Step | None:
    """Return the next step of a quote, or of an order that is not dispatched yet; None if it waits for stock."""
    cancels = "cancel" in wishes_of(order.customer_reference)
    if order.confirmed_at is None:
        return Declined(_ASKED_FOR) if cancels else Priced("A price of the sandbox.")
    untouched = _is_untouched(lines)
    if cancels and untouched:
        return Cancelled(_ASKED_FOR)
    if any(line.allocated for line in lines):
        number = f"SBX{order.id:08}{'A' if untouched else 'B'}"
        return Dispatched(lines=1 if untouched and len(lines) > 1 else None, tracking=number)
    return None if patient else Supplied("A delivery of the sandbox")


def _is_untouched(lines: list[OrderLine]) -> bool:
    return not any(line.dispatched for line in lines)


def _wants_to_wait(order: LivingOrder, lines: list[OrderLine]) -> bool:
    return "back-order" in wishes_of(order.customer_reference) and _is_untouched(lines)


async def _finish(tx: Transaction, order: LivingOrder, reseller: Reseller, now: datetime) -> bool:
    """Report where the shipments of a dispatched order are, invoice it, or pay its invoice."""
    code = order.confirmation_code
    shipments = await shipments_of(tx, order.id)
    # Reports are about the latest shipment with their number; shipments without a number get none.
    latest = {
        shipment.tracking_number: shipment.latest for shipment in shipments if shipment.tracking_number is not None
    }
    sighted = next_sighting([*latest.values()])
    if sighted is not None:
        for number in (number for number, seen in latest.items() if seen != sighted):
            report = Tracked(sighted, _SAID[sighted], tracking=number)
            await report(tx, code, reseller, now)
        return True
    if (await issue_invoice(tx, code, reseller.letterhead, now)).new:
        return True
    owed = [invoice for invoice in await invoices_of_order(tx, order.id) if invoice.due]
    if "unpaid" in wishes_of(order.customer_reference) or not owed:
        return False
    payment = Settled(reference=f"SANDBOX-{owed[0].invoice}")
    await payment(tx, code, reseller, now)
    return True


async def _take_back_units(tx: Transaction, order_id: int) -> bool:
    """Let an order wait for the units that it has; return whether it had any.

    No use case does it: the reseller never takes units from an order that it does not change.
    """
    await lock_waiting_orders(tx, also=order_id)
    order = await lock_order(tx, order_id)
    lines = await lines_of_order(tx, order_id)
    if not isinstance(order, ConfirmedOrder) or not any(line.allocated for line in lines):
        return False
    waiting = [replace(line, allocated=0, back_ordered=line.undispatched) for line in lines]
    await store_lines(tx, waiting)
    await store_changed_order(tx, replace(order, status=status_of(waiting, {}, order.gross)))
    await release(tx, *released_units(lines, waiting))
    return True
