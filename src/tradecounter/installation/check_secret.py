"""Checks the secret key when a service starts."""

import asyncio

from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.command_line.session import operator
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import Settings
from tradecounter.shipments.check_secret import register_secret


def require_secret(settings: Settings, url: str) -> None:
    """Register the secret key in the database. Raises SettingsError or WrongSecretError."""

    async def work() -> None:
        async with Database(url, connections=1) as database, transaction(database, operator()) as tx:
            await register_secret(tx, secret_keys(settings), SystemClock().now())

    asyncio.run(work())
