"""`/order/{reference}/amend`: amends an order, and shows its new totals before that."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, TypeVar

from msgspec import Meta, Raw, Struct
from msgspec.structs import asdict, replace
from starlette.responses import Response

from tradecounter.customers.operations.staff import present_customer
from tradecounter.customers.operations.wire import CustomerCredit
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import Submitted, read_submitted
from tradecounter.edge.pages.countries import COUNTRIES
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PREVIEW, PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import require_right
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import DomainError, Kind, named_by
from tradecounter.kit.json_text import to_json
from tradecounter.kit.numbers import Pounds
from tradecounter.orders.amend_order import amend_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import ItemId
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.orders.pages.both.form_lines import ProductRow, product_rows, with_picked
from tradecounter.orders.pages.both.order_form import TypedAddress
from tradecounter.orders.pages.staff.steps import reference_of
from tradecounter.orders.reseller_wire import AmendedItem, AmendOrderRequest, OverrideCredit, Reason
from tradecounter.orders.wire import MOST_UNITS, Reference, ShippingChoice
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import ShownOrder, shown_as, shown_order

_GROUP, _BLANK_ROWS = "added", 2
_NOTHING_DIFFERS = "nothing differs from the order as it is"

Value = TypeVar("Value")
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
    """The whole order as it should be; only differences from what the form has shown are changed."""

    items: list[ChangedLine] = []
    added: list[AddedLine] = []
    customer_reference: Reference | None = None
    had_reference: str | None = None
    shipping_method: int | None = None
    had_method: int | None = None
    shipping_address: TypedAddress | None = None
    had_address: str | None = None
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
        method = _changed(body.shipping_method, body.had_method or before.shipping_method)
        request = AmendOrderRequest(
            items=items,
            shipping_address=_address(body.shipping_address, body.had_address or _digest(before.shipping_address)),
            shipping_method=None if method is None else ShippingChoice(method),
            customer_reference=_changed(body.customer_reference, body.had_reference or before.customer_reference),
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
        """Return a form without the new lines that name no product yet, which have nothing to show."""
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            customer_id = (await fetch_order(tx, reference_of(call))).customer_id
            rows = await self._added(tx, customer_id, submitted.values, now)
        vague = [f"{_GROUP}-{row.number}-" for row in rows if row.found]
        kept = {name: values for name, values in submitted.values.items() if not name.startswith(tuple(vague))}
        return replace(submitted, values=kept)

    async def _added(
        self, tx: Transaction, customer_id: int, values: Mapping[str, Sequence[str]], now: datetime
    ) -> list[ProductRow]:
        whole = await self.parts.views.of(customer_id)
        return await product_rows(tx, values, _GROUP, whole, customer_id, blank=_BLANK_ROWS, now=now)

    async def _show(
        self, call: Call, filled: Filled, amended: Amended | None = None, chosen: int | None = None
    ) -> Response:
        now = self.desk.clock.now()
        async with self.desk.reading() as tx:
            order = await shown_order(tx, self.parts.orders, call, now)
            customer = await present_customer(tx, order.account, now)
            added = await self._added(tx, order.account.id, filled.values, now)
        if "amend" not in order.steps and not filled.message:
            raise DomainError(Kind.CONFLICT, f"{order.name} has no units left that could be amended")
        return self.desk.show(
            call,
            "orders/amend.html",
            form=filled,
            shown=order,
            customer=customer,
            amended=amended,
            address=asdict(order.order.shipping_address),
            countries=COUNTRIES,
            had_address=_digest(order.order.shipping_address),
            added=added,
            picked=chosen,
            options=[(option.id, f"{option.name}, £{option.cost_net}") for option in order.found.shipping_options],
        )


def _items(body: AmendForm) -> tuple[list[AmendedItem], list[str]]:
    """Return the differences as items of a request, and the place of each item in the form."""
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
        match = re.fullmatch(r"items\[(\d+)\]", item)
        if match is None or int(match[1]) >= len(places):
            return field
        return places[int(match[1])] + dot + ("quantity" if rest == "id" else rest)

    return name


def _changed(value: Value | None, before: Value | None) -> Value | None:
    return None if value == before else value


def _digest(address: TypedAddress | CustomerAddress) -> str:
    return seen_of([getattr(address, name) or "" for name in TypedAddress.__struct_fields__])


def _address(typed: TypedAddress | None, before: str) -> Raw:
    """Return a typed address as JSON, or null if nobody has changed it. `before` is the digest of the shown address."""
    return Raw(b"null" if typed is None or _digest(typed) == before else to_json(typed))
