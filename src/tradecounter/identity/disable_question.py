"""What is asked before an API key is disabled, at both sites."""

from datetime import datetime

from tradecounter.edge.page_kit.values import moment_text
from tradecounter.edge.pages.step import Question


def disable_question(name: str, prefix: str, last_used_at: datetime | None, back: str, back_name: str) -> Question:
    """Return the question; `back` is the path of the page with the keys."""
    used = f"It was last used on {moment_text(last_used_at)}." if last_used_at else "It was never used."
    return Question(
        title=f"Disable {name}",
        text=f"Programs that send {prefix}… are rejected within five seconds. {used} A disabled key stays disabled.",
        button="Disable the key",
        back=back,
        back_name=back_name,
        danger=True,
    )
