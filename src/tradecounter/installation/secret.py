"""`tradecounter secret`: rotation of the secret key."""

from collections.abc import Sequence
from typing import Annotated

import typer

from tradecounter.access.second_factor import reseal_factors
from tradecounter.consent.issuer import reseal_keys
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading
from tradecounter.edge.command_line.output import AsJson, show
from tradecounter.edge.command_line.progress import progress_bar
from tradecounter.edge.command_line.session import operator, with_database
from tradecounter.feeds.manage import reseal_feeds
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import read_settings
from tradecounter.shipments.queries.fulfilment import count_sealed
from tradecounter.shipments.secret_keys import Rotation, rotate_secret
from tradecounter.webhooks.manage import reseal_webhooks

app = typer.Typer(
    no_args_is_help=True,
    help="The secret key, which encrypts configurations, webhooks' secrets, second factors, the issuer's keys, feeds.",
)


@app.callback()
def secret() -> None:
    """Make `rotate` a subcommand although it is the only one."""


@app.command("rotate")
def rotate(
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss", help="Accept lost keys: data encrypted with them stays unreadable, but services can start."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Re-encrypt data of former secret keys with the current key; may be interrupted and repeated."""

    async def work(database: Database) -> Rotation:
        keys = secret_keys(read_settings())
        async with reading(database) as tx:
            count = await count_sealed(tx)
        with progress_bar("encrypting", count) as progress:
            now, actor = SystemClock().now(), operator()
            return await rotate_secret(
                database, keys, now, actor=actor, others=_reseal_others, accept_loss=accept_loss, progress=progress
            )

    done = with_database(work)
    lines = [f"{done.rotated} re-encrypted with the current key, {done.current} already were"]
    if done.unreadable:
        lines.append(f"{done.unreadable} cannot be decrypted with any key and are unchanged")
    show(done, "\n".join(lines), as_json=as_json)


async def _reseal_others(tx: Transaction, keys: Sequence[str]) -> None:
    await reseal_webhooks(tx, keys)
    await reseal_keys(tx, keys)
    await reseal_factors(tx, keys)
    await reseal_feeds(tx, keys)
