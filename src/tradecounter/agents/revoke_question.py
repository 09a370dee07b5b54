"""The question before an agent's access is revoked, in the back office and in the account."""

from tradecounter.agents.queries.consents import AgentConsent
from tradecounter.edge.pages.step import Question


def revoke_question(agent: AgentConsent, back: str, back_name: str) -> Question:
    """Return the question; `back` is the page to go back to."""
    return Question(
        title=f"Revoke the access of {agent.name}",
        text="The agent can no longer see the customer's prices and orders, or order for it. Its orders stay. It may "
        "ask for consent again.",
        button="Revoke",
        back=back,
        back_name=back_name,
        danger=True,
    )
