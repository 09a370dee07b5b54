"""A primary with a replica that streams from it, made with the embedded programs."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.embedded_programs import COPIES, Programs, programs, server_account
from tradecounter.kit.private_folder import make_data_dir


class Server:
    """A running server of the embedded PostgreSQL."""

    def __init__(self, folder: Path) -> None:
        self._embedded = EmbeddedPostgres(folder, durable=False)
        self.start()

    @property
    def url(self) -> str:
        return self._embedded.url()

    def start(self) -> None:
        self._embedded.__enter__()

    def stop(self) -> None:
        self._embedded.__exit__(None, None, None)

    def ask(self, query: LiteralString, *values: Any) -> Any:
        """The first column of the first row."""
        with psycopg.connect(self._embedded.administrator_url(), autocommit=True) as connection:
            row = connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    def run(self, statement: LiteralString) -> None:
        """Run a statement as the service's role."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)

    def scans(self, table: str) -> int:
        """How often this server's clients have read a table."""
        found = self.ask("select seq_scan + coalesce(idx_scan, 0) from pg_stat_user_tables where relname = %s", table)
        return int(found or 0)  # a replica that is behind may not have the table yet

    def become_replica(self) -> None:
        """Restart as a replica of nobody, on the timeline that the server has written."""
        self.stop()
        mark = self._embedded.data / "standby.signal"
        mark.touch()
        mark.chmod(0o644)
        self.start()

    def copy(self, folder: Path) -> None:
        """Make the data folder of a replica, which streams from this server."""
        account = server_account()
        home = folder.resolve() / "postgres"
        make_data_dir(folder)
        home.mkdir(mode=0o700)
        data = home / "data"
        data.mkdir(mode=0o700)
        if account is not None:
            os.chown(data, account.pw_uid, account.pw_gid)
        # The account may have no access to the parents of the socket's folder, which is the server's own.
        source = f"host=/proc/{self._embedded.postmaster}/cwd user=postgres"
        own = Programs(programs(), account, COPIES)
        options = ("--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync")
        done = own.run("pg_basebackup", "--pgdata", own.data, "--dbname", source, *options, folder=data)
        assert done.returncode == 0, done.stderr


class Replica(Server):
    """A replica, whose replay can be held."""

    def pause(self) -> None:
        self.ask("select pg_wal_replay_pause()")

    def resume(self) -> None:
        self.ask("select pg_wal_replay_resume()")

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Stop the server's first process while the block runs: connections are accepted, and nothing more happens."""
        postmaster = self._embedded.postmaster
        assert postmaster is not None
        os.kill(postmaster, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(postmaster, signal.SIGCONT)


@contextmanager
def streaming_pair(folder: Path) -> Iterator[tuple[Server, Replica]]:
    """A primary and its replica."""
    primary = Server(folder / "primary")
    try:
        primary.copy(folder / "replica")
        replica = Replica(folder / "replica")
        try:
            yield primary, replica
        finally:
            replica.stop()
    finally:
        primary.stop()
