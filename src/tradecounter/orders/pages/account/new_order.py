"""`/account/new-order`: the form of a new order or quote, with the lines of the user's basket.

All of it is sent with every button, which saves the lines as the basket unless one of them is wrong.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, UnsetType, to_builtins
from starlette.datastructures import UploadFile
from starlette.responses import Response

from tradecounter.baskets.change_basket import NotedItem, noted, save_basket
from tradecounter.baskets.queries import BasketLine, lines_of_basket
from tradecounter.baskets.summary import summarise
from tradecounter.credit.queries import credit_room
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.wire import SavedAddress
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.page_kit.forms import Filled, Submitted, form_name, parse_form, read_submitted, without_copies
from tradecounter.edge.page_kit.values import plural
from tradecounter.edge.pages.countries import COUNTRIES
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_view import BASKET
from tradecounter.edge.pages.people import BUYER, user_of
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.json_text import to_json
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.money import NOTHING, percentage
from tradecounter.kit.numbers import read_id
from tradecounter.orders.add_note import add_own_note
from tradecounter.orders.create.create_for_customer import create_for_customer, quote_for_customer
from tradecounter.orders.create.draft import unknown_skus
from tradecounter.orders.create.quick_lines import text_of_file
from tradecounter.orders.create.read_request import read_request
from tradecounter.orders.pages.account.form_lines import (
    FormLines,
    Line,
    has_picked,
    lines_of_form,
    lines_with,
    named_skus,
    quick_rows,
    typed_lines,
)
from tradecounter.orders.pages.account.offers import priced, quick_entry, search
from tradecounter.orders.policy import OrderContext
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.states import AnyOrder, NumberedOrder, OrderBase, PendingOrder
from tradecounter.orders.wire import Reference
from tradecounter.orders.withdraw_order import fetch_own_order_by_name
from tradecounter.parts.account import AccountParts
from tradecounter.storefront.current_view import current_view
from tradecounter.storefront.view import CustomerView

PATH = "/account/new-order"
_MOST_BYTES = 2 * 1024 * 1024
REPLACES = "replaces"  # the field with the code of the pending order that the new one replaces
SEEN_LINE = "seen-line"  # the field with the greatest position of the basket's lines that the form shows
ANOTHER, SAME = "new", "same"  # instead of the id of a saved address


class Prefill(Struct, frozen=True):
    """What a new form begins with: the lines of an earlier order or quote, a product, or the wish for a quote."""

    again: str | None = None
    add: str | None = None
    quote: Literal["true"] | None = None


class Lines(Struct):
    """The lines of the form."""

    items: list[NotedItem] = []


class AddressChoice(Struct):
    """A saved address, or another one with its fields."""

    id: str = ANOTHER
    contact_name: str | None = None
    company_name: str | None = None
    street_one: str | None = None
    street_two: str | None = None
    street_three: str | None = None
    city: str | None = None
    zip: str | None = None
    state: str | None = None
    country_code: str | None = None
    contact_number: str | None = None
    tax_number: str | None = None

    def in_json(self) -> dict[str, Any]:
        """Return the address as the API's body has it."""
        if (saved := read_id(self.id)) is not None:
            return {"id": saved}
        return _without_none({name: value for name, value in to_builtins(self).items() if name != "id"})


class Contact(Struct):
    """Where the news of an order go."""

    email_address: str | None = None
    phone_number: str | None = None


class OrderForm(Struct, kw_only=True):
    """The whole form."""

    customer_reference: Reference
    items: list[NotedItem] = []
    shipping_address: AddressChoice
    billing_address: AddressChoice
    external_customer_id: str | None = None
    order_notifications: Contact | None = None
    courier_notifications: Contact | None = None
    replaces: str | None = None

    def in_json(self) -> bytes:
        """Return the body of `POST /order`."""
        shipping = self.shipping_address.in_json()
        billing = shipping if self.billing_address.id == SAME else self.billing_address.in_json()
        body = {
            "customer_reference": self.customer_reference,
            "items": [{"sku": item.sku, "quantity": item.quantity} for item in self.items],
            "shipping_address": shipping,
            "billing_address": billing,
            "external_customer_id": self.external_customer_id,
            "order_notifications": self.order_notifications and _without_none(to_builtins(self.order_notifications)),
            "courier_notifications": self.courier_notifications
            and _without_none(to_builtins(self.courier_notifications)),
        }
        return to_json(_without_none(body))


@dataclass(frozen=True, slots=True)
class NewOrderPages:
    """The form of a new order."""

    desk: PageDesk
    parts: AccountParts

    @page(PATH, "New order", user_roles=BUYER, query=Prefill)
    async def show_form(self, call: Call) -> Response:
        wanted, user = call.query(Prefill), user_of(call)
        async with self.desk.reading() as tx:
            stored = await lines_of_basket(tx, user.id)
        items = [(line.sku, line.quantity, line.note) for line in stored]
        values = _first_values(quote=wanted.quote is not None)
        if wanted.again is not None:
            items, values = await self._again(call, wanted.again, items, values)
        elif wanted.add is not None:
            items.append((wanted.add, 1, ""))
        lines = lines_with(items)
        note = _NOT_SAVED if (wanted.again or wanted.add) and REPLACES not in values else ""
        filled = Filled(lines.values(values) if items else values)
        return await self._show(call, lines, filled, _last(stored), note=note)

    @form(PATH, "New order", user_roles=BUYER)
    async def send_form(self, call: Call) -> Response:
        submitted = await read_submitted(call, most_bytes=_MOST_BYTES, most_files=1)
        uploaded, problem = await _read_file(submitted)
        async with self.desk.reading() as tx:
            # The lines of a form that replaces an order are those of the order, not the basket's.
            stored = [] if submitted.one(REPLACES) else await lines_of_basket(tx, user_of(call).id)
            named = [*named_skus(submitted, uploaded), *(line.sku for line in stored)]
            view = await self._view(tx, call, named)
        if submitted.one("preview"):
            return await self._as_typed(call, submitted, stored, view)
        lines = lines_of_form(submitted, uploaded, view)
        has_new, seen = lines.add_from_elsewhere(stored, _seen(submitted)), _last(stored)
        changed, step = Submitted(lines.values(submitted.values)), submitted.one("do")
        if step not in {"order", "quote"} or problem or lines.bad_lines or has_new:
            checked = _checked(changed, lines, view, problem)
            if not checked.errors.keys() - {"list"}:
                seen = await self._save(call, lines, view, submitted)
            focus = (
                "found" if step == "search" and submitted.one("q") else "quick" if has_picked(submitted) else "lines"
            )
            return await self._show(call, lines, checked, seen, focus, _ADDED_ELSEWHERE if has_new else "")

        async def work(tx: Transaction, body: OrderForm, now: datetime) -> AnyOrder:
            if not body.items:
                raise DomainError(Kind.INVALID, "add at least one product")
            context = self.parts.creation.context(call.customer_id, self.parts.views.for_order(call.customer_id))
            with without_copies("billing_address", "shipping_address", copied=body.billing_address.id == SAME):
                made = await _created(tx, body, context, is_quote=step == "quote")
            await add_own_note(tx, made, noted(body.items), now)
            if body.replaces is None:
                left = [] if step == "quote" else lines.items(view)  # what a quote asks for leaves the basket
                await save_basket(tx, user_of(call).id, view, left)
            return made

        return await self.desk.change(
            call,
            OrderForm,
            work,
            again=lambda filled: self._show(call, lines, filled, seen),
            to=_page_of,
            done=lambda made: _QUOTE_SENT if made.kind == "quote" else "",
            submitted=changed,
        )

    async def _as_typed(
        self, call: Call, submitted: Submitted, stored: Sequence[BasketLine], view: CustomerView
    ) -> Response:
        """Show the prices of the lines as they are typed, and save those that are right as the basket."""
        lines, seen = typed_lines(submitted), _seen(submitted)
        wanted = FormLines([line for line in lines.lines if line.quantity != "0"])
        is_right = not _checked(Submitted(wanted.values({})), wanted, view, None).errors
        if is_right and not wanted.add_from_elsewhere(stored, seen):
            seen = await self._save(call, wanted, view, submitted)
        return await self._show(call, lines, Filled(submitted.values), seen or 0, typed=quick_rows(submitted))

    async def _save(self, call: Call, lines: FormLines, view: CustomerView, submitted: Submitted) -> int:
        """Save the lines as the basket, and return the greatest position in it."""
        if submitted.one(REPLACES):
            return 0
        user = user_of(call)
        async with transaction(self.desk.database, call.actor) as tx:
            await save_basket(tx, user.id, view, lines.items(view))
            return _last(await lines_of_basket(tx, user.id))

    async def _again(
        self, call: Call, name: str, items: list[tuple[str, int, str]], values: dict[str, Sequence[str]]
    ) -> tuple[list[tuple[str, int, str]], dict[str, Sequence[str]]]:
        """Return the lines for a form that takes up an order or quote of the customer, and its addresses.

        An order is bought again, besides what is in the basket. One that was not placed has its own units of what the
        basket still has. A pending order is changed, so it has its own lines alone, and also its other fields.
        Notes are those of the basket.
        """
        async with self.desk.reading() as tx:
            order = await fetch_own_order_by_name(tx, call.customer_id, name)
            lines = await lines_of_order(tx, order.id)
        notes = {sku: note for sku, _, note in items}
        own = [(line.sku, line.quantity or line.cancelled, notes.get(line.sku, "")) for line in lines]
        values = values | _values_of(order)
        if REPLACES in values:
            return own, values
        if not isinstance(order, NumberedOrder):
            ordered = {sku for sku, _, _ in own}
            items = [line for line in items if line[0] not in ordered]
        return items + own, values

    async def _show(
        self,
        call: Call,
        lines: FormLines,
        filled: Filled,
        seen: int,
        focus: str = "",
        note: str = "",
        typed: Mapping[int, Line] | None = None,
    ) -> Response:
        """Show the form; `focus` is where htmx moves the focus, `note` a message above the lines.

        `typed` are quick lines that are still being typed.
        """
        whole = await self.parts.views.of(call.customer_id)
        async with self.desk.reading() as tx:
            addresses = await list_addresses(tx, call.customer_id)
            view = await self._view(tx, call, [line.sku for line in lines.lines])
            call.request.scope[BASKET] = await summarise(tx, user_of(call), whole)
            room = await credit_room(tx, call.customer_id)
        shown = priced(view, lines.lines, self.desk.clock.now())
        net = sum((line.net for line in shown), NOTHING)
        return self.desk.show(
            call,
            "orders/form.html",
            form=filled,
            lines=shown,
            net=net,
            gross=net + percentage(net, self.parts.settings.vat_rate),
            room=room,
            listed=lines,
            seen=seen,
            note=note,
            focus=focus,
            found=search(whole, filled.value("q").strip(), self.desk.clock.now()),
            quick=quick_entry(whole, typed or {}, self.desk.clock.now()),
            saved=[(str(address.id), _in_a_line(address)) for address in addresses],
            countries=COUNTRIES,
            for_quote=filled.value("quote") == "true",
        )

    async def _view(self, tx: Transaction, call: Call, skus: Sequence[str]) -> CustomerView:
        """Return the customer's view of products, at the prices that an order would have."""
        whole = await self.parts.views.of(call.customer_id)
        return await current_view(tx, whole, call.customer_id, skus, uk_date(self.desk.clock.now())) if skus else whole


def _seen(submitted: Submitted) -> int | None:
    text = submitted.one(SEEN_LINE)
    return 0 if text == "0" else read_id(text)


def _last(stored: Sequence[BasketLine]) -> int:
    return max((line.position for line in stored), default=0)


_NOT_SAVED = "These lines are saved in your basket when you change one of them or go on."
_ADDED_ELSEWHERE = (
    "Something was put into the basket in the meantime, in another window or on another device. It is below."
)
_QUOTE_SENT = "Your request is sent. You get an e-mail when the quote is priced."


async def _created(tx: Transaction, body: OrderForm, context: OrderContext, *, is_quote: bool) -> AnyOrder:
    request = await read_request(body.in_json(), context, lambda: nullcontext(tx))
    if is_quote:
        return await quote_for_customer(tx, request, context)
    made, _ = await create_for_customer(
        tx, request, context, confirm=False, override_credit=None, replaces=body.replaces
    )
    return made


async def _read_file(submitted: Submitted) -> tuple[str, DomainError | None]:
    """Return the text of the file, and what is wrong with it."""
    try:
        file: UploadFile | None = submitted.files.get("file")
        return ("" if file is None else text_of_file(await file.read())), None
    except DomainError as error:
        return "", error
    finally:
        submitted.close()


def _checked(changed: Submitted, lines: FormLines, view: CustomerView, problem: DomainError | None) -> Filled:
    """Return the form with the errors of its lines. Of a list, the good lines are taken, so it is no bad request."""
    errors: dict[str, str] = {}
    try:
        parse_form(changed, Lines)
    except DomainError as error:
        errors |= {form_name(found.field): found.message for found in error.field_errors}
    for found in unknown_skus(view, ((number, line.sku) for number, line in enumerate(lines.lines))):
        errors[form_name(found.field)] = found.message
    if lines.bad_lines:
        errors["list"] = f"has {plural(len(lines.bad_lines), 'line')} to correct; the others are in the order"
    if problem is not None:
        errors["file"] = problem.field_errors[0].message if problem.field_errors else problem.message
    return Filled(changed.values, errors, status=STATUS[Kind.INVALID] if errors.keys() - {"list"} else 200)


def _page_of(made: AnyOrder) -> str:
    """Return the page of what the form made."""
    return f"/account/quote/{made.confirmation_code}" if made.kind == "quote" else f"{PATH}/{made.confirmation_code}"


def _first_values(*, quote: bool) -> dict[str, Sequence[str]]:
    return {"quote": ["true"]} if quote else {}


def _values_of(order: OrderBase) -> dict[str, Sequence[str]]:
    """Return the fields that a new form takes from an order: of a pending one, which it replaces, all of them."""
    values: dict[str, Sequence[str]] = {}
    for place in ("shipping_address", "billing_address"):
        address = getattr(order, place)
        values[f"{place}-id"] = [ANOTHER if address.id is None else str(address.id)]
        if address.id is None:
            values |= {f"{place}-{name}": [value] for name, value in to_builtins(address).items() if name != "id"}
    if order.billing_address == order.shipping_address:
        values = {name: found for name, found in values.items() if not name.startswith("billing_address")}
        values["billing_address-id"] = [SAME]
    if isinstance(order, NumberedOrder):
        return values
    values["customer_reference"] = [order.customer_reference]
    values["external_customer_id"] = [order.external_customer_id or ""]
    for name in ("order_notifications", "courier_notifications"):
        contact = to_builtins(getattr(order, name)) or {}
        values |= {f"{name}-{part}": [value] for part, value in contact.items()}
    if isinstance(order, PendingOrder):
        values[REPLACES] = [order.confirmation_code]
    return values


def _in_a_line(address: SavedAddress) -> str:
    return ", ".join(address_lines(address)[:-1])


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and not isinstance(value, UnsetType)}
