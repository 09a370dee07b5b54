"""`/account/approval`: orders that wait for approval, and asking for one."""

from datetime import datetime
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.queries.people import find_user_by_id
from tradecounter.approvals.handle_approvals import approve_order, decline_order, price_again, request_approval
from tradecounter.approvals.queries import MOST, approvals_asked_by, fetch_approval, waiting_approvals
from tradecounter.approvals.rules import APPROVERS
from tradecounter.approvals.wire import DeclineApprovalRequest
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.values import moment_text
from tradecounter.edge.pages.operation import APPROVER, BUYER, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import action, step
from tradecounter.edge.rest.call import Call
from tradecounter.orders.offers import chosen_option, dated_now
from tradecounter.orders.queries.notes import own_notes_of
from tradecounter.orders.queries.orders import fetch_own_order_by_code, lines_of_order
from tradecounter.orders.shipping_options import find_option
from tradecounter.orders.states import NumberedOrder, PendingOrder, PricedQuote
from tradecounter.parts.account import AccountParts

PATH = "/account/approval"
_ONE, _ASK = f"{PATH}/{{code}}", "/account/new-order/{code}/approval"


class AskForm(Struct):
    """The shipping method, and what the approvers should know."""

    shipping_method: int | None = None
    note: str = ""


class ApproveForm(Struct):
    """Which of a quote's prices the page has shown."""

    pricing: int | None = None


class ApprovalPages(Struct, frozen=True):
    """Requests for approval, and what is decided."""

    desk: PageDesk
    parts: AccountParts

    @page(PATH, "Approvals", user_roles=(*BUYER, *APPROVER))
    async def list_approvals(self, call: Call) -> Response:
        user, now = user_of(call), self.desk.clock.now()
        async with self.desk.reading() as tx:
            waiting = await waiting_approvals(tx, call.customer_id, now) if user.has_role(*APPROVERS) else []
            approvals = await approvals_asked_by(tx, call.customer_id, user.id, now)
        return self.desk.show(
            call,
            "approvals/list.html",
            waiting=waiting,
            asked=[approval for approval in approvals if approval not in waiting],
            may_decide=user.has_role(*APPROVERS),
            more_wait=len(waiting) == MOST,
            more_asked=len(approvals) == MOST,
            most=MOST,
        )

    async def _show_ask(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            order = await fetch_own_order_by_code(tx, call.customer_id, _code(call))
            lines = await lines_of_order(tx, order.id)
            account = await fetch_account(tx, call.customer_id)
        order = await dated_now(order, lines, self.parts.views, self.desk.clock.now())
        return self.desk.show(
            call,
            "approvals/ask.html",
            form=filled,
            order=order,
            chosen=chosen_option(order, account.shipping_method),
            limit=user_of(call).order_limit,
        )

    @step(
        _ASK,
        "Ask for approval",
        shown=_show_ask,
        to=PATH,
        done="The approvers get an e-mail. Nothing is ordered until one of them confirms; it has left the basket.",
        user_roles=BUYER,
    )
    async def ask(self, tx: Transaction, call: Call, body: AskForm, now: datetime) -> None:
        user = user_of(call)
        code, method = _code(call), body.shipping_method
        await request_approval(tx, user.customer_id, user.id, code, method, body.note, now)

    async def _request(self, call: Call, now: datetime) -> dict[str, Any]:
        """Return a request, as orders are shown to all buyers of the customer."""
        async with self.desk.reading() as tx:
            approval = await fetch_approval(tx, call.customer_id, _code(call), now)
            order = await fetch_own_order_by_code(tx, call.customer_id, approval.code)
            lines = await lines_of_order(tx, order.id)
            notes = await own_notes_of(tx, order.id)
            room = await fetch_credit_room(tx, call.customer_id)
            asker = None if approval.requested_by is None else await find_user_by_id(tx, approval.requested_by)
        order = await dated_now(order, lines, self.parts.views, now)
        option = find_option(order.shipping_options, approval.shipping_method)
        is_open = isinstance(order, PendingOrder | PricedQuote) and not order.has_expired(now)
        return {
            "approval": approval,
            "gross": order.gross_with(option) if is_open and option is not None else approval.gross,
            "limit": None if asker is None or approval.agent else asker.order_limit,  # an agent has limits of its own
            "notes": notes,
            "order": order,
            "lines": lines,
            "room": room,
            "option": option,
            "number": order.order_reference if isinstance(order, NumberedOrder) else None,
            "is_open": is_open,
            "is_pending": isinstance(order, PendingOrder | PricedQuote),
            "may_decide": user_of(call).has_role(*APPROVERS) and approval.state == "waiting",
        }

    @page(_ONE, "One order to approve", user_roles=(*BUYER, *APPROVER))
    async def show_one(self, call: Call, filled: Filled) -> Response:
        values = await self._request(call, self.desk.clock.now())
        return self.desk.show(call, "approvals/approval.html", form=filled, **values)

    @action(
        f"{_ONE}/approve",
        "Approve an order",
        shown=show_one,
        to=PATH,
        done=lambda order: f"It is confirmed as order {order.order_reference}.",
        user_roles=APPROVER,
    )
    async def approve(self, tx: Transaction, call: Call, body: ApproveForm, now: datetime) -> NumberedOrder:
        policy, user = self.parts.contexts.policy, user_of(call)
        return await approve_order(tx, call.customer_id, user.id, _code(call), policy, now, pricing=body.pricing)

    @step(
        f"{_ONE}/decline",
        "Decline an order",
        template="approvals/decline.html",
        values=_request,
        to=PATH,
        done="It is declined. The user who asked gets an e-mail with your reason.",
        user_roles=APPROVER,
    )
    async def decline(self, tx: Transaction, call: Call, body: DeclineApprovalRequest, now: datetime) -> None:
        await decline_order(tx, call.customer_id, user_of(call).id, _code(call), body.reason, now)

    @action(
        f"{_ONE}/price",
        "Price an order again",
        shown=show_one,
        to=lambda made: f"{PATH}/{made.confirmation_code}",
        done=lambda made: f"These are today's prices. They hold until {moment_text(made.expires_at)}.",
        user_roles=APPROVER,
    )
    async def price(self, tx: Transaction, call: Call, now: datetime) -> PendingOrder:
        context = self.parts.contexts.of(call.customer_id, now)
        return await price_again(tx, call.customer_id, _code(call), context)


def _code(call: Call) -> str:
    return call.path_text("code", "order")
