"""Checks the secret key, and that a sandbox and the live site do not share a database, when a service starts."""

import asyncio

from tradecounter.db.installation import is_sandbox
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.command_line.session import operator
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import PREFIX, Settings, SettingsError
from tradecounter.shipments.check_secret import register_secret

_AMISS = {
    True: f"{PREFIX}SANDBOX: the database is no sandbox's: `tradecounter sandbox refresh` makes an empty one that",
    False: f"{PREFIX}SANDBOX: the database is a sandbox's, so it must be true",
}


def require_secret(settings: Settings, url: str) -> None:
    """Register the secret key in the database. Raises SettingsError or WrongSecretError.

    The database must be a sandbox's if, and only if, the settings say so.
    """

    async def work() -> None:
        async with Database(url, connections=1) as database, transaction(database, operator()) as tx:
            if await is_sandbox(tx) != settings.sandbox:
                raise SettingsError(_AMISS[settings.sandbox])
            await register_secret(tx, secret_keys(settings), SystemClock().now())

    asyncio.run(work())
