"""`/order/many`: papers, dispatch and invoices of several orders at once. Each order is changed whole or not at all."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from msgspec import UNSET, Meta, Struct
from starlette.responses import Response

from tradecounter.billing.invoices import gross_to_invoice, issue_invoice
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import parse_form, row_numbers
from tradecounter.edge.page_kit.submitted_forms import Submitted, read_submitted
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import ONCE, Outcome, PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.errors import DomainError, FieldError, invalid, invalid_fields, not_found
from tradecounter.letterhead.join_documents import joined
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.operations.staff import BY_WAREHOUSE
from tradecounter.orders.pages.staff.orders import printable
from tradecounter.orders.queries.all_orders import orders_with_references
from tradecounter.orders.queries.orders import lines_of
from tradecounter.orders.states import AnyOrder, ConfirmedOrder
from tradecounter.parts.back_office import OfficeParts
from tradecounter.shipments.dispatch import dispatch_order
from tradecounter.shipments.papers import by_shelf, delivery_of, packing_slips, picking_lists
from tradecounter.shipments.print_papers import print_packing_slip, print_picking_list
from tradecounter.shipments.wire import Dispatch, DispatchedItem

Paper = TypeVar("Paper")

_MOST = 50
_AT_ONCE = 10  # orders that one request changes: a second for as many invoices
_PAST = "past"  # the field with what came of an order: 1 or 0, its name, and words
_PARTS = 3
_PATH = "/order/many"
_PICKING_LIST, _PACKING_SLIP = f"{_PATH}/picking-list", f"{_PATH}/packing-slip"
_PICK = f"{_PATH}/pick"
_DISPATCH, _INVOICE = f"{_PATH}/dispatch", f"{_PATH}/invoice"


class ChosenOrders(Struct, frozen=True):
    """The orders that were ticked."""

    order: Annotated[tuple[str, ...], Meta(description="References.")] = ()


class ChosenOrder(Struct):
    """An order in the form, and the number on its parcel.

    `units` are those that the form has shown as allocated: the id of each line, a colon and its units.
    """

    order: str
    tracking_number: str | None = None
    units: list[Annotated[str, Meta(pattern=r"\A[0-9]{1,18}:[1-9][0-9]{0,8}\Z")]] = []

    def dispatch(self) -> Dispatch:
        """Return the shipment of these units; of all that is allocated, if no units were shown."""
        shown = [unit.split(":") for unit in self.units]
        items = [DispatchedItem(int(line), int(units)) for line, units in shown]
        return Dispatch(items=items or UNSET, tracking_number=self.tracking_number)


class ManyForm(Struct):
    """The orders to change."""

    orders: Annotated[list[ChosenOrder], Meta(max_length=_MOST)] = []


class ChosenRow(Struct, frozen=True):
    """An order in the forms. `allocated` units can leave now, `waiting` ones are back-ordered.

    `allocated` has the units by line id, `products` the same by SKU; `gross` is what an invoice would come to with VAT.
    """

    number: int
    name: str
    customer_reference: str
    deliver_to: str
    status: str | None
    allocated: Mapping[int, int]
    products: Sequence[tuple[str, int]]
    waiting: int
    gross: Decimal | None

    @property
    def units(self) -> int:
        """The units that can leave now."""
        return sum(self.allocated.values())


class ManyOrderPages(Struct, frozen=True):
    """The forms and the papers of several orders."""

    desk: PageDesk
    parts: OfficeParts

    @page(_PICKING_LIST, "Picking lists of several orders", scope="orders:read", query=ChosenOrders)
    async def show_picking_lists(self, call: Call) -> Response:
        return await self._printed(call, "picking lists", _PICKING_LIST, picking_lists, print_picking_list)

    @page(_PICK, "Pick several orders", scope="orders:read", query=ChosenOrders)
    async def show_picking(self, call: Call) -> Response:
        names = _chosen_orders(call)
        async with self.desk.reading() as tx:
            results = await picking_lists(tx, await self._orders(tx, names), self.desk.clock.now())
        lists = [result for result in results if not isinstance(result, DomainError)]
        failed = [
            _printability(name, result)
            for name, result in zip(names, results, strict=True)
            if isinstance(result, DomainError)
        ]
        lines = [(each, line) for each in lists for line in each.lines]
        lines.sort(key=lambda pair: by_shelf(pair[1]))
        query = urlencode([("order", each.order_reference) for each in lists])
        return self.desk.show(call, "orders/pick.html", lists=lists, lines=lines, outcomes=failed, query=query)

    @page(_PACKING_SLIP, "Packing slips of several orders", scope="orders:read", query=ChosenOrders)
    async def show_packing_slips(self, call: Call) -> Response:
        return await self._printed(
            call,
            "packing slips",
            _PACKING_SLIP,
            packing_slips,
            lambda slip: print_packing_slip(slip, self.parts.letterhead),
        )

    @page(_DISPATCH, "Dispatch several orders", scope="orders:write", roles=BY_WAREHOUSE, query=ChosenOrders)
    async def show_dispatch(self, call: Call) -> Response:
        return await self._show(call, "orders/dispatch_many.html", Filled(), dict(enumerate(_chosen_orders(call))))

    @form(_DISPATCH, "Dispatch several orders", scope="orders:write", roles=BY_WAREHOUSE)
    async def dispatch(self, call: Call) -> Response:
        invoice = self.parts.settings.invoice_each_dispatch

        async def work(tx: Transaction, order: ChosenOrder, now: datetime) -> str:
            with _in_words():
                await dispatch_order(tx, order.order, order.dispatch(), now, invoice=invoice)
            return "Dispatched"

        return await self._change(call, "orders/dispatch_many.html", work)

    @page(_INVOICE, "Invoice several orders", scope="billing:write", query=ChosenOrders)
    async def show_invoice(self, call: Call) -> Response:
        return await self._show(call, "orders/invoice_many.html", Filled(), dict(enumerate(_chosen_orders(call))))

    @form(_INVOICE, "Invoice several orders", scope="billing:write")
    async def invoice(self, call: Call) -> Response:
        async def work(tx: Transaction, order: ChosenOrder, now: datetime) -> str:
            issued = await issue_invoice(tx, order.order, self.parts.letterhead, now, part=False)
            return f"Invoice {issued.number}{'' if issued.new else ' already covers everything dispatched'}"

        return await self._change(call, "orders/invoice_many.html", work)

    async def _change(
        self, call: Call, template: str, work: Callable[[Transaction, ChosenOrder, datetime], Awaitable[str]]
    ) -> Response:
        """Change some of the orders. The response shows the outcomes, and continues with the others by itself.

        After the last ones, it shows the form again with the orders that were not changed.
        """
        submitted = await read_submitted(call)
        names = _names_of(submitted)
        try:
            orders = parse_form(submitted, ManyForm).orders
            if not orders:
                raise _none_chosen()
            _require_own_numbers(orders, names)
        except DomainError as error:
            return await self._show(call, template, Filled.of(submitted, error, STATUS[error.kind]), names)
        outcomes = _past(submitted)
        ready = {outcome.name for outcome in outcomes}
        left = [order for order in orders if order.order not in ready]
        now_changed = [order.order for order in left[:_AT_ONCE]]
        outcomes += await self.desk.change_each(
            call, submitted, now_changed, lambda tx, place, now: work(tx, left[place], now)
        )
        if len(left) > _AT_ONCE:
            return self.desk.show(
                call,
                "orders/going.html",
                outcomes=outcomes,
                total=len(orders),
                fields=[
                    (name, value)
                    for name, values in submitted.values.items()
                    for value in values
                    if name not in {_PAST, ONCE}
                ],
                past=[(_PAST, f"{int(each.done)} {each.name} {each.message}") for each in outcomes],
            )
        failed = {outcome.name for outcome in outcomes if not outcome.done}
        again = {number: name for number, name in names.items() if name in failed}
        return await self._show(call, template, Filled(submitted.values), again, outcomes)

    async def _show(
        self, call: Call, template: str, filled: Filled, names: Mapping[int, str], outcomes: Sequence[Outcome] = ()
    ) -> Response:
        """Show the form with orders, by the numbers of their rows, below the outcomes of an earlier form."""
        async with self.desk.reading() as tx:
            orders = await orders_with_references(tx, list(dict.fromkeys(names.values())))
            lines = await lines_of(tx, [order.id for order in orders.values()])
            confirmed = [order for order in orders.values() if isinstance(order, ConfirmedOrder)]
            gross = await gross_to_invoice(tx, confirmed, lines)
        unknown = [name for name in names.values() if name not in orders]
        if unknown and not outcomes:
            raise not_found("order", unknown[0])
        rows = [
            _row(number, orders[name], lines[orders[name].id], gross.get(orders[name].id))
            for number, name in names.items()
            if name in orders
        ]
        return self.desk.show(call, template, form=filled, rows=rows, outcomes=outcomes, done=_query_of_done(outcomes))

    async def _orders(self, tx: Transaction, names: Sequence[str]) -> list[AnyOrder]:
        known = await orders_with_references(tx, list(names))
        return [known.get(name) or await fetch_order(tx, name) for name in names]

    async def _printed(
        self,
        call: Call,
        what: str,
        path: str,
        papers_of: Callable[[Transaction, Sequence[AnyOrder], datetime], Awaitable[Sequence[Paper | DomainError]]],
        print_one: Callable[[Paper], bytes],
    ) -> Response:
        """Respond with the papers of the orders as one file; if some have none, with the reasons instead."""
        names = _chosen_orders(call)
        async with self.desk.reading() as tx:
            results = await papers_of(tx, await self._orders(tx, names), self.desk.clock.now())
        papers = [each for each in results if not isinstance(each, DomainError)]
        if len(papers) < len(results):
            outcomes = [_printability(name, each) for name, each in zip(names, results, strict=True)]
            return self.desk.show(
                call, "orders/unprinted.html", outcomes=outcomes, done=_query_of_done(outcomes), what=what, path=path
            )
        files = await asyncio.to_thread(lambda: joined([print_one(paper) for paper in papers]))
        return printable(files, f"{what.replace(' ', '-')}.pdf")


def _printability(name: str, result: Any) -> Outcome:
    if isinstance(result, DomainError):
        return Outcome(name, result.message, done=False)
    return Outcome(name, "Can be printed", done=True)


def _chosen_orders(call: Call) -> Sequence[str]:
    """Return the names of the orders that were ticked. Raises DomainError (invalid): none, or too many."""
    names = [name for each in call.query(ChosenOrders).order if (name := text("order", each))]
    names = list(dict.fromkeys(names))
    if not names:
        raise _none_chosen()
    if len(names) > _MOST:
        raise invalid("order", f"choose at most {_MOST} orders at once")
    return names


def _none_chosen() -> DomainError:
    return invalid("order", "tick the orders in the list first")


def _require_own_numbers(orders: Sequence[ChosenOrder], names: Mapping[int, str]) -> None:
    """Raise DomainError (invalid), by the rows of the form, for tracking numbers that were scanned at a wrong order."""
    row_of = {name: number for number, name in names.items()}
    first: dict[str, str] = {}
    errors = []
    for order in orders:
        number = (order.tracking_number or "").strip().upper()
        field = f"orders[{row_of[order.order]}].tracking_number"
        if number and number in {name.upper() for name in row_of}:
            errors.append(FieldError(field, f"is the number of the order {number}"))
        elif number and (before := first.setdefault(number, order.order)) != order.order:
            errors.append(FieldError(field, f"is at {before} too: record them one by one if it is one parcel"))
    if errors:
        raise invalid_fields(errors)


@contextmanager
def _in_words() -> Iterator[None]:
    """Run a block; its errors call fields of a shipment by their labels, and units by their products."""
    try:
        yield
    except DomainError as error:
        if not error.field_errors:
            raise
        messages = [
            field_error.message
            if field_error.field.startswith("items[")
            else f"{label(field_error.field)} {field_error.message}"
            for field_error in error.field_errors
        ]
        raise DomainError(error.kind, "; ".join(messages), code=error.code) from error


def _past(submitted: Submitted) -> list[Outcome]:
    """Return the outcomes of the orders that were changed before; the page sends them back."""
    past = [value.split(" ", 2) for value in submitted.values.get(_PAST, ())]
    return [Outcome(parts[1], parts[2], done=parts[0] == "1") for parts in past if len(parts) == _PARTS]


def _names_of(submitted: Submitted) -> dict[int, str]:
    """Return the names of the orders in a form, by the numbers of their rows."""
    numbers = row_numbers(submitted.values, "orders")[:_MOST]
    name_of_row = {number: submitted.one(f"orders-{number}-order") for number in numbers}
    return {number: name for number, name in name_of_row.items() if name}


def _query_of_done(outcomes: Sequence[Outcome]) -> str:
    return urlencode([("order", outcome.name) for outcome in outcomes if outcome.done])


def _row(number: int, order: AnyOrder, lines: Sequence[OrderLine], gross: Decimal | None) -> ChosenRow:
    is_confirmed = isinstance(order, ConfirmedOrder)
    leaving = [line for line in lines if line.allocated and is_confirmed]
    return ChosenRow(
        number=number,
        name=order.name,
        customer_reference=order.customer_reference,
        deliver_to=delivery_of(order).name if isinstance(order, ConfirmedOrder) else "",
        status=order.status if isinstance(order, ConfirmedOrder) else None,
        allocated={line.id: line.allocated for line in leaving},
        products=[(line.sku, line.allocated) for line in leaving],
        waiting=sum(line.back_ordered for line in lines) if is_confirmed else 0,
        gross=gross,
    )
