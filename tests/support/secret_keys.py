"""Secret keys of tests, and configurations that are encrypted with them."""

from collections.abc import Sequence

import psycopg

from tradecounter.identity.queries.secret_keys import fingerprint
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.wire import ConfigurationRequest

OLD, NEW, STRANGE = ("old" * 22, "new" * 22, "strange" * 10)


def passwords(database_url: str, *secret_keys: str) -> list[str | None]:
    """The passwords of all configurations, by id, as these keys decrypt them."""
    vault = ProvisioningVault(lambda: secret_keys)
    with psycopg.connect(database_url) as database:
        sealed = database.execute("select data from configuration order by id").fetchall()
    opened = [vault.unseal(data) for (data,) in sealed]
    return [None if configuration is None else configuration.adsl_password for configuration in opened]


def configure(database_url: str, item: int, secret_key: str, names: Sequence[str]) -> None:
    """Attach configurations to an item, with these passwords, as a service with this key does."""
    vault = ProvisioningVault(lambda: [secret_key])
    sealed = [vault.encrypt(ConfigurationRequest("line@isp.example", name)) for name in names]
    with psycopg.connect(database_url) as database:
        database.execute(
            "insert into configuration (line_id, data, created_at)"
            " select %s, c.data, now() from unnest(%s::bytea[]) with ordinality as c (data, place) order by c.place",
            [item, sealed],
        )


def forget_secrets(database_url: str) -> None:
    """Leave no configuration and no registered key behind."""
    with psycopg.connect(database_url) as database:
        database.execute("delete from configuration")
        database.execute("delete from secret_key")


def registered(database_url: str) -> set[str]:
    """Which of the tests' keys are registered."""
    names = {fingerprint(key): key for key in (OLD, NEW, STRANGE)}
    with psycopg.connect(database_url) as database:
        return {names[found] for (found,) in database.execute("select fingerprint from secret_key")}
