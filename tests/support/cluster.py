"""The PostgreSQL that the tests run on: the embedded one, or the server that TRADECOUNTER_DATABASE_URL names.

Every test module gets a database of its own, copied from a template that the migrations made.
"""

import fcntl
import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg.sql import SQL, Identifier

from tradecounter.db.embedded import SERVICE_ROLE, EmbeddedPostgres, hand_over
from tradecounter.db.migrate import upgrade

_numbers = itertools.count(1)
_MEMORY = Path("/dev/shm")
_ENOUGH_BYTES = 4 * 1024**3


@dataclass(frozen=True)
class Cluster:
    """`url` may make databases; the service uses them as `role`, or as the same user where there is no other."""

    url: str
    run: str
    role: str | None = None

    @property
    def template(self) -> str:
        return f"tradecounter_template_{self.run}"

    def url_of(self, database: str) -> str:
        """The URL of a database, as the service has it."""
        parts = urlsplit(self.url)
        netloc = f"{self.role}@" if self.role else parts.netloc
        return urlunsplit((parts.scheme, netloc, f"/{database}", parts.query, ""))

    def administrator_url_of(self, database: str) -> str:
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc, f"/{database}", parts.query, ""))

    def create(self, database: str) -> None:
        """Make a database without any table."""
        self.execute("create database {}", database)
        if self.role:
            hand_over(self.administrator_url_of(database))

    def execute(self, statement: str, *names: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(SQL(statement).format(*map(Identifier, names)))

    def exists(self, database: str) -> bool:
        with psycopg.connect(self.url) as connection:
            found = connection.execute("select from pg_database where datname = %s", [database])
            return found.fetchone() is not None

    @contextmanager
    def database(self, template: str | None = None) -> Iterator[str]:
        """A database of its own, migrated and empty, or a copy of the database at a URL; its URL."""
        source = self.template if template is None else urlsplit(template).path.removeprefix("/")
        name = f"tradecounter_test_{os.getpid()}_{next(_numbers)}"
        self.execute("create database {} template {} strategy file_copy", name, source)
        try:
            yield self.url_of(name)
        finally:
            self.execute("drop database {} with (force)", name)

    @contextmanager
    def empty_database(self) -> Iterator[str]:
        """A database without any table; its URL."""
        name = f"tradecounter_test_{os.getpid()}_{next(_numbers)}"
        self.create(name)
        try:
            yield self.url_of(name)
        finally:
            self.execute("drop database {} with (force)", name)


@contextmanager
def cluster(shared: Path, run: str) -> Iterator[Cluster]:
    """The cluster that all processes of one test run share; `shared` is a folder that they have in common."""
    with ExitStack() as stack:
        url = os.environ.get("TRADECOUNTER_DATABASE_URL")
        if url is None:
            embedded = stack.enter_context(_embedded(shared, run))
            found = Cluster(embedded.administrator_url(), run, SERVICE_ROLE)
        else:
            found = Cluster(url, run)
        with _locked(shared, run):
            if not found.exists(found.template):
                found.create(f"{found.template}_new")
                upgrade(found.url_of(f"{found.template}_new"))
                found.execute("alter database {} rename to {}", f"{found.template}_new", found.template)
        yield found


@contextmanager
def _embedded(shared: Path, run: str) -> Iterator[EmbeddedPostgres]:
    """The embedded server, in memory if the machine has enough: every database is a few hundred new files."""
    folder = shared
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ENOUGH_BYTES:
        folder = _MEMORY / f"tradecounter-tests-{run}"
    embedded = EmbeddedPostgres(folder, durable=False)
    with _locked(shared, run):
        embedded.__enter__()
    try:
        yield embedded
    finally:
        with _locked(shared, run):
            embedded.__exit__(None, None, None)
            if folder != shared and not embedded.running:
                shutil.rmtree(folder)


@contextmanager
def _locked(shared: Path, run: str) -> Iterator[None]:
    with (shared / f"cluster-{run}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
