"""Shuts an API process down without breaking requests (docs/adr/0013)."""

import asyncio
import socket
from collections.abc import Callable

import uvicorn

from tradecounter.edge.server.connection.connections import drop_new_connections
from tradecounter.sites.http.site import Site

_LOOK_SECONDS = 0.05
_TICKS_PER_REPORT = 10  # of uvicorn, which ticks ten times a second


class Server(uvicorn.Server):
    """Uvicorn's server with a graceful shutdown.

    `all_end` returns whether all processes on its sockets are stopping. If not, the others take over its clients.
    `report` is called about once a second, and at the end; where `is_abandoned` then returns True, the server stops.
    """

    told_seconds = 1.5  # until the supervisor sets the flag: it checks for signals twice a second
    quiet_seconds = 1.0  # without a request, before connected clients count as idle
    longest_announcement = 5.0  # seconds, if requests keep arriving

    def __init__(
        self,
        config: uvicorn.Config,
        all_end: Callable[[], bool] = lambda: True,
        report: Callable[[Site], None] | None = None,
        is_abandoned: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(config)
        self._all_end = all_end
        self._report = report
        self._is_abandoned = is_abandoned

    async def on_tick(self, counter: int) -> bool:
        """Report; return whether to stop."""
        if counter % _TICKS_PER_REPORT == 0:
            if self._report is not None:
                self._report(self.config.loaded_app)
            if self._is_abandoned():
                return True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Announce the shutdown, let clients disconnect, and end.

        First, `GET /ready` responds with 503 and every response closes its connection. After a second without a
        request, or after five seconds, the process accepts no new connections. Accepted connections
        still get responses; idle ones are closed. Running requests have ten more seconds.
        """
        application: Site = self.config.loaded_app
        application.stopping.set()
        for connection in application.connections:
            connection.announce_end()
        all_end = await self._told_that_all_end()
        if not all_end:
            for server in self.servers:
                server.close()
        await self._until_quiet(application)
        if all_end:
            drop_new_connections(sockets or [])
        await self._until_gone(application)
        await super().shutdown(sockets)
        if self._report is not None:
            self._report(application)

    async def _told_that_all_end(self) -> bool:
        """Return whether all processes are stopping; a signal to all may reach this process before the supervisor."""
        end = asyncio.get_running_loop().time() + self.told_seconds
        while not self._all_end() and not self.force_exit and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110 a flag
            await asyncio.sleep(_LOOK_SECONDS)
        return self._all_end()

    async def _until_quiet(self, application: Site) -> None:
        loop = asyncio.get_running_loop()
        requests = self.server_state.total_requests
        quiet_since = loop.time()
        end = quiet_since + self.longest_announcement
        while (now := loop.time()) < end and not self.force_exit:
            if not application.connections and not self.server_state.tasks:
                break
            if self.server_state.tasks or requests != self.server_state.total_requests:
                requests = self.server_state.total_requests
                quiet_since = now
            elif now - quiet_since >= self.quiet_seconds:
                break
            await asyncio.sleep(_LOOK_SECONDS)

    async def _until_gone(self, application: Site) -> None:
        """Accept the backlog's connections and allow each of them time to send its request."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.quiet_seconds
        await asyncio.sleep(_LOOK_SECONDS)
        while application.connections and not self.force_exit and loop.time() < end:  # noqa: ASYNC110 flags, no events
            await asyncio.sleep(_LOOK_SECONDS)
