"""`/account/new-order/{code}`: a pending order, which is confirmed or discarded."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.approvals.queries import find_approval
from tradecounter.approvals.rules import needs_approval, require_no_approval
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.operation import BUYER, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.orders.cancel_order import withdraw_order
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.offers import chosen_option, dated_now
from tradecounter.orders.pages.both.order_form import OWN
from tradecounter.orders.queries.notes import own_notes_of
from tradecounter.orders.queries.orders import fetch_own_order_by_code, lines_of_order, lock_unconfirmed
from tradecounter.orders.states import ConfirmedOrder, NumberedOrder, PendingOrder
from tradecounter.orders.waiting import wait_of_pending
from tradecounter.parts.account import AccountParts

_REVIEW, _DISCARD_REVIEW = f"{OWN}/{{code}}", f"{OWN}/{{code}}/discard"


class ConfirmForm(Struct):
    """The shipping option; without one, the account's default."""

    shipping_method: int | None = None


class ReviewPages(Struct, frozen=True):
    """The page of a pending order, which is confirmed or discarded there."""

    desk: PageDesk
    parts: AccountParts

    async def _show(self, call: Call, filled: Filled) -> Response:
        now = self.desk.clock.now()
        user = user_of(call)
        async with self.desk.reading() as tx:
            order = await fetch_own_order_by_code(tx, call.customer_id, _code_of(call))
            if isinstance(order, NumberedOrder):
                return self.desk.go(call, f"/account/order/{order.order_reference}")
            if order.kind == "quote":
                return self.desk.go(call, f"/account/quote/{order.confirmation_code}")
            lines = await lines_of_order(tx, order.id)
            notes = await own_notes_of(tx, order.id)
            account = await fetch_account(tx, call.customer_id)
            room = await fetch_credit_room(tx, call.customer_id)
            approval = await find_approval(tx, call.customer_id, order.confirmation_code, now)
        order = await dated_now(order, lines, self.parts.views, now)
        needs = needs_approval(user.roles, user.order_limit, order.least_gross)
        asked_at = None if approval is None else approval.waiting_since
        wait = None
        if isinstance(order, PendingOrder) and not order.has_expired(now):
            wait = wait_of_pending(order.least_gross, order.expires_at, asked_at, room)
        return self.desk.show(
            call,
            "orders/review.html",
            form=filled,
            order=order,
            is_open=wait is not None,
            wait=wait,
            is_pending=isinstance(order, PendingOrder),
            lines=lines,
            notes=notes,
            chosen=chosen_option(order, account.shipping_method),
            room=room,
            approval=approval,
            limit=user.order_limit if needs else None,
            may_ask=user.order_limit is not None,
        )

    @step(
        _REVIEW,
        "Confirm your order",
        shown=_show,
        to=lambda order: f"/account/order/{order.order_reference}",
        done=lambda order: f"Thank you. Your order is confirmed as {order.order_reference}.",
        user_roles=BUYER,
    )
    async def confirm(self, tx: Transaction, call: Call, body: ConfirmForm, now: datetime) -> ConfirmedOrder:
        before, user = await lock_unconfirmed(tx, call.customer_id, _code_of(call)), user_of(call)
        policy = self.parts.contexts.policy
        order, _ = await confirm_order(tx, call.customer_id, _code_of(call), body.shipping_method, policy, now)
        if not isinstance(before, NumberedOrder):
            require_no_approval(user.roles, user.order_limit, order.gross)
        return order

    async def _ask_to_discard(self, tx: Transaction, call: Call) -> Question:
        order = await fetch_own_order_by_code(tx, call.customer_id, _code_of(call))
        return Question(
            title=f"Discard {order.customer_reference}?",
            text="Nothing was ordered yet, so there is nothing to pay. You can use its lines again.",
            button="Discard the order",
            back=_REVIEW.format(code=order.confirmation_code),
            back_name=order.customer_reference,
            danger=True,
        )

    @step(
        _DISCARD_REVIEW,
        "Discard an order",
        asks=_ask_to_discard,
        to="/account/order",
        done="The order is discarded. Its lines are among the cancelled orders.",
        user_roles=BUYER,
    )
    async def discard(self, tx: Transaction, call: Call, now: datetime) -> None:
        await withdraw_order(tx, await lock_unconfirmed(tx, call.customer_id, _code_of(call)), "", now)


def _code_of(call: Call) -> str:
    return call.path_text("code", "order")
