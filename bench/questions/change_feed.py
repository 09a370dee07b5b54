"""Programs that follow the catalogue: what one changed unit of stock costs, and five thousand that wait."""

import asyncio
import json
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, LiteralString

from bench.kit.customers import COUNT, LISTS
from bench.kit.figures import Row, milliseconds, per_second, seconds
from bench.kit.http import Connection, request_text
from bench.kit.processes import BenchError
from bench.kit.product import Server, environment, serving
from bench.kit.reads import headers_of
from bench.kit.round_trips import Relay, relayed
from bench.kit.store import Store
from bench.kit.workbench import LARGE, Workbench

FOLLOWERS = 5000
MOST_BYTES = 2000
MOST_MS_OF_ONE = 1.0
MOST_MS_OF_MANY = 0.4
ONE_SECONDS = 1
MANY_SECONDS = 2
TICK_SECONDS = 0.5  # half of REFRESH_INTERVAL, while programs wait

_LIST = LISTS[1]  # a quarter of the customers have it
_LOOK = "select topic, version from change"  # what a tick begins with
_REPEATED = 200
_CHANGES = 5  # one alone may come while the machine's other guests are busy
_SLOWEST = f"from the commit, the slowest of {_CHANGES} changes"
_WAIT = 20
_AT_ONCE = 50  # followers that connect together: more than the listening socket holds would wait for seconds
_PAUSE_SECONDS = 1
_GIVE_UP_SECONDS = 60
_STOCK = "update stock_level set available = available + 1, changed_by = pg_current_xact_id() where product_id = %s"
_PRICE = """
update price set single_unit_cost = single_unit_cost + 1, changed_by = pg_current_xact_id()
where price_list = %s and product_id = %s
"""
_CONTRACT = "insert into contract_price (customer_id, product_id, single_unit_cost) values (%s, %s, 1)"
_RAISE = """
insert into change (topic, version) values (%s, 1) on conflict (topic) do update set version = change.version + 1
"""


def measure(bench: Workbench) -> list[Row]:
    """Measure one follower beside a full read, then those that wait."""
    store = bench.store(LARGE)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with serving(store.env, store.folder) as server:
            rows = _one_follower(store, server)
        return [*rows, *_many_followers(bench, store)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _feed(customer: int, cursor: str, wait: int = 0) -> bytes:
    return request_text(f"/catalogue/change?after={cursor}&wait={wait}", headers_of(customer))


def _one_follower(store: Store, server: Server) -> list[Row]:
    with store.connect() as connection, Connection(server.host, server.port) as client:
        [product] = _products(connection, 1)
        cursor = _cursor(client)
        connection.execute(_STOCK, [product])
        request = _feed(0, cursor)
        until = time.monotonic() + _GIVE_UP_SECONDS
        while not json.loads((response := client.fetch(request)).body):
            if time.monotonic() > until:
                raise BenchError("the changed stock is not shown")
            time.sleep(0.05)
        size = len(response.body) + sum(len(name) + len(value) + 4 for name, value in response.headers.items())
        used = -server.processor_seconds()
        for _ in range(_REPEATED):
            client.fetch(request)
        used += server.processor_seconds()
        whole_used = -server.processor_seconds()
        whole = client.fetch(request_text("/product?limit=0", headers_of(0)))
        whole_used += server.processor_seconds()
    each, beside = 1000 * used / _REPEATED, 1000 * whole_used
    return [
        Row(
            question="Change feed",
            what=f"bytes of one changed unit of stock among {LARGE:,} products",
            ratio=size / MOST_BYTES,
            target=f"≤ {MOST_BYTES:,} bytes",
            bound=1,
            ours=f"{size:,} bytes",
            limit=f"{len(whole.body):,} bytes",
            note="head and body; the limit is a full read",
        ),
        Row(
            question="Change feed",
            what="processor time of the request that tells it",
            ratio=each / MOST_MS_OF_ONE,
            target=f"≤ {MOST_MS_OF_ONE:.0f} ms",
            bound=1,
            ours=milliseconds(each),
            limit=milliseconds(beside),
            note="the limit is a full read that is not cached",
        ),
    ]


def _many_followers(bench: Workbench, store: Store) -> list[Row]:
    folder = bench.place("change-feed")
    with relayed(store.url, folder, _LOOK) as (relay, url):
        env = environment(url, folder) | {
            "TRADECOUNTER_TRUSTED_PROXIES": "127.0.0.1",  # whose connections are not limited
            "TRADECOUNTER_MAX_CONNECTIONS": str(2 * FOLLOWERS),
        }
        with serving(env, folder) as server:
            return asyncio.run(_waiting(bench, store, server, relay))


async def _waiting(bench: Workbench, store: Store, server: Server, relay: Relay) -> list[Row]:
    count = FOLLOWERS // 10 if bench.quick else FOLLOWERS
    followers = [_Follower(server, number % COUNT) for number in range(count)]
    tasks: list[asyncio.Task[None]] = []
    bench.say(f"{count:,} followers begin to wait")
    try:
        for start in range(0, count, _AT_ONCE):
            some = followers[start : start + _AT_ONCE]
            tasks += [asyncio.create_task(follower.follow()) for follower in some]
            await _until(partial(_all_wait, some), tasks)
        with store.connect() as connection:
            await asyncio.sleep(_PAUSE_SECONDS)
            crowd = _Crowd(connection, server, tasks, await _idle(bench, server, relay))
            [first, second] = _products(connection, 2)
            few = [follower for follower in followers if LISTS[follower.customer % len(LISTS)] == _LIST]
            many = await crowd.told_repeatedly(few, ["prices"], _PRICE, [_LIST, first])
            one = await crowd.told(followers[:count:COUNT], ["contracts"], _CONTRACT, [store.customer_ids[0], second])
            everybody = await crowd.told_repeatedly(followers, [], _STOCK, [first])
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return _rows(count, len(few), crowd.idle, many, one, everybody)


@dataclass(frozen=True, slots=True)
class _Idle:
    """What waiting costs: queries a second, and the share of a processor."""

    queries: float
    load: float


@dataclass(frozen=True, slots=True)
class _Told:
    """The seconds until the last of those concerned was told, and the processor time of each in milliseconds."""

    seconds: float
    each: float


async def _idle(bench: Workbench, server: Server, relay: Relay) -> _Idle:
    queries, used, lasted = -relay.executions, -server.processor_seconds(), -time.monotonic()
    await asyncio.sleep(2 * bench.seconds)
    queries, used = queries + relay.executions, used + server.processor_seconds()
    lasted += time.monotonic()
    return _Idle(queries / lasted, used / lasted)


@dataclass(frozen=True, slots=True)
class _Crowd:
    """All that wait, and a connection to the database that changes something."""

    connection: Any
    server: Server
    tasks: "list[asyncio.Task[None]]"
    idle: _Idle

    async def told(
        self, concerned: "Sequence[_Follower]", topics: Sequence[str], statement: LiteralString, values: Sequence[Any]
    ) -> _Told:
        """Change something; return how long it takes until those concerned have it."""
        for follower in concerned:
            follower.told_at = 0.0
        used = -self.server.processor_seconds()
        began = time.monotonic()
        with self.connection.transaction():
            self.connection.execute(statement, values)
            for topic in topics:
                self.connection.execute(_RAISE, [topic])
        committed = time.monotonic()
        await _until(lambda: all(follower.told_at for follower in concerned), self.tasks)
        lasted = max(follower.told_at for follower in concerned) - committed
        await asyncio.sleep(_PAUSE_SECONDS)
        used += self.server.processor_seconds() - self.idle.load * (time.monotonic() - began)
        return _Told(lasted, 1000 * used / len(concerned))

    async def told_repeatedly(
        self, concerned: "Sequence[_Follower]", topics: Sequence[str], statement: LiteralString, values: Sequence[Any]
    ) -> _Told:
        """Change something several times; return the longest time and the median of the processor time."""
        told = [await self.told(concerned, topics, statement, values) for _ in range(_CHANGES)]
        return _Told(max(one.seconds for one in told), statistics.median(one.each for one in told))


def _all_wait(followers: "Sequence[_Follower]") -> bool:
    return all(follower.waits for follower in followers)


async def _until(is_done: Callable[[], bool], tasks: "Sequence[asyncio.Task[None]]") -> None:
    """Wait for something; raises the error of a follower that has ended, or BenchError after a minute."""
    until = time.monotonic() + _GIVE_UP_SECONDS
    while not is_done():
        for task in tasks:
            if task.done():
                task.result()
        if time.monotonic() > until:
            raise BenchError("the followers do not hear of the change")
        await asyncio.sleep(0.05)


def _rows(count: int, few: int, idle: _Idle, many: _Told, one: _Told, everybody: _Told) -> list[Row]:
    return [
        Row(
            question="Change feed",
            what=f"queries of {count:,} waiting requests, for each tick of {TICK_SECONDS} s",
            ratio=idle.queries * TICK_SECONDS,
            target="≤ 1",
            bound=1,
            sound=idle.queries > 0,
            ours=per_second(idle.queries),
            limit=per_second(1 / TICK_SECONDS),
            note=f"{100 * idle.load:.1f} % of a core while nothing changes",
        ),
        _row(f"until {few:,} of them have a changed price of their list", many.seconds, MANY_SECONDS, _SLOWEST),
        Row(
            question="Change feed",
            what="processor time of each of these",
            ratio=many.each / MOST_MS_OF_MANY,
            target=f"≤ {MOST_MS_OF_MANY} ms",
            bound=1,
            ours=milliseconds(many.each),
            limit=milliseconds(MOST_MS_OF_MANY),
            note=f"the median of {_CHANGES} changes, with reading the changed prices and the next request, which waits "
            "again",
        ),
        _row("until the one customer has its new contract price", one.seconds, ONE_SECONDS),
        Row(
            question="Change feed",
            what=f"until all {count:,} have one changed unit of stock",
            ratio=everybody.seconds,
            ours=seconds(everybody.seconds),
            note=f"{_SLOWEST}; {milliseconds(everybody.each)} of processor time each",
        ),
    ]


def _row(what: str, lasted: float, most: int, note: str = "from the commit") -> Row:
    return Row(
        question="Change feed",
        what=what,
        ratio=lasted / most,
        target=f"≤ {most} s",
        bound=1,
        ours=seconds(lasted),
        limit=seconds(most),
        note=note,
    )


@dataclass(slots=True, eq=False)
class _Follower:
    """A connection that waits for the changes of a customer, which other connections have too."""

    server: Server
    customer: int
    cursor: str = ""
    told_at: float = 0.0
    waits: bool = False

    async def follow(self) -> None:
        """Wait for a change again and again; note when one came."""
        reader, writer = await asyncio.open_connection(self.server.host, self.server.port)
        try:
            while True:
                self.waits = self.cursor != ""
                writer.write(_feed(self.customer, self.cursor, _WAIT if self.waits else 0))
                if json.loads(await self._read(reader)):
                    self.told_at = time.monotonic()
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> bytes:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        if " 200 " not in head[0]:
            raise BenchError(f"a follower got {head[0]}: {await reader.read(500)!r}")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
        self.cursor = fields["x-cursor"]
        return await reader.readexactly(int(fields["content-length"]))


def _products(connection: Any, count: int) -> list[int]:
    """Return ids of products with stock and a price on the list."""
    found = connection.execute(
        "select product_id from price join stock_level using (product_id) where price_list = %s and available > 0 "
        "order by product_id limit %s",
        [_LIST, count],
    )
    return [product for (product,) in found]


def _cursor(client: Connection) -> str:
    response = client.fetch(request_text("/catalogue/change", headers_of(0)))
    return str(response.headers["x-cursor"])
