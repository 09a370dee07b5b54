"""`/account/developer/agent`: the agents that may order for the customer."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.agents.consents import fetch_agent, revoke_agent
from tradecounter.agents.queries import standing_consents
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.operation import DEVELOPERS, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import DEVELOPER_HOME
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.parts.account import AccountParts
from tradecounter.parts.questions import revoke_agent_question

_LIST = f"{DEVELOPER_HOME}/agent"


class AgentPages(Struct, frozen=True):
    """The agents that have access."""

    desk: PageDesk
    parts: AccountParts

    @page(_LIST, "Agents", user_roles=DEVELOPERS)
    async def list_agents(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            consents = await standing_consents(tx, call.customer_id, self.desk.clock.now())
        server = f"{call.base_url}/mcp"
        return self.desk.show(call, "agents/agents.html", agents=consents, server=server)

    async def _ask_to_revoke(self, tx: Transaction, call: Call, now: datetime) -> Question:
        agent = await fetch_agent(tx, call.customer_id, _agent_id(call), now)
        return revoke_agent_question(agent, _LIST, "Agents")

    @step(
        f"{_LIST}/{{agent_id}}/revoke",
        "Revoke the access of an agent",
        asks=_ask_to_revoke,
        to=_LIST,
        done="The access is revoked: the agent can do nothing more.",
        user_roles=DEVELOPERS,
    )
    async def revoke(self, tx: Transaction, call: Call, now: datetime) -> None:
        await revoke_agent(tx, call.customer_id, _agent_id(call), now)


def _agent_id(call: Call) -> int:
    return call.path_id("agent_id", "agent")
