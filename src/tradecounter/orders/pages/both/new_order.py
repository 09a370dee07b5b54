"""The form of a new order or quote: `/account/new-order` for a user, `/order/new/{id}` for a caller of the staff.

Every button sends the whole form. A user's lines are the basket, which every button saves unless a line is wrong. A
caller's lines exist only in the form.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct
from starlette.datastructures import UploadFile
from starlette.responses import Response

from tradecounter.approvals.handle_approvals import end_replaced
from tradecounter.approvals.rules import needs_approval
from tradecounter.baskets.change_basket import NotedItem, save_basket, summarise
from tradecounter.baskets.queries import BasketLine, lines_of_basket
from tradecounter.billing.queries.invoice_records import overdue_by_customer
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.wire import SavedAddress
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.page_kit.filled_forms import Filled, without_copies
from tradecounter.edge.page_kit.forms import form_name, parse_form
from tradecounter.edge.page_kit.submitted_forms import Submitted, read_submitted
from tradecounter.edge.pages.countries import COUNTRIES
from tradecounter.edge.pages.operation import BUYER, Rights, form, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import ACCOUNT, BothSites
from tradecounter.edge.pages.page_view import BASKET
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.edge.session import require_right
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING
from tradecounter.kit.numbers import read_id
from tradecounter.kit.text import plural
from tradecounter.orders.create.check_request import read_request
from tradecounter.orders.create.draft import unknown_skus
from tradecounter.orders.create.place_order import create_for_customer
from tradecounter.orders.create.quick_lines import text_of_file
from tradecounter.orders.history import add_own_note
from tradecounter.orders.lines import line_tax
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.orders.pages.both.form_lines import (
    FormLines,
    lines_of_form,
    lines_with,
    named_skus,
    picked,
    product_rows,
    typed_lines,
)
from tradecounter.orders.pages.both.order_form import (
    REPLACES,
    SAME,
    OrderForm,
    delivery_country,
    delivery_note_of,
    values_of,
)
from tradecounter.orders.pages.both.priced_lines import priced, search
from tradecounter.orders.queries.notes import own_notes_of
from tradecounter.orders.queries.orders import fetch_own_order_by_name, lines_of_order
from tradecounter.orders.rules import VAT_AREA, tax_rate
from tradecounter.orders.states import AnyOrder, NumberedOrder
from tradecounter.orders.wire import MOST_ITEMS
from tradecounter.parts.account import AccountParts
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import shown_customer
from tradecounter.products.search.query import as_typed
from tradecounter.quotes.handle_quotes import quote_for_customer
from tradecounter.storefront.view import CustomerView, current_view

OWN, OF_CALLER = "/account/new-order", "/order/new/{id}"  # where the form is
_RIGHTS: Rights = {"scope": "orders:write", "roles": SELLERS, "user_roles": BUYER}
_MOST_BYTES = 2 * 1024 * 1024
_QUICK, _QUICK_ROWS = "quick", 3
SEEN_LINE = "seen-line"  # the field with the greatest position of the basket's lines that the form shows


class Prefill(Struct, frozen=True):
    """How a new form begins: with the lines of an earlier order or quote, with a product, or as a quote."""

    again: str | None = None
    add: str | None = None
    quote: Literal["true"] | None = None


class Lines(Struct):
    """The lines of the form."""

    items: Annotated[list[NotedItem], Meta(max_length=MOST_ITEMS)] = []


class NewOrderPages(Struct, BothSites, frozen=True):
    """The form of a new order."""

    desk: PageDesk
    parts: AccountParts | OfficeParts

    @page("", "New order", query=Prefill, **_RIGHTS)
    async def show_form(self, call: Call) -> Response:
        wanted = call.query(Prefill)
        async with self.desk.reading() as tx:
            stored = await self._stored(tx, call)
        items = [(line.sku, line.quantity, line.note) for line in stored]
        values: dict[str, Sequence[str]] = {} if wanted.quote is None else {"quote": ["true"]}
        if wanted.again is not None:
            items, values = await self._again(call, wanted.again, items, values)
        elif wanted.add is not None:
            items.append((wanted.add, 1, ""))
        lines = lines_with(items)
        is_unsaved = bool((wanted.again or wanted.add) and REPLACES not in values and self._user(call))
        filled = Filled(lines.values(values) if items else values)
        return await self._show(call, lines, filled, _last(stored), note=_NOT_SAVED if is_unsaved else "")

    @form("", "New order", **_RIGHTS)
    async def send_form(self, call: Call) -> Response:
        submitted = await read_submitted(call, most_bytes=_MOST_BYTES, most_files=1)
        uploaded, problem = await _read_file(submitted)
        async with self.desk.reading() as tx:
            # The lines of a form that replaces an order are those of the order, not the basket's.
            stored = [] if submitted.one(REPLACES) else await self._stored(tx, call)
            skus = [*named_skus(submitted, uploaded), *(line.sku for line in stored)]
            view = await self._view(tx, call, skus)
        if submitted.one("preview"):
            return await self._as_typed(call, submitted, stored, view)
        lines = lines_of_form(submitted, uploaded, view)
        has_new, last_seen = lines.add_from_elsewhere(stored, _seen(submitted)), _last(stored)
        step, values = submitted.one("do"), submitted.values
        if step == "as-typed":
            step, values = "search", {**values, "q": [as_typed(submitted.one("q"))]}
        changed = Submitted(lines.values(values))
        if step not in {"order", "quote"} or problem or lines.bad_lines or has_new:
            checked = _checked(changed, lines, view, problem)
            if not checked.errors.keys() - {"list"}:
                last_seen = await self._save(call, lines, view, submitted)
            focus = picked(submitted) or ("found" if step == "search" and submitted.one("q") else "lines")
            return await self._show(call, lines, checked, last_seen, focus, _ADDED_ELSEWHERE if has_new else "")
        user = self._user(call)

        async def work(tx: Transaction, body: OrderForm, now: datetime) -> AnyOrder:
            if not body.items:
                raise DomainError(Kind.INVALID, "add at least one product")
            with without_copies("billing_address", "shipping_address", copied=body.billing_address.id == SAME):
                made = await self._created(tx, call, body, now, is_quote=step == "quote")
            await add_own_note(tx, made, body.notes, now)
            if user is not None and body.replaces is None:
                left = [] if step == "quote" else lines.items(view)  # what a quote asks for leaves the basket
                await save_basket(tx, user.id, view, left)
            return made

        return await self.desk.change(
            call,
            OrderForm,
            work,
            again=lambda filled: self._show(call, lines, filled, last_seen),
            to=lambda made: _following(made, user)[0],
            done=lambda made: _following(made, user)[1],
            submitted=changed,
        )

    async def _created(
        self, tx: Transaction, call: Call, body: OrderForm, now: datetime, *, is_quote: bool
    ) -> AnyOrder:
        context = self.parts.contexts.of(self._customer_id(call), now)
        reason = None
        if body.override_credit is not None and self._user(call) is None:
            require_right(call.request, "billing:write")
            reason = body.override_credit.reason
        request = await read_request(body.in_json(), context, lambda: nullcontext(tx))
        if is_quote:
            return await quote_for_customer(tx, request, context)
        made, _ = await create_for_customer(
            tx, request, context, confirm=False, override_credit=reason, replaces=body.replaces
        )
        if body.replaces is not None:
            user = self._user(call)
            await end_replaced(tx, context.customer_id, None if user is None else user.id, body.replaces, now)
        return made

    async def _as_typed(
        self, call: Call, submitted: Submitted, stored: Sequence[BasketLine], view: CustomerView
    ) -> Response:
        """Show the prices of the lines while they are typed, and save the valid ones as the basket."""
        lines, last_seen = typed_lines(submitted), _seen(submitted)
        wanted = FormLines([line for line in lines.lines if line.quantity != "0"])
        is_right = not _checked(Submitted(wanted.values({})), wanted, view, None).errors
        if is_right and not wanted.add_from_elsewhere(stored, last_seen):
            last_seen = await self._save(call, wanted, view, submitted)
        return await self._show(call, lines, Filled(submitted.values), last_seen or 0, quick=submitted.values)

    async def _save(self, call: Call, lines: FormLines, view: CustomerView, submitted: Submitted) -> int:
        """Save the lines as the basket, if there is one; return the highest position in it."""
        user = self._user(call)
        if user is None or submitted.one(REPLACES):
            return 0
        async with transaction(self.desk.database, call.actor) as tx:
            await save_basket(tx, user.id, view, lines.items(view))
            return _last(await lines_of_basket(tx, user.id))

    async def _again(
        self, call: Call, name: str, items: list[tuple[str, int, str]], values: dict[str, Sequence[str]]
    ) -> tuple[list[tuple[str, int, str]], dict[str, Sequence[str]]]:
        """Return the lines of a form that starts from an order or quote of the customer, and its addresses.

        A confirmed order is bought again, in addition to the basket. The lines of a quote or an order that was not
        placed replace the basket's lines of the same products. A pending order that is changed has only its own lines,
        and its other fields too. Notes are those of the basket.
        """
        async with self.desk.reading() as tx:
            order = await fetch_own_order_by_name(tx, self._customer_id(call), name)
            lines = await lines_of_order(tx, order.id)
            written = await own_notes_of(tx, order.id)
        notes = {sku: note for sku, _, note in items}
        order_lines = [(line.sku, line.quantity or line.cancelled, notes.get(line.sku, "")) for line in lines]
        values = values | values_of(order)
        if REPLACES in values:
            return order_lines, values | {"delivery_note": [delivery_note_of(note.text for note in written)]}
        if not isinstance(order, NumberedOrder):
            ordered = {sku for sku, _, _ in order_lines}
            items = [line for line in items if line[0] not in ordered]
        return items + order_lines, values

    async def _show(
        self,
        call: Call,
        lines: FormLines,
        filled: Filled,
        seen: int,
        focus: str = "",
        note: str = "",
        quick: Mapping[str, Sequence[str]] | None = None,
    ) -> Response:
        """Show the form; `focus` is where htmx moves the focus, `note` a message above the lines.

        `quick` has the quick lines that are still being typed.
        """
        now, user, customer_id = self.desk.clock.now(), self._user(call), self._customer_id(call)
        async with self.desk.reading() as tx:
            caller = None if user is not None else await shown_customer(tx, call)
            overdue = None if user is not None else await overdue_by_customer(tx, [customer_id], now)
            whole = await self.parts.views.of(customer_id)
            addresses = await list_addresses(tx, customer_id)
            view = await self._view(tx, call, [line.sku for line in lines.lines])
            if user is not None:
                call.request.scope[BASKET] = await summarise(tx, user, whole)
            room = await fetch_credit_room(tx, customer_id)
            rows = await product_rows(tx, quick or {}, _QUICK, whole, customer_id, blank=_QUICK_ROWS, now=now)
        shown = priced(view, lines.lines, now, sees_deliveries=user is None)
        net = sum((line.net for line in shown), NOTHING)
        country = delivery_country(filled, addresses)
        rate = tax_rate(country, self.parts.settings.vat_rate)
        gross = net + sum((line_tax(line.net, rate) for line in shown), NOTHING)
        return self.desk.show(
            call,
            "orders/form.html",
            form=filled,
            customer=caller,
            path=self.root.format(id=customer_id),
            lines=shown,
            net=net,
            gross=gross,
            is_export=country not in VAT_AREA,
            room=room,
            overdue=overdue and overdue.get(customer_id),
            is_above_limit=user is not None and needs_approval(user.roles, user.order_limit, gross),
            listed=lines,
            seen=seen,
            note=note,
            focus=focus,
            found=search(whole, filled.value("q").strip(), now, sees_deliveries=user is None),
            quick=rows,
            saved=[(str(address.id), _in_a_line(address)) for address in addresses],
            countries=COUNTRIES,
            for_quote=filled.value("quote") == "true",
        )

    async def _view(self, tx: Transaction, call: Call, skus: Sequence[str]) -> CustomerView:
        """Return the customer's view of products, at the prices that an order would have."""
        customer_id = self._customer_id(call)
        whole = await self.parts.views.of(customer_id)
        return await current_view(tx, whole, customer_id, skus, uk_date(self.desk.clock.now())) if skus else whole

    def _user(self, call: Call) -> CustomerUser | None:
        """Return the user who orders; None for staff, who order for a caller."""
        return user_of(call) if self.site is ACCOUNT else None

    def _customer_id(self, call: Call) -> int:
        return self.owner(call) or call.path_id("id", "customer")

    async def _stored(self, tx: Transaction, call: Call) -> list[BasketLine]:
        """Return the lines of the user's basket; a caller has none. Raises DomainError (not found) for the caller."""
        if (user := self._user(call)) is not None:
            return await lines_of_basket(tx, user.id)
        await shown_customer(tx, call)
        return []


def _seen(submitted: Submitted) -> int | None:
    text = submitted.one(SEEN_LINE)
    return 0 if text == "0" else read_id(text)


def _last(stored: Sequence[BasketLine]) -> int:
    return max((line.position for line in stored), default=0)


_NOT_SAVED = "These lines are saved in your basket when you change one of them or go on."
_ADDED_ELSEWHERE = (
    "Something was put into the basket in the meantime, in another window or on another device. It is below."
)


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
    """Return the form with the errors of its lines. The good lines of a list are taken, so it is no bad request."""
    errors: dict[str, str] = {}
    try:
        parse_form(changed, Lines)
    except DomainError as error:
        errors |= {form_name(field_error.field): field_error.message for field_error in error.field_errors}
    for field_error in unknown_skus(view, ((number, line.sku) for number, line in enumerate(lines.lines))):
        errors[form_name(field_error.field)] = field_error.message
    if lines.bad_lines:
        errors["list"] = f"has {plural(len(lines.bad_lines), 'line')} to correct; the others are in the order"
    if problem is not None:
        errors["file"] = problem.field_errors[0].message if problem.field_errors else problem.message
    return Filled(changed.values, errors, status=STATUS[Kind.INVALID] if errors.keys() - {"list"} else 200)


def _following(made: AnyOrder, user: CustomerUser | None) -> tuple[str, str]:
    """Return the page after the form, and its message."""
    code = made.confirmation_code
    if user is None:
        if made.kind == "quote":
            return f"/quote/{code}", "The quote is created: price it now, or leave it to a colleague."
        return f"/order/{code}/confirm", "The order is created. Nothing is charged or reserved until you confirm it."
    if made.kind == "quote":
        return f"/account/quote/{code}", "Your request is sent. You get an e-mail when the quote is priced."
    return f"{OWN}/{code}", ""


def _in_a_line(address: SavedAddress) -> str:
    return ", ".join(address_lines(address)[:-1])
