"""`/order/{reference}/cancel`: cancels an order or units of it, and shows its new totals before that."""

from datetime import datetime
from decimal import Decimal

from msgspec import UNSET, Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled, in_rows
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, Kind, named_by
from tradecounter.kit.money import NOTHING
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import ItemId, NamedUnits, Units
from tradecounter.orders.pages.staff.steps import reference_of
from tradecounter.orders.reseller_wire import Cancellation
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import ShownOrder, shown_as, shown_order

_NO_REASON = "not given yet"
_TOLD = "The customer gets an e-mail."


class CancelledLine(Struct):
    """A line in the form; a line without a quantity stays."""

    id: ItemId
    quantity: Units | None = None


class CancelForm(Struct, kw_only=True):
    """What to cancel, and why: units of lines, or everything that is left."""

    reason: str
    items: list[CancelledLine] = []
    everything: bool = False

    @property
    def cancellation(self) -> Cancellation:
        """Return the request. Raises DomainError (invalid) unless it has either units or everything."""
        units = [NamedUnits(line.id, line.quantity) for line in self.items if line.quantity is not None]
        if units and self.everything:
            raise DomainError(Kind.INVALID, "give units or tick “All that is left”, not both")
        if not units and not self.everything:
            raise DomainError(Kind.INVALID, "say how many units are cancelled, or tick “All that is left”")
        return Cancellation(self.reason, units or UNSET)

    @property
    def rows(self) -> list[int]:
        """The numbers of the lines with cancelled units."""
        return [number for number, line in enumerate(self.items) if line.quantity is not None]


class UnfinishedForm(CancelForm, kw_only=True):
    """The form while it is filled in."""

    reason: str = _NO_REASON


class Totals(Struct, frozen=True):
    """The totals of an order for its customer, with the order's status; zero for a cancelled order."""

    goods: Decimal
    carriage: Decimal
    tax: Decimal
    total: Decimal
    status: str
    is_cancelled: bool

    @classmethod
    def of(cls, order: ShownOrder) -> "Totals":
        """Return an order's totals."""
        status = order.order.status or order.order.state
        if order.order.state == "cancelled":
            return cls(NOTHING, NOTHING, NOTHING, NOTHING, status, is_cancelled=True)
        goods = order.order.cost_net
        return cls(goods, order.shipping_net, order.tax, order.gross, status, is_cancelled=False)


class CancelPages(Struct, frozen=True):
    """The form that cancels an order or units of it."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order/{reference}/cancel", "Cancel an order", scope="orders:write")
    async def show_cancel(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @form("/order/{reference}/cancel", "Cancel an order", scope="orders:write")
    async def cancel(self, call: Call) -> Response:
        reference = reference_of(call)

        async def work(tx: Transaction, body: CancelForm, now: datetime) -> Totals:
            with named_by(in_rows("items", body.rows, {"id": "quantity"})):
                await cancel_order(tx, reference, body.cancellation, now)
            return Totals.of(await shown_as(tx, self.parts.orders, await fetch_order(tx, reference), now))

        return await self.desk.change_as_seen(
            call,
            CancelForm,
            work,
            unfinished=UnfinishedForm,
            again=lambda filled, then: self._show(call, filled, then),
            facts=lambda then: then,
            to=f"/order/{reference}",
            done=lambda then: f"{'The order is' if then.is_cancelled else 'The units are'} cancelled. {_TOLD}",
        )

    async def _show(self, call: Call, filled: Filled, then: Totals | None = None) -> Response:
        async with self.desk.reading() as tx:
            order = await shown_order(tx, self.parts.orders, call, self.desk.clock.now())
        return self.desk.show(
            call,
            "orders/cancel.html",
            form=filled,
            shown=order,
            now=Totals.of(order),
            then=then,
            seen="" if then is None else seen_of(then),
        )
