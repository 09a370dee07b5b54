"""What all benchmarks of one run share: the data, the database server, and how long to measure."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from bench.kit.catalogue import Catalogue
from bench.kit.store import Store, make_store
from tradecounter.db.embedded import EmbeddedPostgres

MEDIUM = 20_000
LARGE = 100_000


@dataclass(frozen=True, slots=True)
class Workbench:
    """A temporary folder with a durable PostgreSQL and the stores created so far."""

    folder: Path
    postgres: EmbeddedPostgres
    catalogue: Catalogue
    quick: bool
    started: float = field(default_factory=time.monotonic)
    stores: dict[int, Store] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """How many rounds to take the median of."""
        return 3

    @property
    def seconds(self) -> int:
        """How long one round lasts."""
        return 1 if self.quick else 4

    @property
    def small(self) -> Store:
        """The store with the unchanged catalogue."""
        return self.store(len(self.catalogue.products))

    def store(self, count: int) -> Store:
        """Return the store with this many products; created on first use."""
        if count not in self.stores:
            self.say(f"making a catalogue of {count:,} products")
            self.stores[count] = make_store(
                self.folder / f"store-{count}", self.new_database(f"store_{count}"), self.catalogue, count
            )
        return self.stores[count]

    def copy_of(self, store: Store, name: str) -> Store:
        """Return a copy of a store, in a database and a folder with a name."""
        url = self.new_database(name, f"store_{len(store.products)}")
        return Store(self.place(name), url, store.products, customer_ids=store.customer_ids)

    @property
    def postgres_pid(self) -> int:
        """The database server's process."""
        return int((self.postgres.home / "data" / "postmaster.pid").read_text().split()[0])

    def new_database(self, name: str, template: str = "template0") -> str:
        """Make a database, empty or as a copy; return its URL."""
        with psycopg.connect(self.postgres.administrator_url(), autocommit=True) as connection:
            connection.execute(f'create database "{name}" template "{template}"'.encode())
        return self.postgres.administrator_url(name)

    def place(self, name: str) -> Path:
        """Return a folder for a benchmark's files."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def say(self, text: str) -> None:
        """Print the progress."""
        sys.stderr.write(f"[{time.monotonic() - self.started:5.0f} s] {text}\n")


@contextmanager
def workbench(folder: Path, catalogue: Catalogue, *, quick: bool) -> Iterator[Workbench]:
    """Start the database server while the block runs."""
    with EmbeddedPostgres(folder / "postgres") as postgres:
        yield Workbench(folder, postgres, catalogue, quick)
