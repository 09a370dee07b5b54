"""Confirming an order: credit taken, stock allocated, number given (specification, section 3).

Rows are locked in one order everywhere: the order, the account's credit, then stock by product.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tradecounter.credit.queries import charge, limit_of, require_charged
from tradecounter.customers.queries.accounts import Account, account_of
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.money import percentage
from tradecounter.ordering.choose_shipping import choose_shipping, method_needed, offered
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.queries import by_code, find_own_order, lines_by_code, lock_unconfirmed, with_components
from tradecounter.ordering.records import Confirmation, LineRecord, OfferedShipping, OrderRecord
from tradecounter.ordering.rules import AWAITING_DISPATCH, BACK_ORDERED, order_reference, share_out
from tradecounter.ordering.store import confirm_order_row, next_order_number, set_allocations
from tradecounter.shipping.rules import shipping_dates
from tradecounter.stock.queries.allocation import Allocation, allocate, allocation_of
from tradecounter.stock.rules import Cover, cover, latest

_WHAT = {"order": "pending order", "quote": "quote"}


def unknown_code() -> DomainError:
    """Return the refusal of a code that is not one of the customer's."""
    return DomainError(Kind.NOT_FOUND, "there is no pending order or quote with this confirmation_code")


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A confirmed order with its lines."""

    order: OrderRecord
    lines: Sequence[LineRecord]


async def confirm_order(
    tx: Transaction, confirmation_code: str, method_id: int | None, circumstances: Circumstances
) -> Confirmed:
    """Turn a pending order or a priced quote into a confirmed order; one that is confirmed already stays as it is.

    `method_id` is the shipping method named now; None keeps the one named before, or takes the account's default.
    Raises DomainError: not found, invalid (the method was not offered, or differs from the one confirmed), gone
    (expired or cancelled), precondition failed (no method, or a quote without its price), payment required.
    """
    customer = circumstances.customer_id
    found, lines = by_code(customer, confirmation_code), lines_by_code(customer, confirmation_code)
    account = account_of(customer)
    await tx.ask(lock_unconfirmed(customer, confirmation_code), found, lines, account)
    order = found.first
    if order is None:
        raise await _not_a_code(tx, customer, confirmation_code)
    ordered = Confirmed(order, with_components(lines.rows))
    if order.state == "cancelled":
        raise DomainError(Kind.GONE, f"the {order.kind} was cancelled: create it again if it is still wanted")
    if order.number is not None:
        _require_same_method(order, method_id)
        return ordered
    if order.state == "expired" or (order.expires_at is not None and circumstances.now > order.expires_at):
        raise DomainError(Kind.GONE, f"the {_WHAT[order.kind]} has expired: create it again")
    if order.kind == "quote" and order.priced_at is None:
        raise DomainError(Kind.PRECONDITION_FAILED, "the quote is not priced yet: you will get an e-mail when it is")
    named = order.shipping_method if method_id is None else method_id
    method = choose_shipping(order.offers, named, account.only.shipping_method)
    if method is None:
        raise method_needed(order.offers)
    return await _confirm(tx, ordered, account.only, method, circumstances)


async def _confirm(
    tx: Transaction, pending: Confirmed, account: Account, method: OfferedShipping, circumstances: Circumstances
) -> Confirmed:
    policy, now, order, lines = circumstances.policy, circumstances.now, pending.order, pending.lines
    tax = percentage(method.cost_net, order.tax_rate)
    gross = order.cost_net + order.cost_tax + method.cost_net + tax
    wanted: defaultdict[int, int] = defaultdict(int)
    for line in lines:
        wanted[line.product_id] += line.quantity
    charged, limit = charge(order.customer_id, gross), limit_of(order.customer_id)
    levels, numbered = allocation_of(wanted), next_order_number()
    await tx.ask(charged, limit, levels, numbered)
    require_charged(charged, limit, gross)
    allocations = allocate(tx, wanted, levels)
    set_allocations(tx, _by_line(lines, allocations))
    number = numbered.only.number
    needed = _cover(wanted, allocations, circumstances)
    from_stock = all(allocations[product].taken == quantity for product, quantity in wanted.items())
    confirmation = Confirmation(
        number=number,
        order_reference=order_reference(number, account.packing, policy.own_brand_prefix, policy.plain_prefix),
        shipping_method=method.id,
        shipping_options=[o.dated(shipping_dates(now, o.cut_off, o.transit_days, needed)) for o in order.offers],
        shipping_net=method.cost_net,
        shipping_tax=tax,
        status=AWAITING_DISPATCH if from_stock else BACK_ORDERED,
        term_days=account.term_days or 0,
        confirmed_at=now,
    )
    confirm_order_row(tx, order.id, confirmation)
    await queue(tx, "mail_order_confirmed", order_id=order.id)
    return Confirmed(order.confirmed(confirmation), lines)


async def _not_a_code(tx: Transaction, customer_id: int, text: str) -> DomainError:
    """Return the refusal of a text that is no confirmation code, which may be the reference of an order."""
    order = await find_own_order(tx, customer_id, text)
    if order is None:
        return unknown_code()
    message = f"{order.order_reference} is {order.state} already; only pending orders and quotes can be confirmed"
    return DomainError(Kind.NOT_FOUND, f"{message}, by their confirmation_code")


def _require_same_method(order: OrderRecord, method_id: int | None) -> None:
    if method_id is None or method_id == order.shipping_method:
        return
    offered(order.offers, method_id)
    raise invalid(
        "shipping_method.id",
        f"the order is confirmed with shipping method {order.shipping_method}; ask support to change it",
    )


def _by_line(lines: Sequence[LineRecord], allocations: Mapping[int, Allocation]) -> dict[int, int]:
    allocated: dict[int, int] = {}
    for product_id, allocation in allocations.items():
        of_product = [line for line in lines if line.product_id == product_id]
        shares = share_out(allocation.taken, [line.quantity for line in of_product])
        allocated.update(zip((line.id for line in of_product), shares, strict=True))
    return allocated


def _cover(wanted: Mapping[int, int], allocations: Mapping[int, Allocation], circumstances: Circumstances) -> Cover:
    view = circumstances.view
    rows = view.snapshot.row_of_id
    return latest(
        [
            cover(
                quantity,
                allocations[product].taken,
                allocations[product].earlier,
                view.stock.deliveries.get(rows.get(product, -1), ()),
                circumstances.now,
            )
            for product, quantity in wanted.items()
        ]
    )
