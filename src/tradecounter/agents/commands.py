"""`tradecounter agent`: what customers allow agents."""

from typing import Annotated, Any

import typer

from tradecounter.agents.consents import revoke_agent
from tradecounter.agents.queries import AgentConsent, standing_consents
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId, IdOf
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import AsJson, Prose, show
from tradecounter.edge.command_line.session import run_change
from tradecounter.kit.clock import SystemClock

_LIMITS = ("order_limit", "day_limit", "spent_today")
_MEMBERS = ("id", "name", "client_id", "returns_to", "scopes", *_LIMITS, "allowed_by", "given_at", "expires_at",
            "last_used_at")  # fmt: skip

app = typer.Typer(no_args_is_help=True, help="Agents that may order for customers, within limits.")


@app.command("list")
@lists_records(("id", Prose("name"), "scopes", *_LIMITS, "allowed_by", "expires_at", "last_used_at"))
async def show_all(tx: Transaction, customer_id: CustomerId) -> list[dict[str, Any]]:
    """List the agents that a customer's users allow."""
    await fetch_account(tx, customer_id)
    return [_shown(consent) for consent in await standing_consents(tx, customer_id, SystemClock().now())]


@app.command("revoke")
def revoke(
    customer_id: CustomerId,
    agent_id: Annotated[int, IdOf("AGENT_ID", "The agent's id, from `agent list`.")],
    as_json: AsJson = False,
) -> None:
    """End what a customer allows an agent, in every process at once."""
    ended = run_change(lambda tx, now: revoke_agent(tx, customer_id, agent_id, now))
    show(_shown(ended), f"the access of {ended.name} is revoked", as_json=as_json)


def _shown(agent: AgentConsent) -> dict[str, Any]:
    return {name: getattr(agent, name) for name in _MEMBERS}
