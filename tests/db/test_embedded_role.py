"""The service's role in the embedded database: it owns its schema, and can do nothing beyond it."""

from collections.abc import Iterator

import psycopg
import pytest

from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.migrate import upgrade

pytestmark = pytest.mark.long

OWNERS = """
    select distinct pg_get_userbyid(owner) from (
        select relowner from pg_class where relnamespace = 'public'::regnamespace
        union select proowner from pg_proc where pronamespace = 'public'::regnamespace
        union select typowner from pg_type where typnamespace = 'public'::regnamespace
        union select nspowner from pg_namespace where nspname = 'public'
    ) as objects (owner)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(tmp_path_factory.mktemp("role"), durable=False) as running:
        upgrade(running.url())
        yield running


def test_the_role_owns_its_schema_and_has_no_right_beyond_it(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        attributes = connection.execute(
            "select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls from pg_roles"
            " where rolname = current_user"
        ).fetchone()
        assert attributes == (False,) * 5
        assert connection.execute("select from pg_auth_members where member = current_user::regrole").fetchall() == []
        assert connection.execute(OWNERS).fetchall() == [("tradecounter",)]


@pytest.mark.parametrize(
    "statement",
    [
        "copy (select 1) to program 'id'", "copy (select 1) to '/tmp/x'", "select pg_read_file('postgresql.conf')",
        "alter system set log_statement = 'all'", "create role another", "create database another",
        "alter role tradecounter superuser", "drop extension plpgsql", "set role postgres", "create schema another",
        "select lo_import('/etc/passwd')", "drop database template1",
    ],
)  # fmt: skip
def test_the_role_reaches_nothing_outside_the_database(server: EmbeddedPostgres, statement: str) -> None:
    with (
        psycopg.connect(server.url(), autocommit=True) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(statement.encode())
