"""What agents spend: the orders that they confirm by themselves."""

from datetime import date, datetime
from decimal import Decimal

from tradecounter.agents.queries.consents import AgentConsent, find_consent
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import LiveAgent

# Not the consents that a scheduled job deletes, in an order of its own.
_LOCK_OF_CLIENT = Statement("""
    select from agent_consent
    where customer_id = :customer_id and client_id = :client_id
      and code_used_at is not null and ended_at is null and expires_at > :now
    order by id for update
""")
_INSERT_ORDER = Statement("""
    insert into agent_order (order_id, customer_id, client_id, day, gross)
    values (:order_id, :customer_id, :client_id, :day, :gross)
""")


async def lock_spending(tx: Transaction, agent: LiveAgent, now: datetime) -> AgentConsent | None:
    """Return an agent's consent; other orders of the agent, and its revocation, wait until the transaction ends."""
    await tx.execute(_LOCK_OF_CLIENT, customer_id=agent.customer_id, client_id=agent.client_id, now=now)
    return await find_consent(tx, agent.id, now)


async def insert_agent_order(tx: Transaction, agent: LiveAgent, order_id: int, day: date, gross: Decimal) -> None:
    """Note an order that an agent confirms by itself."""
    await tx.execute(
        _INSERT_ORDER,
        order_id=order_id,
        customer_id=agent.customer_id,
        client_id=agent.client_id,
        day=day,
        gross=gross,
    )
