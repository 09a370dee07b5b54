"""What is asked before a customer's user is disabled, at both sites."""

from tradecounter.edge.pages.step import Question
from tradecounter.edge.people import CustomerUser


def disable_question(user: CustomerUser, back: str, back_name: str) -> Question:
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
