"""Placing orders over HTTP, the clock around them, and the books that they have to agree with."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from threading import Barrier
from typing import Any, LiteralString, TypeVar
from zoneinfo import ZoneInfo

import httpx2
import msgspec
from msgspec import UNSET
from psycopg.sql import Composed

from support.service import Customer, Service
from support.shop import STANDARD, order, price, product
from tradecounter.db.transaction import Transaction
from tradecounter.kit.json_text import read_json
from tradecounter.orders.amend_order import amend_order
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import NamedUnits
from tradecounter.orders.order_context import OrderingPolicy, read_contexts
from tradecounter.orders.reseller_wire import AmendOrderRequest, Cancellation
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.shipments.dispatch import ShipmentCorrection, correct_shipment, dispatch_order, take_back_shipment
from tradecounter.shipments.wire import Dispatch, DispatchedItem, Serial

Result = TypeVar("Result")
Items = Iterable[tuple[str, int]]

_UK = ZoneInfo("Europe/London")
_ONE_PHONE = (("PHONE", 1),)


def uk(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    """A moment by UK clocks."""
    return datetime(year, month, day, hour, minute, second, tzinfo=_UK)


@contextmanager
def at(service: Service, moment: datetime) -> Iterator[None]:
    """Let the service's clock stand at another moment while the block runs."""
    before = service.clock.now()
    service.clock.set(moment)
    try:
        yield
    finally:
        service.clock.set(before)


def sell(service: Service, sku: str, cost: Any = 10, *, available: int = 0, **values: Any) -> str:
    """Put a product of its own on sale, so that tests do not share stock; its SKU."""
    service.must_load("products", [product(sku, **values)])
    service.must_load("price-list", [price(sku, cost)])
    service.must_load("stock", [{"sku": sku, "available": available}])
    return sku


def create(customer: Customer, items: Items = _ONE_PHONE, **values: Any) -> dict[str, Any]:
    """A pending order, as the API returned it."""
    response = customer.post("/order", order(items, **values))
    assert response.status_code == 201, response.text
    created: dict[str, Any] = response.json()
    return created


def confirm(customer: Customer, pending: dict[str, Any], method: int | None = STANDARD) -> httpx2.Response:
    """The response to confirming a pending order."""
    body = None if method is None else {"shipping_method": {"id": method}}
    return customer.put(f"/order/{pending['confirmation_code']}", body)


def buy(customer: Customer, items: Items = _ONE_PHONE, method: int = STANDARD, **values: Any) -> dict[str, Any]:
    """An order confirmed at once, as the API returned it."""
    return create(customer, items, auto_confirm=True, shipping_method={"id": method}, **values)


def read(customer: Customer, placed: dict[str, Any]) -> dict[str, Any]:
    """A confirmed order, read back."""
    response = customer.get(f"/order/{placed['order_id']}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def in_parallel(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """Make all calls at the same moment, each from a thread of its own; their results in order."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Result]) -> Result:
        start.wait(timeout=30)
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def rows(service: Service, statement: LiteralString | Composed, *values: Any) -> list[tuple[Any, ...]]:
    """What the database holds, past the API."""

    async def fetch(tx: Transaction) -> list[tuple[Any, ...]]:
        return await (await (await tx.connection()).execute(statement, values)).fetchall()

    return service.in_transaction(fetch)


def confirm_while_blocked(shop: Service) -> httpx2.Response:
    """The response to a confirmation by a customer that another process has just blocked: the key is still known."""
    block = "update customer set blocked_at = now(), blocked_reason = 'x' where id = %s returning id"
    for _ in range(10):
        customer = shop.customer()
        shop.refresh()  # a poll that is some seconds old lets no key be remembered
        pending = create(customer)
        rows(shop, block, customer.id)
        response = confirm(customer, pending)
        if response.status_code != httpx2.codes.UNAUTHORIZED:  # a machine that is slow forgets keys meanwhile
            break
    return response


def outstanding(service: Service, customer: Customer) -> Decimal:
    """What the account's lock says it owes."""
    found = rows(service, "select outstanding from credit_exposure where customer_id = %s", customer.id)
    return Decimal(found[0][0]) if found else Decimal(0)


def level(service: Service, sku: str) -> tuple[int, int, int]:
    """A product's units for sale, allocated and back-ordered."""
    [found] = rows(
        service,
        "select available, allocated, back_ordered from stock_level l join product p on p.id = l.product_id"
        " where p.sku = %s",
        sku,
    )
    available, allocated, back_ordered = found
    return available, allocated, back_ordered


def lines(service: Service, placed: dict[str, Any]) -> list[tuple[str, int, int]]:
    """SKU, allocated and back-ordered units of a confirmed order's lines."""
    found = rows(
        service,
        "select l.sku, l.allocated, l.back_ordered from order_line l join orders o on o.id = l.order_id"
        " where o.id = %s order by l.position",
        placed["order_id"],
    )
    return [(sku, allocated, back_ordered) for sku, allocated, back_ordered in found]


def dispatch(
    service: Service,
    placed: dict[str, Any],
    *items: tuple[int, int],
    serials: Sequence[Serial] = (),
    invoice: bool = False,
    **values: Any,
) -> None:
    """Let items, or all that is left of an order, leave; raises what the use case raises."""
    leaving = Dispatch([DispatchedItem(*units) for units in items] or UNSET, **values)
    service.in_transaction(
        lambda tx: dispatch_order(
            tx,
            str(placed["order_reference"]),
            leaving,
            service.clock.now(),
            serials=serials,
            only_allocated=False,
            invoice=invoice,
        )
    )


def shipments(service: Service, placed: dict[str, Any]) -> list[int]:
    """The ids of an order's shipments, oldest first."""
    found = rows(service, "select id from shipment where order_id = %s order by id", placed["order_id"])
    return [shipment for (shipment,) in found]


def take_back(service: Service, placed: dict[str, Any], shipment: int, reason: str = "a test") -> None:
    """Take a shipment of an order back; raises what the use case raises."""
    name, now = str(placed["order_reference"]), service.clock.now()
    service.in_transaction(lambda tx: take_back_shipment(tx, name, shipment, reason, now))


def correct(service: Service, placed: dict[str, Any], shipment: int, **values: Any) -> None:
    """Correct a shipment of an order; raises what the use case raises."""
    given, now, name = ShipmentCorrection(**values), service.clock.now(), str(placed["order_reference"])
    service.in_transaction(lambda tx: correct_shipment(tx, name, shipment, given, now))


def cancel(service: Service, placed: dict[str, Any], reason: str = "a test", *items: tuple[int, int]) -> None:
    """Cancel an order, pending or confirmed, or some units of it; raises what the use case raises."""
    name = placed.get("order_reference") or placed["confirmation_code"]
    request, now = Cancellation(reason, [NamedUnits(*units) for units in items] or UNSET), service.clock.now()
    service.in_transaction(lambda tx: cancel_order(tx, name, request, now))


def amend(service: Service, placed: dict[str, Any], *, dry_run: bool = False, **body: Any) -> ConfirmedOrder:
    """Amend an order; raises what the use case raises."""
    now, policy = service.clock.now(), OrderingPolicy.from_settings(service.settings)
    name, request = str(placed["order_reference"]), read_json(msgspec.json.encode(body), AmendOrderRequest)

    async def work(tx: Transaction) -> ConfirmedOrder:
        order = await fetch_order(tx, name)
        context = (await read_contexts(tx, policy, now)).of(order.customer_id, now)
        amended, _ = await amend_order(tx, name, request, context)
        if dry_run:
            tx.set_rollback()
        return amended

    return service.in_transaction(work)


_BOOKS: dict[str, LiteralString] = {
    "what accounts owe differs from their confirmed orders": """
        select customer_id, e.outstanding, o.due
        from credit_exposure e
        full join (select customer_id, sum(gross - paid - credited) as due
                   from orders where state = 'confirmed' group by 1) o using (customer_id)
        where coalesce(e.outstanding, 0) <> coalesce(o.due, 0)
    """,
    "what is paid or credited of an order differs from its invoices": """
        select o.number, o.paid, o.credited, b.paid, b.credited
        from orders o left join (
            select order_id, sum(paid) as paid, sum(credited) as credited from invoice_balance group by 1
        ) b on b.order_id = o.id
        where (o.paid, o.credited) <> (coalesce(b.paid, 0), coalesce(b.credited, 0))
    """,
    "what is paid or credited of an invoice differs from its payments or credit notes": """
        select b.invoice, b.paid, a.paid, b.credited, c.credited
        from invoice_balance b
        left join (select invoice, sum(amount) as paid from allocation where invoice is not null group by 1) a
            using (invoice)
        left join (select invoice, sum(gross) as credited from credit_note group by 1) c using (invoice)
        where (b.paid, b.credited) <> (coalesce(a.paid, 0), coalesce(c.credited, 0))
    """,
    "the money on an account differs from its payments": """
        select customer_id, b.unallocated, p.free
        from account_balance b
        full join (
            select customer_id, sum(case when reversed_at is null and method <> 'refund' then amount else 0 end)
                   - coalesce(sum((select sum(a.amount) from allocation a where a.payment_id = payment.id)), 0) as free
            from payment group by 1
        ) p using (customer_id)
        where coalesce(b.unallocated, 0) <> coalesce(p.free, 0)
    """,
    "a wholly invoiced order and its invoices have different sums": """
        select o.number, o.cost_net + o.shipping_net, o.cost_tax + o.shipping_tax, i.net, i.vat
        from orders o join (select order_id, sum(net) as net, sum(vat) as vat from invoice group by 1) i
            on i.order_id = o.id
        where o.status in ('Invoiced', 'Completed')
          and (o.cost_net + o.shipping_net, o.cost_tax + o.shipping_tax) <> (i.net, i.vat)
    """,
    "an invoice differs from its lines": """
        select i.number, i.gross, l.gross
        from invoice i left join (select invoice, sum(net + vat) as gross from invoice_line group by 1) l
            on l.invoice = i.number
        where i.gross <> coalesce(l.gross, 0) or i.gross <> i.net + i.vat
    """,
    "the VAT of a day differs from its documents": """
        select day, kind, rate, v.documents, d.documents, v.net, d.net, v.vat, d.vat
        from (
            select day, kind, rate, sum(documents) as documents, sum(net) as net, sum(vat) as vat
            from vat_day group by 1, 2, 3
        ) v full join (
            select (document ->> days.name)::date as day, kind, (t ->> 'rate')::numeric as rate,
                   count(*) as documents, sum((t ->> 'net')::numeric) as net, sum((t ->> 'vat')::numeric) as vat
            from (select document, 'invoice' as kind from invoice
                  union all select document, 'credit_note' from credit_note) i
            join (values ('invoice', 'supplied_on'), ('credit_note', 'issued_on')) as days (kind, name) using (kind)
            cross join jsonb_array_elements(document -> 'vat_totals') as t group by 1, 2, 3
        ) d using (day, kind, rate)
        where (v.documents, v.net, v.vat) is distinct from (d.documents, d.net, d.vat)
    """,
    "stock levels differ from the order lines": """
        select product_id, s.allocated, l.allocated, s.back_ordered, l.back_ordered
        from stock_level s
        full join (select product_id, sum(allocated) as allocated, sum(back_ordered) as back_ordered
                   from order_line group by 1) l using (product_id)
        where (coalesce(s.allocated, 0), coalesce(s.back_ordered, 0))
              <> (coalesce(l.allocated, 0), coalesce(l.back_ordered, 0))
    """,
    "a confirmed line is not wholly allocated, back-ordered or dispatched, or another one is": """
        select l.id, l.quantity, l.allocated, l.back_ordered, l.dispatched
        from order_line l join orders o on o.id = l.order_id
        where l.allocated + l.back_ordered + l.dispatched
              <> case when o.state = 'confirmed' and l.bundle_line_id is null then l.quantity else 0 end
    """,
    "what was dispatched differs from the shipments": """
        select l.id, l.dispatched, s.units
        from order_line l left join (select line_id, sum(quantity) as units from shipment_line group by 1) s
            on s.line_id = l.id
        where l.dispatched <> coalesce(s.units, 0)
    """,
    "what came back differs from the returns, or a unit came back twice": """
        select l.id, l.dispatched, l.returned, r.received, r.expected
        from order_line l left join (
            select u.line_id, sum(u.restocked + u.scrapped) as received,
                   sum(case o.state when 'open' then u.quantity else u.restocked + u.scrapped end) as expected
            from return_line u join order_return o on o.id = u.return_id group by 1) r on r.line_id = l.id
        where l.returned <> coalesce(r.received, 0) or l.dispatched < coalesce(r.expected, 0)
    """,
    "a line has more serial numbers than units were dispatched": """
        select l.id, n.numbers
        from order_line l left join order_line bundle on bundle.id = l.bundle_line_id
            join (select line_id, count(*) as numbers from serial_number group by 1) n on n.line_id = l.id
        where n.numbers > coalesce(
            bundle.dispatched * (l.quantity + l.cancelled) / (bundle.quantity + bundle.cancelled), l.dispatched)
    """,
    "stock is for sale while orders wait for it": """
        select product_id, available, back_ordered from stock_level
        where available < 0 or (available > 0 and back_ordered > 0)
    """,
    "an order's status does not fit its lines": """
        select number, status, fitting from (
            select o.number, o.status,
                   case when exists (select from invoice i where i.order_id = o.id)
                            then case when sum(l.dispatched) < sum(l.quantity)
                                           or sum(l.dispatched - l.unbilled) > (
                                               select sum(i.quantity) from invoice_line i join order_line b
                                                   on b.id = i.line_id where b.order_id = o.id
                                           ) then 'Part invoiced'
                                      when o.gross = o.paid + o.credited then 'Completed'
                                      else 'Invoiced' end
                        when sum(l.dispatched) = sum(l.quantity) then 'Dispatched'
                        when sum(l.dispatched) > 0 then 'Part dispatched'
                        when sum(l.back_ordered) > 0 then 'Back-ordered'
                        else 'Awaiting dispatch' end as fitting
            from orders o join order_line l on l.order_id = o.id
            where o.state = 'confirmed' and l.bundle_line_id is null
            group by o.id
        ) as judged
        where status <> fitting
    """,
    "a component has a price, or not as many units as its bundles hold": """
        select l.id, l.quantity, bundle.quantity
        from order_line l join order_line bundle on bundle.id = l.bundle_line_id
        where l.unit_cost + l.cost_net + l.cost_tax <> 0
           or mod(l.quantity + l.cancelled, bundle.quantity + bundle.cancelled) <> 0
           or l.quantity * bundle.cancelled <> l.cancelled * bundle.quantity
           or l.order_id <> bundle.order_id
    """,
    "a cancelled order has no moment or reason": """
        select id from orders
        where (state = 'cancelled') <> (cancelled_at is not null)
           or (state = 'cancelled') <> (cancel_reason is not null)
           or (state = 'cancelled') <> (coalesce(status, '') = 'Cancelled')
    """,
}


def faults_in_the_books(service: Service) -> dict[str, list[tuple[Any, ...]]]:
    """Where credit, stock and orders contradict each other; empty when all is well."""
    found = {fault: rows(service, statement) for fault, statement in _BOOKS.items()}
    return {fault: where for fault, where in found.items() if where}
