"""All processes of a shop on this machine: public site, back office, worker, PostgreSQL, and a receiver of webhooks."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.kit.processes import BenchError, family_of, processor_seconds
from bench.kit.product import Server, backoffice, serving, tradecounter, working
from bench.kit.receiver import Receiver, receiving
from bench.kit.store import Store
from bench.kit.workbench import Workbench
from bench.load_model.costs import API, OFFICE, POSTGRES, WORKER, Seconds
from bench.load_model.day import PRODUCTS
from tradecounter.feeds.render import PRICES
from tradecounter.identity.credentials import secret_hash

UNITS = 1_000_000  # of each product, so that everything ordered can be dispatched
BOTH_CORES = "0,1"
FEEDS = 200

_SETTINGS = {
    "TRADECOUNTER_WEBHOOK_HTTP": "true",
    "TRADECOUNTER_WEBHOOK_NETWORKS": "127.0.0.0/8",
    "TRADECOUNTER_ANSWER_MEMORY": str(32 * 1024 * 1024),  # soon full, so that memory is flat soon
    "TRADECOUNTER_SELLER_NAME": "Bench Ltd",
    "TRADECOUNTER_SELLER_ADDRESS": "1 Bench Street, Leeds, LS1 1AA",
    "TRADECOUNTER_SELLER_VAT_NUMBER": "GB123456789",
}
_SCOPES = ("catalogue:write", "prices:write", "stock:write", "orders:write", "billing:write", "events:write")
_FEED = """
    insert into feed (customer_id, name, columns, filter, markup, rounding, vat_included, hash, secret, created_at,
                      addressed_at)
    values (%s, 'shop', %s::jsonb, '{}', 12.5, 'penny', true, %s, '', now(), now())
"""
_COLUMNS = ("sku", "name", "availability.available", next(iter(PRICES)))


@dataclass(frozen=True, slots=True)
class Site:
    """A running shop. `token` is that of the reseller's programs, `feeds` are the secrets in addresses."""

    store: Store
    api: Server
    office: Server
    worker: int
    postgres: int
    receiver: Receiver
    token: str
    feeds: list[str]
    log: Path

    @property
    def pids(self) -> Mapping[str, int]:
        """The first process of each part."""
        return {API: self.api.pid, OFFICE: self.office.pid, WORKER: self.worker, POSTGRES: self.postgres}

    def used(self) -> Seconds:
        """Return the processor seconds that each part has used so far."""
        return {part: processor_seconds(pid) for part, pid in self.pids.items()}

    def require_alive(self) -> None:
        """Raise BenchError when a process has ended."""
        for part, pid in self.pids.items():
            if not _alive(pid):
                raise BenchError(f"{part} ended: {self.log.read_text()[-500:]}")

    @contextmanager
    def posting(self) -> Iterator[None]:
        """Have events of orders posted to the receiver while the block runs."""
        types = ("order.confirmed", "order.dispatched", "invoice.issued", "payment.recorded")
        words = [word for name in types for word in ("--type", name)]
        env = self.store.env | _SETTINGS
        webhook = tradecounter(env, "webhook", "add", f"http://127.0.0.1:{self.receiver.port}/", *words)["id"]
        try:
            yield
        finally:
            tradecounter(env, "webhook", "remove", str(webhook))


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@contextmanager
def site(bench: Workbench, *, workers: int) -> Iterator[Site]:
    """Run all processes on both cores while the block runs, with 20,000 products that are all in stock."""
    store = bench.store(PRODUCTS)
    folder = bench.place("load-model")
    with store.connect() as connection:
        connection.execute(
            "insert into stock_level (product_id, available) select id, %s from product"
            " on conflict (product_id) do update set available = excluded.available",
            [UNITS],
        )
        secrets = [os.urandom(32).hex() for _ in range(FEEDS)]
        columns = "[" + ",".join(f'["{name}","{name}"]' for name in _COLUMNS) + "]"
        for secret, customer in zip(secrets, store.customer_ids, strict=False):
            connection.execute(_FEED, [customer, columns, secret_hash(secret)])
        connection.execute("vacuum analyze stock_level, feed")
    with connect_as_administrator(bench) as settings:
        settings.execute("alter system set track_wal_io_timing = on")
        settings.execute("select pg_reload_conf()")
    words = [word for scope in _SCOPES for word in ("--scope", scope)]
    token = tradecounter(store.env, "token", "add", "--name", "load model", *words)["token"]
    env = store.env | _SETTINGS
    with ExitStack() as stack:
        api = stack.enter_context(serving(env, folder, workers=workers, cores=BOTH_CORES))
        office = stack.enter_context(backoffice(env, folder, cores=BOTH_CORES))
        worker = stack.enter_context(working(env, folder, cores=BOTH_CORES))
        receiver = stack.enter_context(receiving())
        log = folder / "services.log"
        yield Site(store, api, office, worker, bench.postgres_pid, receiver, token, secrets, log)


@contextmanager
def connect_as_administrator(bench: Workbench) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Connect to the server, which only an administrator may configure."""
    with psycopg.connect(bench.postgres.administrator_url(), autocommit=True) as connection:
        yield connection


def memory_of(site_: Site) -> dict[str, int]:
    """Return the bytes that each process has resident by itself, by the name of its part and its place there."""
    found: dict[str, int] = {}
    for part, pid in site_.pids.items():
        family = family_of(pid)
        if part == POSTGRES:  # its backends come and go; what they share has a fixed size
            found[part] = sum(_own_bytes(member) for member in family)
        elif part == API:
            serving_ = set(site_.api.processes())
            for place, member in enumerate(sorted(serving_), 1):
                found[f"{part} {place}"] = _own_bytes(member)
        else:
            found[part] = _own_bytes(pid)
    return found


def _own_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "VmSwap:")))
