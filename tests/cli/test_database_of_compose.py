"""The database that deploy/compose.yaml makes: its owner, the service's role, is not the superuser."""

import subprocess
from pathlib import Path

import psycopg
import pytest

from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.embedded_programs import programs
from tradecounter.db.migrate import upgrade

pytestmark = pytest.mark.long

SCRIPT = Path(__file__).parents[2] / "deploy" / "compose-database.sh"
PASSWORD = "it's $hop; \\"


def test_the_service_owns_its_database_and_is_no_superuser(tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path) as server:
        administrator = server.administrator_url("postgres")
        with psycopg.connect(administrator, autocommit=True) as connection:
            connection.execute("drop database if exists tradecounter")
            connection.execute("drop owned by tradecounter")
            connection.execute("drop role tradecounter")
            variables = {
                "PATH": f"{programs()}:/usr/bin:/bin",
                "PGHOST": connection.info.host,
                "SERVICE_PASSWORD": PASSWORD,
            }
            subprocess.run([SCRIPT], env=variables, check=True)
            upgrade(server.url("tradecounter"))
            role = connection.execute("select rolsuper, rolpassword from pg_authid where rolname = 'tradecounter'")
            [(is_superuser, password)] = role.fetchall()
            owner = connection.execute("select datdba::regrole::text from pg_database where datname = 'tradecounter'")
            assert owner.fetchall() == [("tradecounter",)]
    assert not is_superuser
    assert password.startswith("SCRAM-SHA-256$")
