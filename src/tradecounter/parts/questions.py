"""What is asked, at both sites, before the access of a user, of a program or of an agent ends."""

from tradecounter.agents.queries import AgentConsent
from tradecounter.edge.page_kit.values import moment_text
from tradecounter.edge.pages.step import Question
from tradecounter.edge.people import CustomerUser
from tradecounter.identity.queries.api_keys import KeyRecord


def disable_user_question(user: CustomerUser, back: str, back_name: str) -> Question:
    """Return the question; `back` is the path of the page with the users."""
    return Question(
        title=f"Disable {user.email}",
        text="The user is signed out at once and cannot sign in any more. Orders and the account's keys stay. A new "
        "invitation enables the user again.",
        button="Disable the user",
        back=back,
        back_name=back_name,
        danger=True,
    )


def disable_key_question(key: KeyRecord, back: str, back_name: str) -> Question:
    """Return the question; `back` is the path of the page with the keys."""
    used = f"It was last used on {moment_text(key.last_used_at)}." if key.last_used_at else "It was never used."
    return Question(
        title=f"Disable {key.name}",
        text=f"Programs that send {key.prefix}… are rejected within five seconds. {used} "
        "A disabled key stays disabled.",
        button="Disable the key",
        back=back,
        back_name=back_name,
        danger=True,
    )


def revoke_agent_question(agent: AgentConsent, back: str, back_name: str) -> Question:
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
