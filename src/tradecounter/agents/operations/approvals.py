"""Orders above an agent's limits wait for people of the customer, under *Approvals* in the account."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from tradecounter.agents.limit_spending import limit_exceeded
from tradecounter.approvals.decide import request_approval
from tradecounter.approvals.queries import find_approval
from tradecounter.db.transaction import Transaction
from tradecounter.identity.live_agent import LiveAgent
from tradecounter.kit.local_time import local_text
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import PendingOrder, PricedQuote


class HeldBack(Struct, frozen=True):
    """Why an agent's order is not confirmed, in words too."""

    code: Literal["approval_needed", "declined"]
    message: str


async def declined(tx: Transaction, agent: LiveAgent, code: str) -> HeldBack | None:
    """Return that people of the customer have declined an order, or None."""
    approval = await find_approval(tx, agent.customer_id, code)
    if approval is None or approval.state != "declined":
        return None
    return HeldBack(
        "declined", f"{approval.decider or 'an approver'} has declined the order, and says: {approval.reason}"
    )


async def held_back(
    tx: Transaction, agent: LiveAgent, order: PendingOrder | PricedQuote, option: ShippingOption, now: datetime
) -> HeldBack | None:
    """Return that an order waits for approval, which is asked for if need be; None if the agent may confirm it.

    The agent and the order are locked.
    """
    if order.has_expired(now):
        return None  # confirming says so
    approval = await find_approval(tx, agent.customer_id, order.confirmation_code)
    if approval is not None and approval.state == "waiting":
        return HeldBack("approval_needed", f"the order waits for approval in the account{_until(order)}")
    limit = await limit_exceeded(tx, agent, order.gross_with(option), now)
    if limit is None:
        return None
    note = f"Asked by the agent {agent.agent}: above {limit}."
    code = order.confirmation_code
    await request_approval(tx, agent.customer_id, agent.user_id, code, option.id, note, now, agent=agent.agent)
    return HeldBack(
        "approval_needed",
        f"the order is above {limit}: an owner or an approver has to confirm it in the account, under Approvals"
        f"{_until(order)}. Nothing is bought yet; call confirm_order again later to learn how it went",
    )


def _until(order: PendingOrder | PricedQuote) -> str:
    return f", until {local_text(order.expires_at)}"
