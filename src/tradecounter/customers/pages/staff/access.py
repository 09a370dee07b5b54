"""A customer's users and API keys: `/customer/{id}/access`, with the forms that invite, make and disable."""

from datetime import datetime
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.queries.people import fetch_user_of, list_users
from tradecounter.access.rules import USER_ROLE_CHOICES
from tradecounter.access.users import invite_user
from tradecounter.agents.consents import fetch_agent, revoke_agent
from tradecounter.agents.queries import standing_consents
from tradecounter.customers.operations.changes import disable_user_of, make_key
from tradecounter.customers.operations.wire import CreatedKey, UserRequest
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.permissions import UserRole
from tradecounter.edge.rest.call import Call
from tradecounter.identity.installation_secret import secret_key
from tradecounter.identity.manage_keys import SCOPE_CHOICES, KeyForm, end_key_of, named_on_page
from tradecounter.identity.queries.api_keys import fetch_key, list_keys
from tradecounter.kit.errors import named_by
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.questions import disable_key_question, disable_user_question, revoke_agent_question
from tradecounter.parts.shown import ShownCustomer, shown_customer

_INVITE, _KEY = "/customer/{id}/user/invite", "/customer/{id}/key/new"
_REVOKE_AGENT = "/customer/{id}/agent/{agent_id}/revoke"
_DISABLE_USER, _DISABLE_KEY = "/customer/{id}/user/{user_id}/disable", "/customer/{id}/key/{key_id}/disable"
_SHOWN_ALREADY = "The key was made before, and its text was shown then. Make another one if it is lost."


class Invited(Struct):
    """Whom the form of an invitation names at first."""

    email: str = ""
    role: UserRole = "buyer"


class CustomerAccessPages(Struct, frozen=True):
    """A customer's users and API keys."""

    desk: PageDesk
    parts: OfficeParts

    @page("/customer/{id}/access", "A customer's users and keys", scope="customers:read")
    async def show_access(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            customer = await shown_customer(tx, call)
            users, keys = await list_users(tx, customer.id), await list_keys(tx, customer.id)
            agents = await standing_consents(tx, customer.id, self.desk.clock.now())
        return self.desk.show(
            call,
            "customers/access.html",
            shown=customer,
            users=users,
            keys=keys,
            agents=agents,
            now=self.desk.clock.now(),
        )

    async def _shown(self, tx: Transaction, call: Call) -> dict[str, Any]:
        return {"shown": await shown_customer(tx, call), "scopes": SCOPE_CHOICES}

    async def _whom(self, tx: Transaction, call: Call) -> dict[str, Any]:
        return {"shown": await shown_customer(tx, call), "roles": USER_ROLE_CHOICES, "invited": call.query(Invited)}

    @step(
        _INVITE,
        "Invite a user",
        template="customers/invite.html",
        values=_whom,
        to="/customer/{id}/access",
        done=str,
        scope="customers:write",
        dangerous=True,
    )
    async def invite(self, tx: Transaction, call: Call, body: UserRequest, now: datetime) -> str:
        customer_id = call.path_id("id", "customer")
        secret = secret_key(self.parts.settings)
        user, _ = await invite_user(tx, customer_id, body.email, body.role, secret, now)
        return f"An invitation is on its way to {user.email}."

    @step(
        _KEY,
        "Make an API key",
        template="customers/new_key.html",
        values=_shown,
        to="/customer/{id}/access",
        done=_SHOWN_ALREADY,
        reveals=lambda self, call, made: self.desk.show(call, "customers/made_key.html", shown=made[0], key=made[1]),
        scope="customers:write",
        dangerous=True,
    )
    async def make_key(
        self, tx: Transaction, call: Call, body: KeyForm, now: datetime
    ) -> tuple[ShownCustomer, CreatedKey]:
        customer = await shown_customer(tx, call)
        with named_by(named_on_page):
            return customer, await make_key(tx, customer.id, body.request, now)

    async def _ask_to_disable_user(self, tx: Transaction, call: Call) -> Question:
        customer = await shown_customer(tx, call)
        user = await fetch_user_of(tx, customer.id, call.path_id("user_id", "user"))
        return disable_user_question(user, f"{customer.path}/access", customer.name)

    @step(
        _DISABLE_USER,
        "Disable a user",
        asks=_ask_to_disable_user,
        to="/customer/{id}/access",
        done="The user is disabled.",
        scope="customers:write",
    )
    async def disable_user(self, tx: Transaction, call: Call, now: datetime) -> None:
        await disable_user_of(tx, call.path_id("id", "customer"), call.path_id("user_id", "user"), now)

    async def _ask_to_disable_key(self, tx: Transaction, call: Call) -> Question:
        customer = await shown_customer(tx, call)
        key = await fetch_key(tx, customer.id, call.path_id("key_id", "key"))
        return disable_key_question(key, f"{customer.path}/access", customer.name)

    @step(
        _DISABLE_KEY,
        "Disable an API key",
        asks=_ask_to_disable_key,
        to="/customer/{id}/access",
        done="The key is disabled.",
        scope="customers:write",
    )
    async def disable_key(self, tx: Transaction, call: Call, now: datetime) -> None:
        await end_key_of(tx, call.path_id("id", "customer"), call.path_id("key_id", "key"), now)

    async def _ask_to_revoke_agent(self, tx: Transaction, call: Call, now: datetime) -> Question:
        customer = await shown_customer(tx, call)
        agent = await fetch_agent(tx, customer.id, call.path_id("agent_id", "agent"), now)
        return revoke_agent_question(agent, f"{customer.path}/access", customer.name)

    @step(
        _REVOKE_AGENT,
        "Revoke the access of an agent",
        asks=_ask_to_revoke_agent,
        to="/customer/{id}/access",
        done="The access is revoked: the agent can do nothing more.",
        scope="customers:write",
    )
    async def revoke_agent(self, tx: Transaction, call: Call, now: datetime) -> None:
        await revoke_agent(tx, call.path_id("id", "customer"), call.path_id("agent_id", "agent"), now)
