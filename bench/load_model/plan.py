"""What a day needs: cores by hour, latencies by simulation, machines by scale, and what is used up first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from bench.load_model.costs import API, OFFICE, PARTS, POSTGRES, WORKER, Costs
from bench.load_model.day import (
    CONFIRM,
    DISPATCH,
    HOURS,
    INVOICE,
    KINDS,
    LOOK,
    ORDER,
    PAYMENT,
    POLL,
    PRODUCT,
    SEARCH,
    burst_of,
    rest_of,
)
from bench.load_model.queues import Found, Machines, Simulation

MOST_USED = 0.6  # of a core in the busiest minute: what remains is for a machine that fails, and for queues
CONNECTIONS = 10  # of one process, the default of DATABASE_CONNECTIONS; it has one more for polling
SCALES = (1, 10, 100)
BEST_SELLER = 0.05  # the share of orders with the best-selling product
MINUTE = 60.0

READS, WRITES, STEPS = (POLL, SEARCH, PRODUCT, LOOK), (ORDER, CONFIRM), (DISPATCH, INVOICE, PAYMENT)
REFERENCE = Machines(api=2, office=1, worker=1, postgres=2)


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour: the cores that each part uses in its first minute and in the others, and latencies in its first."""

    hour: int
    burst: Mapping[str, float]
    rest: Mapping[str, float]
    found: Found

    @property
    def cores(self) -> float:
        """The cores used in the first minute."""
        return sum(self.burst.values())


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that can be used up: its use in the busiest minute, of which 1 is all."""

    name: str
    used: float

    @property
    def lasts_to(self) -> float:
        """The multiple of the day at which it is used up."""
        return 1 / self.used if self.used else float("inf")


def day_of(
    costs: Costs, machines: Machines = REFERENCE, scale: float = 1.0, *, hours: Sequence[int] = HOURS
) -> list[Hour]:
    """Simulate the first minute of each hour."""
    return [
        Hour(
            hour,
            costs.load(burst_of(hour, scale), machines.api),
            costs.load(rest_of(hour, scale), machines.api),
            Simulation(costs, machines, seed=hour).run(burst_of(hour, scale), MINUTE),
        )
        for hour in hours
    ]


def busiest(costs: Costs, scale: float = 1.0, processes: int = REFERENCE.api) -> int:
    """Return the hour whose first minute uses most cores."""
    return max(HOURS, key=lambda hour: sum(costs.load(burst_of(hour, scale), processes).values()))


def machines_for(costs: Costs, scale: float) -> Machines:
    """Return the fewest processes and cores with none used beyond `MOST_USED`; always two API processes."""
    api = 2
    hour = busiest(costs, scale)
    while (load := costs.load(burst_of(hour, scale), api))[API] / api > MOST_USED:
        api = max(api + 1, ceil(load[API] / MOST_USED))
    return Machines(api, *(max(1, ceil(load[part] / MOST_USED)) for part in (OFFICE, WORKER, POSTGRES)))


def connections(machines: Machines) -> int:
    """Return the most connections to PostgreSQL that all processes keep, with the default settings."""
    return (CONNECTIONS + 1) * (machines.api + machines.office + machines.worker)


def limits(costs: Costs, machines: Machines = REFERENCE) -> list[Limit]:
    """Return what a site on these machines uses up, the scarcest first."""
    hour = busiest(costs, processes=machines.api)
    rates = burst_of(hour)
    load = costs.load(rates, machines.api)
    has = {API: machines.api, OFFICE: machines.office, WORKER: machines.worker, POSTGRES: machines.postgres}
    cores = [Limit(f"{_NAMES[part]} ({count})", load[part] / count) for part, count in has.items()]
    held = sum(rates[name] * (costs.kinds[name][POSTGRES] + 2 * costs.flush) for name in WRITES)
    printed = sum(costs.kinds[INVOICE].values()) + costs.flush
    row = costs.kinds[CONFIRM][POSTGRES] + 2 * costs.flush
    return sorted(
        [
            *cores,
            Limit(
                f"connections of the API processes ({CONNECTIONS * machines.api})", held / CONNECTIONS / machines.api
            ),
            Limit("the log, were each commit a flush of its own", commits(costs, rates) * costs.flush),
            Limit("the invoice number, which is locked while an invoice is printed", rates[INVOICE] * printed),
            Limit(f"the stock row of a product in {BEST_SELLER:.0%} of the orders", rates[CONFIRM] * BEST_SELLER * row),
        ],
        key=lambda limit: -limit.used,
    )


_NAMES = {
    API: "cores of the API processes",
    OFFICE: "the core of the back office",
    WORKER: "the core of the worker",
    POSTGRES: "cores of PostgreSQL",
}


def commits(costs: Costs, rates: Mapping[str, float]) -> float:
    """Return the flushes a second of the log, as if no two transactions shared one; a webhook's are few."""
    return rates[ORDER] * costs.flushes


def log_rate(costs: Costs, rates: Mapping[str, float]) -> float:
    """Return the bytes a second that orders write to the log."""
    return rates[ORDER] * costs.log_bytes


def core_seconds(costs: Costs) -> dict[str, dict[str, float]]:
    """Return the core seconds of a whole day, by kind and part."""
    found: dict[str, dict[str, float]] = {name: dict.fromkeys(PARTS, 0.0) for name in KINDS}
    for hour in HOURS:
        for share, rates in ((60, burst_of(hour)), (3540, rest_of(hour))):
            for name, rate in rates.items():
                for part, seconds in costs.of(name, rates, REFERENCE.api).items():
                    found[name][part] += rate * seconds * share
    return found
