"""The form of a new order or quote: `/account/new-order` for a user, `/order/new/{id}` for a caller of the staff.

Every button sends the whole form. A user's lines are the basket, which every button saves unless a line is wrong. A
caller's lines exist only in the form.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from starlette.datastructures import UploadFile
from starlette.responses import Response

from tradecounter.approvals.handle_approvals import end_replaced
from tradecounter.baskets.change_basket import NotedItem, summarise
from tradecounter.baskets.queries import BasketLine
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.page_kit.filled_forms import Filled, without_copies
from tradecounter.edge.page_kit.submitted_forms import Submitted, read_submitted
from tradecounter.edge.pages.countries import COUNTRIES
from tradecounter.edge.pages.operation import BUYER, Rights, form, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import ACCOUNT, BothSites
from tradecounter.edge.pages.page_view import BASKET
from tradecounter.edge.rest.call import Call
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.numbers import read_id
from tradecounter.orders.create.check_request import read_request
from tradecounter.orders.create.place_order import create_for_customer
from tradecounter.orders.create.quick_lines import text_of_file
from tradecounter.orders.history import add_own_note
from tradecounter.orders.offers import search_lines
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.orders.pages.both.form_lines import (
    FormLines,
    PricedLines,
    checked,
    lines_of_form,
    lines_with,
    named_skus,
    picked,
    priced,
    product_rows,
    typed_lines,
)
from tradecounter.orders.pages.both.order_form import (
    REPLACES,
    SAME,
    Buyer,
    OrderForm,
    delivery_country,
    delivery_note_of,
    values_of,
)
from tradecounter.orders.queries.changes import set_in_basket
from tradecounter.orders.queries.notes import own_notes_of
from tradecounter.orders.queries.orders import fetch_own_order_by_name, lines_of_order
from tradecounter.orders.states import AnyOrder, NumberedOrder
from tradecounter.parts.site import SiteParts
from tradecounter.products.search.query import as_typed
from tradecounter.quotes.handle_quotes import quote_for_customer
from tradecounter.storefront.view import CustomerView, current_view

_RIGHTS: Rights = {"scope": "orders:write", "roles": SELLERS, "user_roles": BUYER}
_MOST_BYTES = 2 * 1024 * 1024
_QUICK, _QUICK_ROWS = "quick", 3
_MOST_FOUND = 12
_SEEN_LINE = "seen-line"  # the field with the greatest position of the basket's lines that the form shows


class Prefill(Struct, frozen=True):
    """How a new form begins: with the lines of an earlier order or quote, with a product, or as a quote."""

    again: str | None = None
    add: str | None = None
    quote: Literal["true"] | None = None


class Beginning(Struct, frozen=True):
    """The lines of a new form, and the values of its other fields."""

    items: list[NotedItem]
    values: Mapping[str, Sequence[str]]


class ShownForm(Struct, frozen=True, kw_only=True):
    """The form as it is shown.

    `seen` is the highest position of the basket's lines in it, `focus` is where htmx moves the focus, and `note` a
    message above the lines. `typing` has the quick lines that are still being typed.
    """

    lines: FormLines
    filled: Filled
    seen: int
    focus: str = ""
    note: str = ""
    typing: Mapping[str, Sequence[str]] = {}


class NewOrderPages(Struct, BothSites, frozen=True):
    """The form of a new order."""

    desk: PageDesk
    parts: SiteParts

    @page("", "New order", query=Prefill, **_RIGHTS)
    async def show_form(self, call: Call) -> Response:
        wanted, buyer = call.query(Prefill), self._buyer(call)
        async with self.desk.reading() as tx:
            stored = await buyer.basket(tx)
        new = Beginning(
            [NotedItem(line.sku, line.quantity, note=line.note) for line in stored],
            {} if wanted.quote is None else {"quote": ["true"]},
        )
        if wanted.again is not None:
            new = await self._again(buyer, wanted.again, new)
        elif wanted.add is not None:
            new.items.append(NotedItem(wanted.add, 1))
        lines = lines_with(new.items)
        is_unsaved = bool((wanted.again or wanted.add) and REPLACES not in new.values and buyer.user)
        return await self._show(
            call,
            buyer,
            ShownForm(
                lines=lines,
                filled=Filled(lines.values(new.values) if new.items else new.values),
                seen=_last(stored),
                note=_NOT_SAVED if is_unsaved else "",
            ),
        )

    @form("", "New order", **_RIGHTS)
    async def send_form(self, call: Call) -> Response:
        submitted = await read_submitted(call, most_bytes=_MOST_BYTES, most_files=1)
        uploaded, problem = await _read_file(submitted)
        buyer = self._buyer(call, replaces=bool(submitted.one(REPLACES)))
        async with self.desk.reading() as tx:
            stored = await buyer.basket(tx)
            skus = [*named_skus(submitted, uploaded), *(line.sku for line in stored)]
            view = await self._view(tx, buyer, skus)
        if submitted.one("preview"):
            return await self._show_as_typed(call, buyer, submitted, stored, view)
        lines = lines_of_form(submitted, uploaded, view)
        has_new = lines.add_from_elsewhere(stored, _seen(submitted))
        step, values = submitted.one("do"), submitted.values
        if step == "as-typed":
            step, values = "search", {**values, "q": [as_typed(submitted.one("q"))]}
        shown = ShownForm(lines=lines, filled=Filled(lines.values(values)), seen=_last(stored))
        if step in {"order", "quote"} and not (problem or lines.bad_lines or has_new):
            return await self._make(call, buyer, shown, view, is_quote=step == "quote")
        filled = checked(shown.filled.values, lines, view, problem)
        if not filled.errors.keys() - {"list"}:
            stored = await self._save(call, buyer, lines, view, shown.seen)
            has_new = lines.add_from_elsewhere(stored, shown.seen) or has_new
        shown = replace(
            shown,
            filled=filled,
            seen=_last(stored),
            focus=picked(submitted) or ("found" if step == "search" and submitted.one("q") else "lines"),
            note=_ADDED_ELSEWHERE if has_new else "",
        )
        return await self._show(call, buyer, shown)

    async def _make(
        self, call: Call, buyer: Buyer, shown: ShownForm, view: CustomerView, *, is_quote: bool
    ) -> Response:
        """Create the order or the quote, and go to its page; after an error, show the form again."""

        async def work(tx: Transaction, body: OrderForm, now: datetime) -> AnyOrder:
            if not body.items:
                raise DomainError(Kind.INVALID, "add at least one product")
            with without_copies("billing_address", "shipping_address", copied=body.billing_address.id == SAME):
                made = await self._created(tx, call, buyer, body, now, is_quote=is_quote)
            await add_own_note(tx, made, body.notes, now)
            # What a quote asks for leaves the basket; what is ordered stays until the order is confirmed.
            await buyer.save_basket(tx, view, [] if is_quote else shown.lines.items(view), shown.seen)
            return made

        return await self.desk.change(
            call,
            OrderForm,
            work,
            again=lambda filled: self._show(call, buyer, replace(shown, filled=filled)),
            to=buyer.page_after,
            done=buyer.message_after,
            # With the button: the same form with the other one is another change.
            submitted=Submitted({**shown.filled.values, "do": ["quote" if is_quote else "order"]}),
        )

    async def _created(
        self, tx: Transaction, call: Call, buyer: Buyer, body: OrderForm, now: datetime, *, is_quote: bool
    ) -> AnyOrder:
        context = self.parts.contexts.of(buyer.customer_id, now)
        reason = buyer.reason_to_override(call, body.override_credit)
        request = await read_request(body.in_json(), context, lambda: nullcontext(tx))
        replaces = body.replaces
        made: AnyOrder
        if is_quote:
            made = await quote_for_customer(tx, request, context, replaces=replaces)
        else:
            made = await create_for_customer(tx, request, context, override_credit=reason, replaces=replaces)
        if replaces is not None:
            user_id = None if buyer.user is None else buyer.user.id
            await end_replaced(tx, buyer.customer_id, user_id, replaces, made.kind, now)
        elif buyer.user is not None and not is_quote:
            set_in_basket(tx, made.id, buyer.user.id)
        return made

    async def _show_as_typed(
        self, call: Call, buyer: Buyer, submitted: Submitted, stored: Sequence[BasketLine], view: CustomerView
    ) -> Response:
        """Show the prices of the lines while they are typed, and save the valid ones as the basket."""
        lines, seen = typed_lines(submitted), _seen(submitted)
        wanted = FormLines()
        for line in lines.lines:
            if line.quantity != "0":
                wanted.add(line.sku, line.quantity, line.note)
        is_right = not checked(wanted.values({}), wanted, view, None).errors
        if is_right and not wanted.add_from_elsewhere(stored, seen):
            saved = await self._save(call, buyer, wanted, view, _last(stored))
            seen = _last(stored if wanted.add_from_elsewhere(saved, _last(stored)) else saved)
        shown = ShownForm(lines=lines, filled=Filled(submitted.values), seen=seen or 0, typing=submitted.values)
        return await self._show(call, buyer, shown)

    async def _save(
        self, call: Call, buyer: Buyer, lines: FormLines, view: CustomerView, seen: int
    ) -> list[BasketLine]:
        """Save the lines as the basket, if there is one; return what is in it, with what was put there after `seen`."""
        if buyer.user is None or buyer.replaces:
            return []
        async with transaction(self.desk.database, call.actor) as tx:
            await buyer.save_basket(tx, view, lines.items(view), seen)
            return await buyer.basket(tx)

    async def _again(self, buyer: Buyer, name: str, new: Beginning) -> Beginning:
        """Return how a form begins that starts from an order or quote of the customer; `new` has the basket.

        A confirmed order is bought again, in addition to the basket. The lines of a quote or an order that was not
        placed replace the basket's lines of the same products. A pending order that is changed has only its own lines,
        and its other fields too. Notes are those of the basket.
        """
        async with self.desk.reading() as tx:
            order = await fetch_own_order_by_name(tx, buyer.customer_id, name)
            lines = await lines_of_order(tx, order.id)
            written = await own_notes_of(tx, order.id)
        notes = {item.sku: item.note for item in new.items}
        ordered = [NotedItem(line.sku, line.quantity or line.cancelled, note=notes.get(line.sku, "")) for line in lines]
        values = {**new.values, **values_of(order)}
        if REPLACES in values:
            return Beginning(ordered, values | {"delivery_note": [delivery_note_of(note.text for note in written)]})
        kept = new.items
        if not isinstance(order, NumberedOrder):
            skus = {item.sku for item in ordered}
            kept = [item for item in kept if item.sku not in skus]
        return Beginning(kept + ordered, values)

    async def _show(self, call: Call, buyer: Buyer, shown: ShownForm) -> Response:
        now = self.desk.clock.now()
        filled, lines = shown.filled, shown.lines.lines
        whole = await self.parts.views.of(buyer.customer_id)
        async with self.desk.reading() as tx:
            facts = await buyer.facts(tx, now)
            view = await self._view(tx, buyer, [line.sku for line in lines])
            if buyer.user is not None:
                call.request.scope[BASKET] = await summarise(tx, buyer.user, whole)
            quick = await product_rows(tx, shown.typing, _QUICK, whole, buyer.customer_id, blank=_QUICK_ROWS, now=now)
        order = PricedLines(
            priced(view, lines, now),
            delivery_country(filled, facts.addresses),
            self.parts.settings.vat_rate,
        )
        return self.desk.show(
            call,
            "orders/form.html",
            form=filled,
            path=buyer.path,
            customer=facts.caller,
            facts=facts,
            order=order,
            needs_approval=buyer.needs_approval(order.gross),
            shown=shown,
            found=search_lines(whole, text, 1, _MOST_FOUND, now) if (text := filled.value("q").strip()) else None,
            quick=quick,
            countries=COUNTRIES,
        )

    async def _view(self, tx: Transaction, buyer: Buyer, skus: Sequence[str]) -> CustomerView:
        """Return the customer's view of products, at the prices that an order would have."""
        whole = await self.parts.views.of(buyer.customer_id)
        if not skus:
            return whole
        return await current_view(tx, whole, buyer.customer_id, skus, uk_date(self.desk.clock.now()))

    def _buyer(self, call: Call, *, replaces: bool = False) -> Buyer:
        """Return the user who orders, or the caller for whom staff order."""
        if self.site is ACCOUNT:
            return Buyer(call.customer_id, user_of(call), replaces)
        return Buyer(call.path_id("id", "customer"), None, replaces)


def _seen(submitted: Submitted) -> int | None:
    text = submitted.one(_SEEN_LINE)
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
