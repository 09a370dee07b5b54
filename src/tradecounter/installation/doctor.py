"""`tradecounter doctor`: checks what a service needs and suggests remedies."""

import asyncio

from tradecounter.db.pool import Database
from tradecounter.db.schema_state import schema_state
from tradecounter.db.transaction import reading
from tradecounter.edge.command_line.output import AsJson, Prose, show_json, show_table
from tradecounter.edge.command_line.session import EXPECTED, database_url, fail, reason_for
from tradecounter.installation.checks.check import Check, fine, wrong
from tradecounter.installation.checks.of_database import (
    check_contents,
    check_disk,
    check_issuer_keys,
    check_replica,
    check_schema,
    check_secret_key,
)
from tradecounter.installation.checks.of_services import (
    check_backoffice,
    check_issuer,
    check_mail,
    check_ready,
    check_settings,
    check_snapshot,
)
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import Settings, SettingsError, read_settings

_COLUMNS = ("name", "ok", Prose("message", 30), Prose("remedy", 24))


def doctor(as_json: AsJson = False) -> None:
    """Check settings, database, replica, worker, mail, issuer, API and back office; status 1 if a check fails."""
    checks = _checks()
    failed = [check.name for check in checks if not check.ok]
    if as_json:
        show_json({"ok": not failed, "checks": checks})
    else:
        show_table(checks, _COLUMNS, as_json=False)
    if failed:
        fail(f"{len(failed)} of {len(checks)} checks failed: {', '.join(failed)}")


def _checks() -> list[Check]:
    try:
        settings = read_settings()
    except SettingsError as error:
        return [wrong("settings", str(error), "correct it, in the environment or in `.env`")]
    return [*check_settings(settings), *_of_database(settings), *asyncio.run(_of_services(settings))]


def _of_database(settings: Settings) -> list[Check]:
    try:
        with database_url(settings) as url:
            state = schema_state(url)
            contents = asyncio.run(_of_contents(url, settings)) if state.usable else []
    except EXPECTED as error:
        remedy = "start the database, or correct TRADECOUNTER_DATABASE_URL"
        if settings.database_url is None:
            remedy = "run this in the folder of the database, or set TRADECOUNTER_DATABASE_URL"
        return [wrong("database", reason_for(error), remedy)]
    return [fine("database", "it responds"), check_schema(state), *contents]


async def _of_contents(url: str, settings: Settings) -> list[Check]:
    async with Database(url, connections=1) as database, reading(database) as tx:
        checks = [
            *await check_contents(tx, SystemClock()),
            await check_secret_key(tx, settings),
            await check_issuer_keys(tx, settings),
            await check_disk(tx),
        ]
    return [*checks, await check_replica(settings, url)]


async def _of_services(settings: Settings) -> list[Check]:
    return list(
        await asyncio.gather(
            check_mail(settings),
            check_issuer(settings),
            check_snapshot(settings),
            check_backoffice(settings),
            check_ready(settings),
        )
    )
