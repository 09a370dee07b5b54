"""What a process starts with; and the SDK of `/mcp`, which starts with the first request of an agent, once."""

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import pytest

from support.agents import agent
from support.command_line import without_settings
from support.service import Service
from tradecounter.agents.operations.server import RunningManager


@pytest.mark.sweep
def test_a_process_without_agents_does_not_import_the_sdk() -> None:
    program = (
        "import sys, tradecounter.sites.public, tradecounter.sites.back_office, tradecounter.sites.worker;"
        "sys.exit(any(name.split('.')[0] in ('mcp', 'mcp_types') for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", program], env=without_settings(), check=True)


@pytest.mark.sweep
def test_a_process_starts_without_libraries_that_only_some_pages_and_commands_need() -> None:
    program = (
        "import sys, tradecounter.sites.command_line, tradecounter.sites.commands.serve, tradecounter.sites.public;"
        "sys.exit(any(name in sys.modules for name in ('rich', 'markdown_it', 'pygments', 'yaml', 'holidays')))"
    )
    subprocess.run([sys.executable, "-c", program], env=without_settings(), check=True)


@pytest.mark.sweep
def test_first_requests_at_the_same_time_are_all_served(own_shop: Service) -> None:
    helper = agent(own_shop, own_shop.customer().key)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: helper.call("get_products", skus=["PHONE"]), range(6)))
    assert {each["products"][0]["sku"] for each in found} == {"PHONE"}


def test_a_server_that_cannot_start_fails_its_requests_instead_of_keeping_them() -> None:
    def failing() -> NoReturn:
        raise ValueError("cannot start")

    async def run() -> None:
        running = RunningManager(failing)
        async with asyncio.timeout(5):
            for _ in range(2):
                with pytest.raises(ValueError, match="cannot start"):
                    await running.manager()
            await running.stop()

    asyncio.run(run())
