"""The migrations, run on an empty database, make exactly what db/schema.sql shows.

`UPDATE_SCHEMA=1 make test ARGS=tests/contract/test_schema.py` writes the expected schema again after a migration.
"""

import difflib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from support.cluster import Cluster
from tradecounter.db.embedded import SERVICE_ROLE, EmbeddedPostgres
from tradecounter.db.embedded_programs import programs
from tradecounter.db.migrate import upgrade
from tradecounter.db.schema_state import newest_revision, schema_state
from tradecounter.db.transaction import OWNERS_THAT_ARE_DELETED

PICTURE = Path(__file__).parents[2] / "src" / "tradecounter" / "db" / "schema.sql"
HEADING = (
    "-- What the migrations make, but for the job queue's own tables. Generated: see tests/contract/test_schema.py.\n"
)

_BLOCK = re.compile(r"^--\n-- Name: (?P<name>[^;]*); Type: .*\n--\n", re.MULTILINE)
_NOT_OURS = re.compile(r"procrastinate|alembic_version|-- \*not\* creating schema")


@pytest.fixture(scope="module")
def embedded(postgres: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The tests' cluster if it is the embedded one, since other versions write schemas down differently."""
    if "TRADECOUNTER_DATABASE_URL" not in os.environ:
        yield postgres
    else:
        with EmbeddedPostgres(tmp_path_factory.mktemp("schema"), durable=False) as server:
            yield Cluster(server.administrator_url(), postgres.run, SERVICE_ROLE)


@pytest.fixture(scope="module")
def migrated(embedded: Cluster) -> Iterator[str]:
    with embedded.empty_database() as url:
        upgrade(url)
        yield url


def picture_of(url: str) -> str:
    """The schema of a database as SQL, without comments, session settings, and what others own."""
    command = [str(programs() / "pg_dump"), "--schema-only", "--no-owner", "--no-privileges", "--dbname", url]
    dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    pieces = _BLOCK.split(dump)  # what comes before the first name, then names and bodies in turn
    ours = [
        body.split("\n--\n-- PostgreSQL database dump complete")[0].strip()
        for name, body in zip(pieces[1::2], pieces[2::2], strict=True)
        if not _NOT_OURS.search(name) and not _NOT_OURS.search(body)
    ]
    without_settings = (re.sub(r"^SET .*;\n+", "", body, flags=re.MULTILINE) for body in ours)
    return HEADING + "".join(f"\n{body}\n" for body in without_settings)


def test_the_migrations_create_the_committed_schema(migrated: str) -> None:
    made = picture_of(migrated)
    if os.environ.get("UPDATE_SCHEMA") == "1":
        PICTURE.write_text(made, encoding="utf-8")
    shown = PICTURE.read_text(encoding="utf-8")
    difference = "".join(
        f"{line}\n"
        for line in difflib.unified_diff(shown.splitlines(), made.splitlines(), "schema.sql", "migrations", lineterm="")
    )
    assert not difference, f"{difference}\nIf this is meant, write the schema again with UPDATE_SCHEMA=1."


def test_the_committed_schema_contains_every_own_table() -> None:
    shown = set(re.findall(r"^CREATE TABLE public\.(\w+) \(", PICTURE.read_text(encoding="utf-8"), re.MULTILINE))
    assert {"product", "orders", "order_line", "customer", "stock_level", "change"} <= shown
    assert not any(_NOT_OURS.search(name) for name in shown)


def test_only_foreign_keys_to_what_is_deleted_meanwhile_are_named_as_such() -> None:
    schema = PICTURE.read_text(encoding="utf-8")
    keys = re.findall(r"ADD CONSTRAINT (\w+) FOREIGN KEY \(\w+\) REFERENCES public\.(\w+)\(", schema)
    deleted = {"customer", "customer_user", "saved_list", "webhook", "consent", "consent_grant"}
    deleted |= {"agent_client", "agent_consent"}
    named = {(name, table) for name, table in keys if name.endswith(OWNERS_THAT_ARE_DELETED)}
    notes = {("order_note_order_id_fkey", "orders")}
    assert named == notes | {(name, table) for name, table in keys if table in deleted}


def test_migrating_ends_at_the_newest_revision(migrated: str) -> None:
    with psycopg.connect(migrated) as connection:
        assert connection.execute("select version_num from alembic_version").fetchall() == [(newest_revision(),)]
    assert schema_state(migrated).current
