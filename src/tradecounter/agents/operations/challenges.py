"""Turns a call whose scope an agent's token does not have into a challenge: the agent may ask its person for more."""

from collections.abc import MutableMapping
from typing import Any

from starlette.types import Message, Scope, Send

from tradecounter.edge.permissions import KeyScope

_WATCHED = "tradecounter.agent_response"


class Watched:
    """A response that is held back as soon as a missing scope is noted."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.missing: KeyScope | None = None
        self._send = send
        scope[_WATCHED] = self

    async def send(self, message: Message) -> None:
        """Send a part of the response, unless it is held back."""
        if self.missing is None:
            await self._send(message)


def note_missing_scope(scope: MutableMapping[str, Any], missing: KeyScope | None) -> None:
    """Note the scope that a request needs and its token does not have, before the response begins."""
    watched: Watched = scope[_WATCHED]
    watched.missing = missing
