"""The e-mails about orders: confirmed, changed, cancelled, dispatched, taken back."""

from collections.abc import Sequence

import structlog

from tradecounter.access.queries.people import list_users
from tradecounter.alerts.queries import users_told_of_dispatch
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import fold
from tradecounter.notifications.context import MailContext, NothingToSend
from tradecounter.notifications.mail import Mail
from tradecounter.notifications.queries import (
    dispatched_lines,
    find_change_facts,
    find_taken_back_facts,
    line_facts,
)
from tradecounter.orders.shipping_options import find_option
from tradecounter.orders.states import AnyOrder, CancelledOrder, CancelledUnconfirmed, ConfirmedOrder, NumberedOrder
from tradecounter.shipments.queries.fulfilment import fetch_shipment

log = structlog.get_logger()


async def order_confirmed(context: MailContext, *, order_id: int) -> Mail | None:
    """Build the confirmation of an order; None for an order that was cancelled since."""
    facts = await context.order(order_id)
    order = facts.order
    if not isinstance(order, NumberedOrder):
        raise NothingToSend(f"order {order_id} is not confirmed")
    if isinstance(order, CancelledOrder):
        log.info("confirmation not sent: the order is cancelled", order_id=order_id)
        return None
    return await context.mail(
        f"order-confirmed-{order.id}",
        order.confirmed_at,
        facts.recipients,
        f"Order {order.order_reference} confirmed (your reference {order.customer_reference})",
        "order_confirmed",
        order=order,
        lines=await line_facts(context.tx, order_id),
    )


async def order_expected_date(context: MailContext, *, order_id: int, changed: int) -> Mail | None:
    """Build the notice of a back-order's new expected date; None if `changed`, a Unix time, is not the last change."""
    facts = await context.order(order_id)
    order = facts.order
    changed_at = order.expected_changed_at if isinstance(order, NumberedOrder) else None
    if changed_at is None or changed > int(changed_at.timestamp()):
        raise NothingToSend(f"the expected dates of order {order_id} did not change at {changed}")
    waiting = [line for line in await line_facts(context.tx, order_id) if line.back_ordered]
    if changed < int(changed_at.timestamp()) or not isinstance(order, ConfirmedOrder) or not waiting:
        log.info("e-mail not sent: the order has no such expected date now", order_id=order_id)
        return None
    return await context.mail(
        f"order-expected-date-{order.id}-{changed}",
        changed_at,
        facts.recipients,
        f"Order {order.order_reference}: new expected date (your reference {order.customer_reference})",
        "order_expected_date",
        order=order,
        waiting=waiting,
    )


async def order_cancelled(context: MailContext, *, order_id: int) -> Mail | None:
    """Build the notice that an order is cancelled or a quote declined, with the reason."""
    facts = await context.order(order_id)
    order = facts.order
    if not isinstance(order, CancelledOrder | CancelledUnconfirmed):
        raise NothingToSend(f"order {order_id} is not cancelled")
    what = order.kind if isinstance(order, CancelledUnconfirmed) else "order"
    ended = order.ended_as
    which = f"Order {order.order_reference}" if isinstance(order, CancelledOrder) else what.capitalize()
    return await context.mail(
        f"order-cancelled-{order.id}",
        order.cancelled_at,
        facts.recipients,
        f"{which} {ended} (your reference {order.customer_reference})",
        "order_cancelled",
        order=order,
        what=what,
        ended=ended,
        lines=await line_facts(context.tx, order_id),
    )


async def order_changed(context: MailContext, *, order_id: int, change_id: int) -> Mail | None:
    """Build the notice that a part is cancelled or the order is amended, with what is still ordered."""
    facts = await context.order(order_id)
    order = facts.order
    change = await find_change_facts(context.tx, order_id, change_id)
    if change is None or not isinstance(order, NumberedOrder):
        raise NothingToSend(f"order {order_id} has no change {change_id}")
    if isinstance(order, CancelledOrder):
        log.info("change not sent: the order is cancelled", order_id=order_id)
        return None
    what = "part cancelled" if change.kind == "cancelled" else "amended"
    return await context.mail(
        f"order-changed-{order.id}-{change.id}",
        change.changed_at,
        facts.recipients,
        f"Order {order.order_reference} {what} (your reference {order.customer_reference})",
        "order_changed",
        order=order,
        change=change,
        lines=await line_facts(context.tx, order_id),
    )


async def order_dispatched(context: MailContext, *, order_id: int, shipment_id: int) -> Mail | None:
    """Build the notice of what was dispatched and what remains."""
    facts = await context.order(order_id)
    return await _dispatched(context, "order-dispatched", facts.order, shipment_id, facts.recipients)


async def dispatch_alert(context: MailContext, *, order_id: int, shipment_id: int) -> Mail | None:
    """Send the same notice to the customer's users who want it of each dispatch, and do not get it anyway."""
    facts = await context.order(order_id)
    told = set(await users_told_of_dispatch(context.tx, facts.account.id))
    users = [user for user in await list_users(context.tx, facts.account.id) if user.id in told]
    known = {fold(recipient) for recipient in facts.recipients}
    recipients = [user.email for user in users if user.has_role("buyer") and fold(user.email) not in known]
    return await _dispatched(context, "dispatch-alert", facts.order, shipment_id, recipients)


async def _dispatched(
    context: MailContext, about: str, order: AnyOrder, shipment_id: int, recipients: Sequence[str]
) -> Mail | None:
    order_id = order.id
    if not isinstance(order, NumberedOrder):
        raise NothingToSend(f"order {order_id} has no shipment {shipment_id}")
    try:
        shipment = await fetch_shipment(context.tx, order_id, order.name, shipment_id)
    except DomainError as error:
        if error.kind is not Kind.CONFLICT:
            raise NothingToSend(error.message) from error
        log.info("dispatch not sent: the shipment was taken back", order_id=order_id, shipment_id=shipment_id)
        return None
    lines = await dispatched_lines(context.tx, order_id, shipment_id)
    numbers = shipment.serial_numbers
    remaining = [line for line in lines if line.remaining > 0 and not line.component]
    what = "part dispatched" if remaining else "dispatched"
    method = find_option(order.shipping_options, shipment.shipping_method)
    return await context.mail(
        f"{about}-{order.id}-{shipment.id}",
        shipment.dispatched_at,
        recipients,
        f"Order {order.order_reference} {what} (your reference {order.customer_reference})",
        "order_dispatched",
        order=order,
        shipment=shipment,
        link=shipment.tracking_url,
        method=shipment.carrier or (None if method is None else method.name),
        dispatched=[(line, numbers.get(line.id, [])) for line in lines if line.dispatched or line.id in numbers],
        remaining=remaining,
    )


async def shipment_taken_back(context: MailContext, *, order_id: int, shipment_id: int) -> Mail | None:
    """Build the notice that a shipment did not leave, with its units and the reason."""
    facts = await context.order(order_id)
    order = facts.order
    shipment = await find_taken_back_facts(context.tx, order_id, shipment_id)
    if shipment is None or not isinstance(order, NumberedOrder):
        raise NothingToSend(f"shipment {shipment_id} of order {order_id} was not taken back")
    return await context.mail(
        f"shipment-taken-back-{order.id}-{shipment.id}",
        shipment.taken_back_at,
        facts.recipients,
        f"Order {order.order_reference}: a shipment did not leave (your reference {order.customer_reference})",
        "shipment_taken_back",
        order=order,
        shipment=shipment,
    )
