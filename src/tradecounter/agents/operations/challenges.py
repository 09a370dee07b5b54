"""Turns a call for which an agent's token lacks a scope into a challenge: the agent may ask its person for more."""

from collections.abc import MutableMapping
from typing import Any

from starlette.types import Message, Scope, Send

from tradecounter.edge.permissions import KeyScope

_LACKS = "tradecounter.agent_lacks"


class Watched:
    """A response that is held back once a request lacks a scope."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.lacking: KeyScope | None = None
        self._send = send
        scope[_LACKS] = self

    async def send(self, message: Message) -> None:
        """Send a part of the response unless the request lacks a scope."""
        if self.lacking is None:
            await self._send(message)


def note_lack(scope: MutableMapping[str, Any], lacking: KeyScope | None) -> None:
    """Note the scope that a request lacks, before its response begins."""
    watched: Watched = scope[_LACKS]
    watched.lacking = lacking
