"""The service's role in the embedded database: it owns its schema, and can do nothing beyond it."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL

from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.migrate import upgrade
from tradecounter.db.schema_state import schema_state

pytestmark = pytest.mark.long

OWNERS = """
    select distinct pg_get_userbyid(owner) from (
        select relowner from pg_class where relnamespace = 'public'::regnamespace
        union select proowner from pg_proc where pronamespace = 'public'::regnamespace
        union select typowner from pg_type where typnamespace = 'public'::regnamespace
        union select nspowner from pg_namespace where nspname = 'public'
    ) as objects (owner)
"""

# What no earlier version made, but a later one or an operator may.
OTHER_KINDS = """
    create view order_count as select count(*) from orders;
    create materialized view order_count_then as select count(*) from orders;
    create sequence "Odd {name}";
    create type pair as (one integer, two integer);
    create domain quantity as integer check (value > 0);
    create procedure nothing() language sql as '';
    create aggregate product(integer) (sfunc = int4mul, stype = integer);
    create table parts (id bigserial primary key, at date) partition by range (id);
    create table part_one partition of parts for values from (1) to (10)
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


def test_a_cluster_of_an_earlier_version_is_handed_over_at_the_next_start(tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path, durable=False) as server:
        with psycopg.connect(server.administrator_url(), autocommit=True) as connection:
            connection.execute("alter schema public owner to pg_database_owner")
            connection.execute("drop role tradecounter")
        upgrade(server.administrator_url())  # as the earlier versions did
        with psycopg.connect(server.administrator_url(), autocommit=True) as connection:
            connection.execute(OTHER_KINDS)
            connection.execute("insert into price_list values ('kept')")
            assert ("postgres",) in connection.execute(OWNERS).fetchall()
    with EmbeddedPostgres(tmp_path, durable=False) as server, psycopg.connect(server.url()) as connection:
        assert connection.execute(OWNERS).fetchall() == [("tradecounter",)]
        assert connection.execute("select key from price_list").fetchall() == [("kept",)]
        connection.execute("insert into procrastinate_jobs (queue_name, task_name) values ('default', 'x')")
        connection.execute("alter type procrastinate_job_status add value 'later'")
        for statement in (
            "drop table price_list cascade",
            "drop function procrastinate_cancel_job_v1 cascade",
            'drop sequence "Odd {name}"',
            "drop type pair, quantity",
        ):
            connection.execute(SQL(statement).as_string().encode())
        connection.rollback()
        assert upgrade(server.url()).current


def test_an_interrupted_hand_over_is_completed_at_the_next_start(tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path, durable=False) as server:
        upgrade(server.url())
        with psycopg.connect(server.administrator_url(), autocommit=True) as connection:
            connection.execute("alter schema public owner to postgres")
            connection.execute("alter table orders owner to postgres")
    with EmbeddedPostgres(tmp_path, durable=False) as server:
        assert schema_state(server.url()).current
        with psycopg.connect(server.url()) as connection:
            assert connection.execute(OWNERS).fetchall() == [("tradecounter",)]
