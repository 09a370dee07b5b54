"""The e-mails about orders that wait for approval: to those who may approve, and to the user who asked."""

from tradecounter.access.queries.users import find_user_by_id, list_users
from tradecounter.approvals.queries import find_approval_of_order
from tradecounter.approvals.rules import APPROVERS
from tradecounter.customers.queries.accounts import find_account
from tradecounter.kit.money import in_pounds
from tradecounter.notifications.context import MailContext
from tradecounter.notifications.mail import Mail
from tradecounter.orders.back_orders.expected_dates import change_number


async def approval_requested(context: MailContext, *, order_id: int) -> Mail | None:
    """Ask the customer's owners and approvers; None if it is decided."""
    approval = await find_approval_of_order(context.tx, order_id, context.now)
    if approval is None or approval.state != "waiting":
        return None
    users = await list_users(context.tx, approval.customer_id)
    approvers = [user.email for user in users if user.disabled_at is None and user.has_role(*APPROVERS)]
    return await context.mail(
        f"approval-requested-{order_id}-{change_number(approval.requested_at)}",
        approval.requested_at,
        approvers,
        f"To approve: {approval.customer_reference}, {in_pounds(approval.gross)}",
        "approval_requested",
        reply_to=approval.requester or None,
        approval=approval,
        account=await find_account(context.tx, approval.customer_id),
        link=context.settings.page("account", f"approval/{approval.code}"),
    )


async def approval_decided(context: MailContext, *, order_id: int) -> Mail | None:
    """Tell the user who asked; None if the user is gone or disabled."""
    approval = await find_approval_of_order(context.tx, order_id, context.now)
    if approval is None or approval.decided_at is None or approval.requested_by is None:
        return None
    user = await find_user_by_id(context.tx, approval.requested_by)
    if user is None or user.disabled_at is not None:
        return None
    return await context.mail(
        f"approval-decided-{order_id}-{change_number(approval.decided_at)}",
        approval.decided_at,
        [user.email],
        f"{approval.state.capitalize()}: {approval.customer_reference}",
        "approval_decided",
        reply_to=approval.decider or None,
        approval=approval,
        account=await find_account(context.tx, approval.customer_id),
        link=context.settings.page("account", f"approval/{approval.code}"),
    )
