"""An agent that calls `/mcp` with an access token."""

from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from tradecounter.identity.key_limits import KeyLimits


class LiveAgent(Struct, frozen=True):
    """What the user with `user_id` has allowed an agent for its customer; `id` is the consent's.

    `order_limit` and `day_limit` are in pounds with VAT; None without the scope `order`.
    """

    id: int
    customer_id: int
    user_id: int
    client_id: str
    agent: str
    allowed_by: str
    scopes: Sequence[str]
    order_limit: Decimal | None
    day_limit: Decimal | None

    @property
    def name(self) -> str:
        """The agent, with the person who allowed it, for the audit log."""
        return f"{self.agent}, allowed by {self.allowed_by}"

    @property
    def limits(self) -> KeyLimits:
        """What it may do, as of a key."""
        return KeyLimits(frozenset(self.scopes), None, ())
