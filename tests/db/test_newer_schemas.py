"""A program on the schema of a newer one: it works with what was only added."""

import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from support.cluster import Cluster
from support.command_line import SECRET, Forker, Program, started
from support.other_releases import Release, next_release
from tradecounter.db.schema_state import newest_revision, schema_state, too_new

pytestmark = pytest.mark.long

EXPAND = "alter table orders add column colour text"
CONTRACT = "alter table orders drop column colour"


@pytest.fixture
def program(postgres: Cluster, tmp_path: Path, forker: Forker) -> Iterator[Program]:
    """This release on a database of its own, with its schema."""
    with postgres.database() as url:
        yield Program(tmp_path, url, forker, {"TRADECOUNTER_SECRET_KEY": SECRET})


@pytest.fixture
def newer(tmp_path: Path) -> Release:
    return next_release(tmp_path / "newer")


def upgrade_with(newer: Release, program: Program) -> None:
    assert program.url is not None
    newer.run("db", "upgrade", url=program.url)


def test_a_program_starts_on_a_newer_schema_that_says_it_works(program: Program, newer: Release) -> None:
    revision = newer.add_migration(EXPAND, works_from=newest_revision())
    upgrade_with(newer, program)
    assert program.json("db", "check") == {"revision": revision}
    assert "is newer than this version" in program.text("db", "check")
    [schema] = [each for each in program.run("doctor", "--json").document["checks"] if each["name"] == "schema"]
    assert schema["ok"]
    assert program.url is not None
    settings = {"TRADECOUNTER_DATABASE_URL": program.url, "TRADECOUNTER_SECRET_KEY": SECRET}
    with started("serve", "--port", "0", "--json", folder=program.folder, environment=settings) as running:
        assert running.announced["base_url"]
        assert running.stop(signal.SIGTERM)[0] == 0


def test_a_programs_upgrade_leaves_a_newer_schema_that_it_works_with(program: Program, newer: Release) -> None:
    revision = newer.add_migration(EXPAND, works_from=newest_revision())
    upgrade_with(newer, program)
    assert program.json("db", "upgrade") == {"revision": revision}
    assert program.url is not None
    with psycopg.connect(program.url) as connection:
        connection.execute("select colour from orders")


@pytest.mark.parametrize("oldest", [None, "the expanding one"])
def test_a_program_rejects_a_schema_that_needs_a_newer_one(
    program: Program, newer: Release, oldest: str | None
) -> None:
    expanded = newer.add_migration(EXPAND, works_from=newest_revision())
    contracted = newer.add_migration(CONTRACT, works_from=oldest and expanded)
    upgrade_with(newer, program)
    reason = too_new(contracted)
    for words in (["serve", "--port", "0"], ["worker"], ["db", "check"], ["db", "upgrade"]):
        assert program.error(*words) == reason
    assert program.url is not None
    state = schema_state(program.url)
    assert (state.oldest_program, state.usable) == (expanded if oldest else contracted, False)


def test_a_later_expansion_does_not_lower_what_a_contraction_needs(program: Program, newer: Release) -> None:
    contracted = newer.add_migration("alter table orders rename column kind to sort")
    newer.add_migration(EXPAND, works_from=newest_revision())
    upgrade_with(newer, program)
    assert program.url is not None
    assert schema_state(program.url).oldest_program == contracted
