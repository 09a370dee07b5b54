"""A PostgreSQL that is backed up by the scripts in deploy/backup, destroyed and restored."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psycopg

from support.processes import kill_server
from support.waiting import wait_for
from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.embedded_programs import COPIES, Programs, programs, server_account

SCRIPTS = Path(__file__).parents[2] / "deploy" / "backup"


class Backups(Protocol):
    """A PostgreSQL with an archive of its WAL, as `make drill` needs it."""

    @property
    def url(self) -> str:
        """The URL of the service's database."""

    def back_up(self) -> Path:
        """Make a base backup; its folder."""

    def wait_for_archive(self) -> None:
        """Return when all WAL written so far is in the archive."""

    def destroy(self) -> None:
        """End everything as a power failure does, and delete all data directories."""

    def restore(self, moment: str) -> None:
        """Restore the database as it was at a moment; return when it takes writes."""

    def query(self, statement: str) -> list[Any]:
        """Run a statement as the superuser, in the service's database."""


@dataclass
class BackedUpServer:
    """An embedded server that archives its WAL in a folder."""

    server: EmbeddedPostgres
    folder: Path

    @property
    def url(self) -> str:
        return self.server.url()

    def archive(self) -> None:
        """Turn archiving on; the server restarts."""
        command = f"{self.folder}/scripts/archive-wal {self.folder} %p %f"
        self.query(f"alter system set archive_command = '{command}'")
        self.query("alter system set archive_mode = on")
        self.query("alter system set archive_timeout = '1s'")
        kill_server(self._postmaster, signal.SIGINT)
        self.server.restart()

    def back_up(self, kept: int = 14) -> Path:
        """Make a base backup; its folder."""
        done = self.run("back-up", str(self.folder), str(kept))
        assert done.returncode == 0, done.stderr
        return Path(done.stdout.strip().splitlines()[-1])

    def wait_for_archive(self) -> None:
        """Return when all WAL written so far is in the archive."""
        wait_for_archive(self.folder, self.query)

    def destroy(self) -> None:
        """End the server as a power failure does, and delete its data directory."""
        kill_server(self._postmaster, signal.SIGQUIT)
        shutil.rmtree(self.server.data)

    def restore(self, moment: str, *timeline: str) -> None:
        """Restore the data directory as it was at a moment, start the server, and wait until it takes writes."""
        made = self.folder / "restored"
        done = self.run("restore", str(self.folder), moment, str(made), *timeline)
        assert done.returncode == 0, done.stderr
        shutil.move(made, self.server.data)
        self.server.restart()
        wait_for(lambda: self.query("select pg_is_in_recovery()") == [(False,)])

    def query(self, statement: str) -> list[Any]:
        """Run a statement as the superuser."""
        with psycopg.connect(self.server.administrator_url(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a script as the server's account, beside the server's socket."""
        account, found = server_account(), Programs(programs(), server_account(), COPIES).folder
        identity: dict[str, Any] = (
            {} if account is None else {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        )
        return subprocess.run(
            [self.folder / "scripts" / script, *arguments],
            cwd=self.server.data if self.server.data.exists() else "/",
            env={"PATH": f"{found}:/usr/bin:/bin", "PGHOST": "/proc/self/cwd", "PGUSER": "postgres"},
            text=True, capture_output=True, check=False, **identity,
        )  # fmt: skip

    @property
    def _postmaster(self) -> int:
        postmaster = self.server.postmaster
        assert postmaster is not None
        return postmaster


@contextmanager
def backed_up_server(home: Path, place: Path | None = None) -> Iterator[BackedUpServer]:
    """A server with an archive while the block runs; its backups are in a folder in `place`."""
    with archive(place) as folder, EmbeddedPostgres(home) as server:
        found = BackedUpServer(server, folder)
        found.archive()
        yield found


@contextmanager
def archive(place: Path | None) -> Iterator[Path]:
    """A folder in `place`, of the server's account, with the scripts of deploy/backup and room for WAL."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        shutil.copytree(SCRIPTS, folder / "scripts")
        (folder / "wal").mkdir()
        if (account := server_account()) is not None:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, account.pw_uid, account.pw_gid)
        yield folder


def wait_for_archive(folder: Path, query: Callable[[str], list[Any]]) -> None:
    """Return when all WAL that a server has written so far is in the folder."""
    [(name,)] = query("select pg_walfile_name(pg_current_wal_insert_lsn())")
    query("select pg_switch_wal()")
    wait_for((folder / "wal" / f"{name}.gz").exists)
