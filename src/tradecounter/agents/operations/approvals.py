"""Orders above an agent's limits wait for people of the customer, under *Approvals* in the account."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.agents.consents import limit_exceeded
from tradecounter.agents.queries import AgentConsent
from tradecounter.approvals.handle_approvals import request_approval
from tradecounter.approvals.queries import Approval
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import LiveAgent
from tradecounter.kit.clock import local_text
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import in_pounds
from tradecounter.orders.queries.orders import lock_unconfirmed
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import PendingOrder, PricedQuote
from tradecounter.orders.wire import CreatedOrder

_QUOTE_EXPIRED = "the quote expired before anybody approved it: ask for another one"
_ORDER_EXPIRED = (
    "the order expired before anybody approved it. An owner or an approver can still price it again in the account, "
    "under Approvals: ask them before you price another one"
)


class Confirmation(Struct):
    """What came of it."""

    code: Annotated[
        str,
        Meta(
            description="`confirmed`; `approval_needed`: people of the customer have to confirm it first; `declined`: "
            "they do not want it. New values may be added."
        ),
    ]
    message: Annotated[str, Meta(description="The same in words.")]
    order: Annotated[CreatedOrder | UnsetType, Meta(description="The order, once it is confirmed.")] = UNSET


Shown = tuple[PendingOrder | PricedQuote, ShippingOption]


async def held_back(
    tx: Transaction,
    agent: LiveAgent,
    consent: AgentConsent,
    approval: Approval | None,
    code: str,
    shown: Shown | None,
    now: datetime,
) -> Confirmation | None:
    """Return why an agent's order is not confirmed, or None: people decide about it, or have to.

    `code` is the one by which the agent knows it, in lower case: that of a former order if it was priced again. `shown`
    is the order with its shipping method, if it can be confirmed. The agent and the order are locked.
    Raises DomainError (gone) if it has expired before people decided.
    """
    if approval is None:
        limit = None if shown is None else limit_exceeded(consent, shown[0].gross_with(shown[1]))
        return None if shown is None or limit is None else await _ask(tx, agent, *shown, f"above {limit}", now)
    if shown is not None and _is_priced_since(approval, shown[0]):
        # What people have declined is theirs to decide, also below the agent's limits.
        return await _ask(tx, agent, *shown, "priced again since it was declined", now)
    return await _decided(tx, approval, code, now)


async def _decided(tx: Transaction, approval: Approval, known_code: str, now: datetime) -> Confirmation | None:
    """Return what people have decided so far; None if the order is confirmed or has ended."""
    if approval.state == "declined":
        who = approval.decider or "an approver"
        return Confirmation("declined", f"{who} has declined the order, and says: {approval.reason}")
    order = await lock_unconfirmed(tx, approval.customer_id, approval.code)
    if not isinstance(order, PendingOrder | PricedQuote):
        return None
    if order.has_expired(now):
        raise DomainError(Kind.GONE, _QUOTE_EXPIRED if isinstance(order, PricedQuote) else _ORDER_EXPIRED)
    priced = (
        "" if order.confirmation_code == known_code else f" was priced again, is {in_pounds(approval.gross)} now, and"
    )
    return Confirmation("approval_needed", f"the order{priced} waits for approval in the account{_until(order)}")


async def _ask(
    tx: Transaction,
    agent: LiveAgent,
    order: PendingOrder | PricedQuote,
    option: ShippingOption,
    why: str,
    now: datetime,
) -> Confirmation:
    note = f"Asked by the agent {agent.agent}: {why}."
    code = order.confirmation_code
    await request_approval(tx, agent.customer_id, agent.user_id, code, option.id, note, now, agent=agent.agent)
    return Confirmation(
        "approval_needed",
        f"the {order.kind} is {why}: an owner or an approver has to confirm it in the account, under Approvals"
        f"{_until(order)}. Nothing is bought yet; call confirm_order again later to learn how it went",
    )


def _is_priced_since(approval: Approval, order: PendingOrder | PricedQuote) -> bool:
    declined_at = approval.decided_at if approval.state == "declined" else None
    return declined_at is not None and isinstance(order, PricedQuote) and order.pricing.priced_at > declined_at


def _until(order: PendingOrder | PricedQuote) -> str:
    return f", until {local_text(order.expires_at)}"
