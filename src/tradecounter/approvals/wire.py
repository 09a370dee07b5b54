"""A request for approval as the reseller's programs and commands have it."""

from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.approvals.queries import Approval, State
from tradecounter.kit.wire import Amount, Moment, Timed, made_from


class ResellerApproval(Timed, Struct):
    """A request to confirm an order that is above its buyer's limit, and what was decided."""

    id: Annotated[int, Meta(description="The order's id.")]
    confirmation_code: str
    customer_id: int
    customer_reference: str
    total_gross: Annotated[Amount, Meta(description="With VAT and the shipping method.")]
    state: Annotated[
        State,
        Meta(description="`ended`: nobody decided; its order was confirmed or cancelled, or its quote has expired."),
    ]
    shipping_method: Annotated[int, Meta(description="The id of the method that was asked for.")]
    note: Annotated[str, Meta(description="What the approvers should know.")]
    requested_by: Annotated[
        str,
        Meta(description="The e-mail address of the user who asked or allowed the agent; empty once deleted."),
    ]
    agent: Annotated[str, Meta(description="The name of the agent that asked; empty if the user did.")]
    requested_at: Moment
    decided_by: Annotated[str, Meta(description="The user's e-mail address; empty if staff have decided.")]
    decided_at: Moment | None
    reason: Annotated[str, Meta(description="Why it was declined.")]


class DeclineApprovalRequest(Struct):
    """Why an order is declined."""

    reason: Annotated[str, Meta(description="The reason. Who asked gets it by e-mail.")]


def present_approval(approval: Approval) -> ResellerApproval:
    """Return a request as JSON."""
    return made_from(
        approval,
        ResellerApproval,
        id=approval.order_id,
        confirmation_code=approval.code,
        total_gross=approval.gross,
        requested_by=approval.requester,
        decided_by=approval.decider,
    )
