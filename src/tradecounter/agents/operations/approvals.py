"""Orders above an agent's limits wait for people of the customer, under *Approvals* in the account."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from tradecounter.approvals.handle_approvals import request_approval
from tradecounter.approvals.queries import Approval
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import LiveAgent
from tradecounter.kit.clock import local_text
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import in_pounds
from tradecounter.orders.queries.orders import lock_own_order
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import PendingOrder, PricedQuote

_QUOTE_EXPIRED = "the quote expired before anybody approved it: ask for another one"
_ORDER_EXPIRED = (
    "the order expired before anybody approved it. An owner or an approver can still price it again in the account, "
    "under Approvals: ask them before you price another one"
)


class HeldBack(Struct, frozen=True):
    """Why an agent's order is not confirmed, in words too."""

    code: Literal["approval_needed", "declined"]
    message: str


async def held_by_people(tx: Transaction, approval: Approval, known_code: str, now: datetime) -> HeldBack | None:
    """Return why an order that people decide about is not confirmed; None if it is confirmed or has ended.

    `known_code` is the code by which the agent knows it, in lower case: that of a former order if it was priced again.
    Raises DomainError (gone) if it has expired before.
    """
    if approval.state == "declined":
        who = approval.decider or "an approver"
        return HeldBack("declined", f"{who} has declined the order, and says: {approval.reason}")
    order = await lock_own_order(tx, approval.customer_id, approval.code)
    if not isinstance(order, PendingOrder | PricedQuote):
        return None
    if order.has_expired(now):
        raise DomainError(Kind.GONE, _QUOTE_EXPIRED if isinstance(order, PricedQuote) else _ORDER_EXPIRED)
    priced = (
        "" if order.confirmation_code == known_code else f" was priced again, is {in_pounds(approval.gross)} now, and"
    )
    return HeldBack("approval_needed", f"the order{priced} waits for approval in the account{_until(order)}")


async def ask_people(
    tx: Transaction,
    agent: LiveAgent,
    order: PendingOrder | PricedQuote,
    option: ShippingOption,
    why: str,
    now: datetime,
) -> HeldBack:
    """Ask for the approval of an agent's order, and say so. The agent and the order are locked."""
    note = f"Asked by the agent {agent.agent}: {why}."
    code = order.confirmation_code
    await request_approval(tx, agent.customer_id, agent.user_id, code, option.id, note, now, agent=agent.agent)
    return HeldBack(
        "approval_needed",
        f"the {order.kind} is {why}: an owner or an approver has to confirm it in the account, under Approvals"
        f"{_until(order)}. Nothing is bought yet; call confirm_order again later to learn how it went",
    )


def is_priced_since(approval: Approval, order: PendingOrder | PricedQuote) -> bool:
    """Return whether a quote was priced again after people declined it."""
    declined_at = approval.decided_at if approval.state == "declined" else None
    return declined_at is not None and isinstance(order, PricedQuote) and order.pricing.priced_at > declined_at


def _until(order: PendingOrder | PricedQuote) -> str:
    return f", until {local_text(order.expires_at)}"
