"""`/account/user`: the account's users, for its owners."""

from datetime import datetime
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.queries.people import fetch_user_of, is_owner, list_users, visits_of_users
from tradecounter.access.rules import USER_ROLE_CHOICES
from tradecounter.access.users import UserChange, UserRights, change_user, disable_own_user, invite_own_user
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import EditForm, fields_shown
from tradecounter.edge.pages.operation import OWNER, page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import UserRole
from tradecounter.edge.rest.call import Call
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.numbers import Pounds
from tradecounter.parts.account import AccountParts
from tradecounter.parts.questions import disable_user_question

_LIST = "/account/user"


class InviteForm(UserRights, kw_only=True):
    """Whom to invite, and what the user may do."""

    email: str


class RightsForm(EditForm):
    """What a user may do, as `UserRights`."""

    roles: list[UserRole]
    order_limit: Pounds | None = None


class UserPages(Struct, frozen=True):
    """The pages of the account's users."""

    desk: PageDesk
    parts: AccountParts

    @page(_LIST, "Users", user_roles=OWNER)
    async def list_users(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            users = await list_users(tx, call.customer_id)
            visits = await visits_of_users(tx, call.customer_id)
        return self.desk.show(
            call,
            "access/list.html",
            users=sorted(users, key=lambda user: user.disabled_at is not None),
            owners=sum(map(is_owner, users)),
            visits=visits,
            own_id=user_of(call).id,
        )

    @step(
        f"{_LIST}/invite",
        "Invite a user",
        template="access/user.html",
        values={"user": None, "roles": USER_ROLE_CHOICES},
        to=_LIST,
        done=lambda user: f"{user.email} gets an e-mail with a link, which is good for seven days.",
        user_roles=OWNER,
        dangerous=True,
    )
    async def invite(self, tx: Transaction, call: Call, body: InviteForm, now: datetime) -> CustomerUser:
        secret = secret_key(self.parts.settings)
        return await invite_own_user(tx, call.customer_id, body.email, body, secret, now)

    async def _user_to_change(self, tx: Transaction, call: Call) -> dict[str, Any]:
        user = await fetch_user_of(tx, call.customer_id, _id(call))
        return {"user": user, "roles": USER_ROLE_CHOICES, "was": fields_shown(RightsForm, user)}

    @step(
        f"{_LIST}/{{id}}/role",
        "Change what a user may do",
        template="access/user.html",
        values=_user_to_change,
        to=_LIST,
        done=lambda user: f"{user.email} has the role{'s' if user.more_roles else ''} {' and '.join(user.roles)}.",
        user_roles=OWNER,
        dangerous=True,
    )
    async def change_role(self, tx: Transaction, call: Call, body: RightsForm, now: datetime) -> CustomerUser:
        return await change_user(tx, call.customer_id, _id(call), UserChange(**body.differences()), now)

    async def _ask_to_disable(self, tx: Transaction, call: Call) -> Question:
        return disable_user_question(await fetch_user_of(tx, call.customer_id, _id(call)), _LIST, "Users")

    @step(
        f"{_LIST}/{{id}}/disable",
        "Disable a user",
        asks=_ask_to_disable,
        to=_LIST,
        done=lambda user: f"{user.email} is disabled and signed out.",
        user_roles=OWNER,
    )
    async def disable(self, tx: Transaction, call: Call, now: datetime) -> CustomerUser:
        return await disable_own_user(tx, call.customer_id, _id(call), now)


def _id(call: Call) -> int:
    return call.path_id("id", "user")
