"""`/order/many`: papers, dispatch and invoices of several orders at once. Each order is changed whole or not at all."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.billing.issue_invoice import issue_invoice
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.forms import Filled, parse_form, read_submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import Outcome, PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.letterhead.join_documents import joined
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.operations.staff import BY_WAREHOUSE
from tradecounter.orders.pages.staff.papers import printable
from tradecounter.orders.queries.lines import lines_of
from tradecounter.orders.states import AnyOrder, ConfirmedOrder
from tradecounter.parts.back_office import OfficeParts
from tradecounter.shipments.dispatch_order import dispatch_order
from tradecounter.shipments.packing_slip import packing_slip
from tradecounter.shipments.papers import delivery_of
from tradecounter.shipments.picking_list import picking_list
from tradecounter.shipments.print_papers import print_packing_slip, print_picking_list
from tradecounter.shipments.requests import Dispatch, DispatchRequest

Paper = TypeVar("Paper")

_MOST = 50
_PATH = "/order/many"
_PICKING_LIST, _PACKING_SLIP = f"{_PATH}/picking-list", f"{_PATH}/packing-slip"
_DISPATCH, _INVOICE = f"{_PATH}/dispatch", f"{_PATH}/invoice"


class ChosenOrders(Struct, frozen=True):
    """The orders that were ticked."""

    order: Annotated[tuple[str, ...], Meta(description="References.")] = ()


class ChosenOrder(Struct):
    """An order in the form, and the number on its parcel."""

    order: str
    tracking_number: str | None = None


class ManyForm(Struct):
    """The orders to change."""

    orders: Annotated[list[ChosenOrder], Meta(max_length=_MOST)] = []


@dataclass(frozen=True, slots=True)
class ChosenRow:
    """What the forms show of an order. `units` can leave now, `waiting` are back-ordered."""

    name: str
    customer_reference: str
    deliver_to: str
    status: str | None
    units: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ManyOrderPages:
    """The forms and the papers of several orders."""

    desk: PageDesk
    parts: OfficeParts

    @page(_PICKING_LIST, "Picking lists of several orders", scope="orders:read", query=ChosenOrders)
    async def show_picking_lists(self, call: Call) -> Response:
        return await self._printed(call, "picking lists", _PICKING_LIST, picking_list, print_picking_list)

    @page(_PACKING_SLIP, "Packing slips of several orders", scope="orders:read", query=ChosenOrders)
    async def show_packing_slips(self, call: Call) -> Response:
        return await self._printed(
            call,
            "packing slips",
            _PACKING_SLIP,
            packing_slip,
            lambda slip: print_packing_slip(slip, self.parts.letterhead),
        )

    @page(_DISPATCH, "Dispatch several orders", scope="orders:write", roles=BY_WAREHOUSE, query=ChosenOrders)
    async def show_dispatch(self, call: Call) -> Response:
        return await self._show(call, "orders/dispatch_many.html", Filled(), _chosen(call))

    @form(_DISPATCH, "Dispatch several orders", scope="orders:write", roles=BY_WAREHOUSE)
    async def dispatch(self, call: Call) -> Response:
        invoice = self.parts.settings.invoice_each_dispatch

        async def work(tx: Transaction, order: ChosenOrder, now: datetime) -> str:
            request = DispatchRequest.of(Dispatch(tracking_number=order.tracking_number), invoice=invoice)
            await dispatch_order(tx, order.order, request, now)
            return "Dispatched"

        return await self._change(call, "orders/dispatch_many.html", work)

    @page(_INVOICE, "Invoice several orders", scope="billing:write", query=ChosenOrders)
    async def show_invoice(self, call: Call) -> Response:
        return await self._show(call, "orders/invoice_many.html", Filled(), _chosen(call))

    @form(_INVOICE, "Invoice several orders", scope="billing:write")
    async def invoice(self, call: Call) -> Response:
        async def work(tx: Transaction, order: ChosenOrder, now: datetime) -> str:
            issued = await issue_invoice(tx, order.order, self.parts.letterhead, now, part=False)
            return f"Invoice {issued.number}" if issued.new else f"Invoice {issued.number} has it all already"

        return await self._change(call, "orders/invoice_many.html", work)

    async def _change(
        self, call: Call, template: str, work: Callable[[Transaction, ChosenOrder, datetime], Awaitable[str]]
    ) -> Response:
        submitted = await read_submitted(call)
        try:
            orders = parse_form(submitted, ManyForm).orders
            if not orders:
                raise _none_chosen()
        except DomainError as error:
            names = [values[-1] for field, values in submitted.values.items() if field.endswith("-order")]
            return await self._show(call, template, Filled.of(submitted, error, STATUS[error.kind]), names[:_MOST])
        outcomes = await self.desk.change_each(
            call, submitted, [order.order for order in orders], lambda tx, place, now: work(tx, orders[place], now)
        )
        return self._show_outcomes(call, template, outcomes)

    async def _show(self, call: Call, template: str, filled: Filled, names: Sequence[str]) -> Response:
        async with self.desk.reading() as tx:
            found = [await fetch_order(tx, name) for name in dict.fromkeys(names)]
            lines = await lines_of(tx, [order.id for order in found])
        rows = [
            _row(order, sum(x.allocated for x in lines[order.id]), sum(x.back_ordered for x in lines[order.id]))
            for order in found
        ]
        return self.desk.show(call, template, form=filled, rows=rows, outcomes=[])

    async def _printed(
        self,
        call: Call,
        what: str,
        path: str,
        paper: Callable[[Transaction, str, datetime], Awaitable[Paper]],
        print_one: Callable[[Paper], bytes],
    ) -> Response:
        """Respond with the papers of the orders as one file; if some have none, with the reasons instead."""
        now, papers, outcomes = self.desk.clock.now(), [], []
        async with self.desk.reading() as tx:
            for name in _chosen(call):
                try:
                    papers.append(await paper(tx, name, now))
                    outcomes.append(Outcome(name, "Can be printed", done=True))
                except DomainError as error:
                    outcomes.append(Outcome(name, error.message, done=False))
        if len(papers) < len(outcomes):
            return self._show_outcomes(call, "orders/unprinted.html", outcomes, what=what, path=path)
        files = await asyncio.to_thread(lambda: joined([print_one(each) for each in papers]))
        return printable(files, f"{what.replace(' ', '-')}.pdf")

    def _show_outcomes(
        self, call: Call, template: str, outcomes: Sequence[Outcome], *, what: str = "", path: str = ""
    ) -> Response:
        done = [outcome.name for outcome in outcomes if outcome.done]
        failed = [outcome.name for outcome in outcomes if not outcome.done]
        links: dict[str, Any] = {"done": _query(done), "failed": _query(failed), "what": what, "path": path}
        return self.desk.show(call, template, form=Filled(), rows=[], outcomes=outcomes, **links)


def _chosen(call: Call) -> Sequence[str]:
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


def _query(names: Sequence[str]) -> str:
    return urlencode([("order", name) for name in names])


def _row(order: AnyOrder, units: int, waiting: int) -> ChosenRow:
    confirmed = isinstance(order, ConfirmedOrder)
    return ChosenRow(
        name=order.name,
        customer_reference=order.customer_reference,
        deliver_to=delivery_of(order).name if isinstance(order, ConfirmedOrder) else "",
        status=order.status if isinstance(order, ConfirmedOrder) else None,
        units=units if confirmed else 0,
        waiting=waiting if confirmed else 0,
    )
