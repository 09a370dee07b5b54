"""What is asked before an API key is disabled, at both sites."""

from tradecounter.edge.page_kit.values import moment_text
from tradecounter.edge.pages.step import Question
from tradecounter.identity.queries.api_keys import KeyRecord


def disable_question(key: KeyRecord, back: str, back_name: str) -> Question:
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
