"""The official client of the Model Context Protocol, as a test uses it: one call at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from support.service import Service
from support.shop import order

Result = TypeVar("Result")


@dataclass
class Agent:
    """An agent that sends these headers; `mode` is the client's: a revision, or how to find one out."""

    service: Service
    headers: dict[str, str] = field(default_factory=dict)
    mode: str = "auto"

    def use(self, work: Callable[[Client], Awaitable[Result]]) -> Result:
        """Connect, do something, and disconnect."""

        async def run() -> Result:
            async with httpx2.AsyncClient(headers=self.headers, timeout=30) as http:
                transport = streamable_http_client(f"{self.service.url}/mcp", http_client=http)
                async with Client(transport, mode=self.mode) as client:
                    return await work(client)

        return asyncio.run(run())

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result of a tool, whose schema the client has checked."""
        result = self.use(lambda client: client.call_tool(tool, arguments))
        assert not result.is_error, result.content
        return result.structured_content

    def error(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error of a tool."""
        result = self.use(lambda client: client.call_tool(tool, arguments))
        assert result.is_error, result.structured_content
        found: dict[str, Any] = result.structured_content
        return found


def agent(service: Service, key: str, **headers: str) -> Agent:
    """An agent with a key."""
    return Agent(service, {"X-Api-Key": key, **headers})


def priced(helper: Agent, quantity: int = 1) -> dict[str, Any]:
    """What to confirm: the cheapest way to get some phones."""
    found = helper.call("price_order", **order([("PHONE", quantity)]))
    option = min(found["shipping_options"], key=lambda each: each["total_gross"])
    code = found["confirmation_code"]
    return {"confirmation_code": code, "shipping_method": option["id"], "total": option["total_gross"]}
