"""The e-mails about requests for approval: to those who decide, and to the user who asked."""

from msgspec.structs import asdict, replace

from tradecounter.access.queries.people import find_user_by_id, list_users
from tradecounter.approvals.queries import find_approval_of_order, find_former_decline
from tradecounter.approvals.rules import APPROVERS
from tradecounter.customers.queries.accounts import find_account
from tradecounter.kit.money import in_pounds
from tradecounter.notifications.context import MailContext
from tradecounter.notifications.mail import Mail


async def approval_requested(context: MailContext, *, order_id: int) -> Mail | None:
    """Ask the customer's owners and approvers; None if it is decided."""
    approval = await find_approval_of_order(context.tx, order_id, context.now)
    if approval is None or approval.state != "waiting":
        return None
    users = await list_users(context.tx, approval.customer_id)
    approvers = [user.email for user in users if user.disabled_at is None and user.has_role(*APPROVERS)]
    return await context.mail(
        f"approval-requested-{order_id}-{int(approval.requested_at.timestamp())}",
        approval.requested_at,
        approvers,
        f"To approve: {approval.customer_reference}, {in_pounds(approval.gross)}",
        "approval_requested",
        reply_to=approval.requester or None,
        approval=approval,
        account=await find_account(context.tx, approval.customer_id),
        link=context.settings.page("account", f"approval/{approval.code}"),
    )


async def approval_decided(
    context: MailContext, *, order_id: int, asked_by: int | None = None, decided: int | None = None
) -> Mail | None:
    """Tell the user who asked; None if the user is gone or disabled.

    `decided` is the Unix time of the decision, and `asked_by` who asked then: the quote may be asked for again since.
    Jobs that an older version has queued have neither.
    """
    approval = await find_approval_of_order(context.tx, order_id, context.now)
    decided_at = None if approval is None or approval.decided_at is None else int(approval.decided_at.timestamp())
    if approval is not None and decided is not None and decided_at != decided:
        former = await find_former_decline(context.tx, order_id, decided)
        if former is None:
            return None
        approval = replace(approval, state="declined", requested_by=asked_by, **asdict(former))
    if approval is None or approval.decided_at is None or approval.requested_by is None:
        return None
    user = await find_user_by_id(context.tx, approval.requested_by)
    if user is None or user.disabled_at is not None:
        return None
    return await context.mail(
        f"approval-decided-{order_id}-{int(approval.decided_at.timestamp())}",
        approval.decided_at,
        [user.email],
        f"{approval.state.capitalize()}: {approval.customer_reference}",
        "approval_decided",
        reply_to=approval.decider or None,
        approval=approval,
        account=await find_account(context.tx, approval.customer_id),
        link=context.settings.page("account", f"approval/{approval.code}"),
    )
