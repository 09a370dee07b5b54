"""`/order/{reference}/amend` and `/cancel`: changes of an order, shown with its new totals before they are made."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.customers.operations.staff import present_customer
from tradecounter.customers.operations.wire import CustomerCredit
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled, Submitted, in_rows, read_submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PREVIEW, PageDesk, seen_of
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import require_right
from tradecounter.kit.errors import DomainError, Kind, named_by
from tradecounter.kit.json_text import to_json
from tradecounter.kit.money import NOTHING
from tradecounter.kit.numbers import Pounds
from tradecounter.orders.amend_order import amend_order
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import ItemId, NamedUnits, Units
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.orders.pages.both.form_lines import Row, product_rows, with_picked
from tradecounter.orders.pages.both.order_form import TypedAddress, address_fields
from tradecounter.orders.pages.staff.steps import reference_of
from tradecounter.orders.reseller_wire import AmendedItem, AmendOrderRequest, Cancellation, OverrideCredit, Reason
from tradecounter.orders.wire import MOST_UNITS, Reference, ShippingChoice
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import ShownOrder, shown_as, shown_order

_GROUP, _BLANK_ROWS = "added", 2
_NOTHING_DIFFERS = "nothing differs from the order as it is"

Quantity = Annotated[int, Meta(ge=0, le=MOST_UNITS)]


class ChangedLine(Struct):
    """A line in the form, with the values that it had when the form was made."""

    id: ItemId
    had: Quantity
    cost: Pounds
    quantity: Quantity | None = None
    unit_cost: Pounds | None = None


class AddedLine(Struct):
    """A new line in the form."""

    sku: str
    quantity: Quantity = 1
    unit_cost: Pounds | None = None


class AmendForm(Struct):
    """The whole order as it should be; only what differs is changed."""

    items: list[ChangedLine] = []
    added: list[AddedLine] = []
    customer_reference: Reference | None = None
    shipping_method: int | None = None
    shipping_address: TypedAddress | None = None
    reason: Reason = ""
    override_credit: OverrideCredit | None = None


class Amended(Struct, frozen=True):
    """An order as it would be, with the customer's credit then."""

    shown: ShownOrder
    credit: CustomerCredit

    def item(self, item_id: int) -> int | None:
        """Return the units of a line that would wait for stock; None if the line would be gone."""
        return next((line.item.quantity_back_ordered for line in self.shown.items if line.item.id == item_id), None)


class AmendPages(Struct, frozen=True):
    """The form that amends an order."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order/{reference}/amend", "Amend an order", scope="orders:write", roles=SELLERS)
    async def show_amend(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @form("/order/{reference}/amend", "Amend an order", scope="orders:write", roles=SELLERS)
    async def amend(self, call: Call) -> Response:
        submitted = await read_submitted(call)
        if (pick := with_picked(submitted, _GROUP)) is not None:
            return await self._show(call, pick[1], chosen=pick[0])

        async def work(tx: Transaction, body: AmendForm, now: datetime) -> Amended:
            return await self._amended(tx, call, body, now)

        if submitted.one(PREVIEW):
            amended, filled = await self.desk.preview(call, AmendForm, work, await self._without_words(call, submitted))
            is_typed = submitted.one(PREVIEW) == "live" and filled.message == _NOTHING_DIFFERS  # words of a product
            message = "" if is_typed else filled.message
            return await self._show(call, replace(filled, values=submitted.values, message=message), amended)
        return await self.desk.change(
            call,
            AmendForm,
            work,
            again=lambda filled: self._show(call, filled),
            to=f"/order/{reference_of(call)}",
            done="The order is amended. The customer gets an e-mail.",
            submitted=submitted,
        )

    async def _amended(self, tx: Transaction, call: Call, body: AmendForm, now: datetime) -> Amended:
        if body.override_credit is not None:
            require_right(call.request, "billing:write")
        before = await fetch_order(tx, reference_of(call))
        items, places = _items(body)
        request = AmendOrderRequest(
            items=items,
            shipping_address=_address(body.shipping_address, before.shipping_address),
            shipping_method=_method(body.shipping_method, before.shipping_method),
            customer_reference=_changed(body.customer_reference, before.customer_reference),
            reason=body.reason,
            override_credit=body.override_credit,
        )
        if request.changes_nothing:
            raise DomainError(Kind.INVALID, _NOTHING_DIFFERS)
        context = self.parts.contexts.of(before.customer_id, now)
        with named_by(_named(places)):
            order, _ = await amend_order(tx, reference_of(call), request, context)
        shown = await shown_as(tx, self.parts.orders, order, now)
        return Amended(shown, (await present_customer(tx, shown.account, now)).credit)

    async def _without_words(self, call: Call, submitted: Submitted) -> Submitted:
        """Return a form without the new lines that name no product yet, of which nothing can be shown."""
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            customer_id = (await fetch_order(tx, reference_of(call))).customer_id
            rows = await self._added(tx, customer_id, submitted.values, now)
        vague = [f"{_GROUP}-{row.number}-" for row in rows if row.found]
        kept = {name: values for name, values in submitted.values.items() if not name.startswith(tuple(vague))}
        return Submitted(kept, submitted.files)

    async def _added(
        self, tx: Transaction, customer_id: int, values: Mapping[str, Sequence[str]], now: datetime
    ) -> list[Row]:
        whole = await self.parts.views.of(customer_id)
        return await product_rows(tx, values, _GROUP, whole, customer_id, blank=_BLANK_ROWS, now=now)

    async def _show(
        self, call: Call, filled: Filled, amended: Amended | None = None, chosen: int | None = None
    ) -> Response:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            shown = await shown_order(tx, self.parts.orders, call, now)
            customer = await present_customer(tx, shown.account, now)
            added = await self._added(tx, shown.account.id, filled.values, now)
        if not (shown.is_confirmed and shown.left) and not filled.message:
            raise DomainError(Kind.CONFLICT, f"{shown.name} has no units left that could be amended")
        return self.desk.show(
            call,
            "orders/amend.html",
            form=filled,
            shown=shown,
            customer=customer,
            amended=amended,
            fields=address_fields(shown.order.shipping_address),
            added=added,
            picked=chosen,
            options=[(option.id, f"{option.name}, £{option.cost_net}") for option in shown.found.shipping_options],
        )


def _items(body: AmendForm) -> tuple[list[AmendedItem], list[str]]:
    """Return what differs, and the place of each item in the form."""
    items, places = [], []
    for number, line in enumerate(body.items):
        quantity = None if line.quantity in {None, line.had} else line.quantity
        cost = None if line.unit_cost in {None, line.cost} else line.unit_cost
        if quantity is not None or cost is not None:
            items.append(AmendedItem(id=line.id, quantity=quantity, unit_cost=cost))
            places.append(f"items[{number}]")
    for number, added in enumerate(body.added):
        items.append(AmendedItem(sku=added.sku, quantity=added.quantity, unit_cost=added.unit_cost))
        places.append(f"added[{number}]")
    return items, places


def _named(places: Sequence[str]) -> Callable[[str], str]:
    """Return how the form names the places of a request whose items are at `places` of the form."""

    def name(field: str) -> str:
        item, dot, rest = field.partition(".")
        found = re.fullmatch(r"items\[(\d+)\]", item)
        if found is None or int(found[1]) >= len(places):
            return field
        return places[int(found[1])] + dot + ("quantity" if rest == "id" else rest)

    return name


def _changed(value: str | None, before: str) -> str | None:
    return None if value is None or value == before else value


def _method(method: int | None, before: int | None) -> ShippingChoice | None:
    return None if method is None or method == before else ShippingChoice(method)


def _address(typed: TypedAddress | None, before: CustomerAddress) -> Raw:
    """Return a delivery address that differs from the one before, as JSON; null stands for the same."""
    if typed is None:
        return Raw(b"null")
    fields = TypedAddress.__struct_fields__
    same = all((getattr(typed, name) or "") == (getattr(before, name) or "") for name in fields)
    return Raw(b"null") if same else Raw(to_json(typed))


_NO_REASON = "not given yet"


class CancelledLine(Struct):
    """A line in the form; without a quantity, nothing of it is cancelled."""

    id: ItemId
    quantity: Units | None = None


class CancelForm(Struct, kw_only=True):
    """What is cancelled, and why: units of lines, or everything that is left."""

    reason: str
    items: list[CancelledLine] = []
    everything: bool = False

    @property
    def cancellation(self) -> Cancellation:
        """Return what is cancelled. Raises DomainError (invalid) unless it is either units or everything."""
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
    """What a customer pays for an order, with the order's status; nothing for a cancelled one."""

    goods: Decimal
    carriage: Decimal
    tax: Decimal
    total: Decimal
    status: str

    @classmethod
    def of(cls, shown: ShownOrder) -> "Totals":
        """Return an order's totals."""
        status = shown.order.status or shown.order.state
        if shown.order.state == "cancelled":
            return cls(NOTHING, NOTHING, NOTHING, NOTHING, status)
        return cls(shown.order.cost_net, shown.shipping_net, shown.tax, shown.gross, status)


class CancelPages(Struct, frozen=True):
    """The form that cancels an order or units of it."""

    desk: PageDesk
    parts: OfficeParts

    @page("/order/{reference}/cancel", "Cancel an order", scope="orders:write")
    async def show_cancel(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @form("/order/{reference}/cancel", "Cancel an order", scope="orders:write")
    async def cancel(self, call: Call) -> Response:
        submitted, reference = await read_submitted(call), reference_of(call)

        async def work(tx: Transaction, body: CancelForm, now: datetime) -> Totals:
            with named_by(in_rows("items", body.rows, {"id": "quantity"})):
                await cancel_order(tx, reference, body.cancellation, now)
            return Totals.of(await shown_as(tx, self.parts.orders, await fetch_order(tx, reference), now))

        async def again(filled: Filled, then: Totals | None) -> Response:
            if then is None:
                then, _ = await self.desk.preview(call, UnfinishedForm, work, submitted)
            return await self._show(call, filled, then)

        if submitted.one(PREVIEW):
            then, filled = await self.desk.preview(call, UnfinishedForm, work, submitted)
            return await self._show(call, filled, then)
        return await self.desk.change_as_seen(
            call,
            CancelForm,
            work,
            again=again,
            facts=lambda then: then,
            to=f"/order/{reference}",
            done="The units are cancelled. The customer gets an e-mail.",
            submitted=submitted,
        )

    async def _show(self, call: Call, filled: Filled, then: Totals | None = None) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_order(tx, self.parts.orders, call, self.desk.clock.now())
        return self.desk.show(
            call,
            "orders/cancel.html",
            form=filled,
            shown=shown,
            now=Totals.of(shown),
            then=then,
            seen="" if then is None else seen_of(then),
        )
