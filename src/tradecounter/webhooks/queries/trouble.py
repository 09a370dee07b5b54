"""Which webhooks need attention."""

from dataclasses import dataclass

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Trouble:
    """How many endpoints are paused or disabled by the service, and how many active ones fail."""

    stopped: int
    failing: int


_TROUBLE = Statement(
    "select count(*) filter (where state <> 'active' and reason is not null) as stopped,"
    " count(*) filter (where state = 'active' and failing_since is not null) as failing from webhook",
    Trouble,
)


async def webhooks_in_trouble(tx: Transaction) -> Trouble:
    """Return how many endpoints need attention; those that their owners paused do not."""
    return await tx.fetch_one(_TROUBLE) or Trouble(0, 0)
