"""Who makes a change, for the audit log."""

from typing import Literal

from msgspec import Struct

ActorKind = Literal["staff", "token", "user", "key", "agent", "command_line", "system"]


class Actor(Struct, frozen=True):
    """A staff member, a service token, a customer's user, key or agent, a command's system user, or the system itself.

    `id` is the id of the member, token, user, key or agent's consent; an application is a key with its client id.
    `acting_user` is what a token's program says of its own user, and `address` the network address of the request.
    """

    kind: ActorKind
    name: str
    id: int | str | None = None
    acting_user: str | None = None
    address: str | None = None

    @property
    def full_name(self) -> str:
        """The name, with the acting user in brackets."""
        return self.name if self.acting_user is None else f"{self.name} ({self.acting_user})"


SYSTEM = Actor("system", "system")
