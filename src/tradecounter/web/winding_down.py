"""The end of a process that answers requests, in an order that breaks none of them (docs/adr/0013)."""

import asyncio
import socket
from collections.abc import Callable

import uvicorn

from tradecounter.web.app import Application
from tradecounter.web.connection.tcp import drop_new_connections

_LOOK_SECONDS = 0.05


class Server(uvicorn.Server):
    """Uvicorn's server with such an end.

    `all_end` tells, when it is to end, whether all processes that share its sockets are: if not, they take its clients.
    """

    told_seconds = 1.5  # in which the supervisor says that all end: it looks for signals twice a second
    quiet_seconds = 1.0  # without a request, after which who is still connected is taken to want nothing
    longest_announcement = 5.0  # seconds, where requests never stop coming in

    def __init__(self, config: uvicorn.Config, all_end: Callable[[], bool] = lambda: True) -> None:
        super().__init__(config)
        self._all_end = all_end

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Say that the process ends, wait for clients to leave, and end.

        Readiness turns first, and every response closes its connection. When no request has come in for a second, or
        after five, no connection is taken any more; those that were are answered; then idle ones are closed, then the
        sockets; what is still under way has ten more seconds.
        """
        application: Application = self.config.loaded_app
        application.stopping.set()
        for connection in application.connections:
            connection.announce_end()
        all_end = await self._told_that_all_end()
        if not all_end:
            self._close_servers()
        await self._until_quiet(application)
        if all_end:
            drop_new_connections(sockets or [])
        await self._until_gone(application)
        await super().shutdown(sockets)

    async def _told_that_all_end(self) -> bool:
        """Return whether all processes end; a signal to all of them may reach this one before the supervisor."""
        end = asyncio.get_running_loop().time() + self.told_seconds
        while not self._all_end() and not self.force_exit and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110 a flag
            await asyncio.sleep(_LOOK_SECONDS)
        return self._all_end()

    def _close_servers(self) -> None:
        for server in self.servers:
            server.close()

    async def _until_quiet(self, application: Application) -> None:
        loop = asyncio.get_running_loop()
        requests, quiet_since = self.server_state.total_requests, loop.time()
        end = quiet_since + self.longest_announcement
        while (now := loop.time()) < end and not self.force_exit:
            if not application.connections and not self.server_state.tasks:
                break
            if self.server_state.tasks or requests != self.server_state.total_requests:
                requests, quiet_since = self.server_state.total_requests, now
            elif now - quiet_since >= self.quiet_seconds:
                break
            await asyncio.sleep(_LOOK_SECONDS)

    async def _until_gone(self, application: Application) -> None:
        """Take in the connections that are there, and give each the time to send what it was made for."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.quiet_seconds
        await asyncio.sleep(_LOOK_SECONDS)
        while application.connections and not self.force_exit and loop.time() < end:  # noqa: ASYNC110 flags, no events
            await asyncio.sleep(_LOOK_SECONDS)
