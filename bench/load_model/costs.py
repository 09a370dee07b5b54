"""What each kind of work costs: processor seconds by process, measured on one machine."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import exp
from pathlib import Path

from bench.load_model.day import (
    CONFIRM,
    FEED,
    IMPORTS,
    POLL,
    POLL_SECONDS,
    PRODUCT,
    SEARCH,
    Rates,
)

COSTS = Path(__file__).with_name("costs.json")
API, OFFICE, WORKER, POSTGRES = "API", "back office", "worker", "PostgreSQL"
PARTS = (API, OFFICE, WORKER, POSTGRES)
PROFILES = 20  # price lists times discounts, which most customers have
WITH_CONTRACTS = 0.1  # the share of customers with prices of their own

Seconds = dict[str, float]  # by part


@dataclass(frozen=True, slots=True)
class Costs:
    """The measured processor seconds.

    `kinds` are of requests while no stock changes. `idle` is a second of rest, `swap` a change of stock in one API
    process, `view` the first request of a customer after it, `render` a page that is not in memory. `unchanged` is a
    poll that gets a 304. `flush` are the seconds of one flush of the log, `flushes` how many an order's story takes
    (from `POST` to its payment), and `log_bytes` what it writes. `others` is the share of two cores that other programs
    used meanwhile, which make everything dearer.
    """

    taken: str
    machine: str
    kinds: Mapping[str, Seconds]
    idle: Seconds
    swap: float
    view: float
    render: float
    unchanged: float
    flush: float
    flushes: float
    log_bytes: float
    counts: Mapping[str, int] = field(default_factory=dict)
    others: float | None = None

    def of(self, name: str, rates: Rates, processes: int) -> Seconds:
        """Return the seconds of one request of a kind, while the others come at these rates."""
        seconds = dict(self.kinds[name])
        if name in IMPORTS:
            seconds[API] *= processes
        elif name == POLL:
            seconds[API] = self._poll(rates, processes)
        elif name in {SEARCH, PRODUCT, FEED}:
            seconds[API] += self.view * self._outdated(rates, 60)
        return seconds

    def _poll(self, rates: Rates, processes: int) -> float:
        outdated = self._outdated(rates, POLL_SECONDS)
        between = max(1.0, 1 / changes(rates)) if changes(rates) > 0 else POLL_SECONDS
        asked = max(1e-9, rates[POLL] / processes * between)
        return self.unchanged + outdated * (
            self.kinds[POLL][API] - self.unchanged + self.view + self.render * rendered(asked) / asked
        )

    @staticmethod
    def _outdated(rates: Rates, pause: float) -> float:
        """Return how often something has changed since a customer's last request."""
        return 1 - exp(-changes(rates) * pause)

    def load(self, rates: Rates, processes: int) -> Seconds:
        """Return the seconds that a second of these rates costs each part, by all its processes."""
        found = {part: self.idle[part] * (processes if part == API else 1) for part in PARTS}
        for name, rate in rates.items():
            for part, seconds in self.of(name, rates, processes).items():
                found[part] += rate * seconds
        found[API] += processes * self.swap * min(1.0, changes(rates))
        return found


def changes(rates: Rates) -> float:
    """Return how often a second the stock changes."""
    return rates[CONFIRM] + sum(rates[name] for name in IMPORTS)


def rendered(asked: float) -> float:
    """Return how many different pages this many polls ask for: customers with the same price profile share one."""
    shared = asked * (1 - WITH_CONTRACTS)
    return asked * WITH_CONTRACTS + PROFILES * (1 - exp(-shared / PROFILES))


def read_costs(path: Path = COSTS) -> Costs:
    """Return the costs that were written."""
    return Costs(**json.loads(path.read_text(encoding="utf-8")))


def write_costs(costs: Costs, path: Path = COSTS) -> None:
    """Write costs for `read_costs`."""
    path.write_text(json.dumps(asdict(costs), indent=1) + "\n", encoding="utf-8")
