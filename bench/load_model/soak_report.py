"""Judges a soak, and writes its report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import mean

from bench.kit import machine
from bench.kit.figures import megabytes, milliseconds, shown
from bench.load_model.costs import PARTS, Costs, Seconds
from bench.load_model.day import FEED, IMPORTS, KINDS, ORDER, WEBHOOK, Rates
from bench.load_model.plan import READS, STEPS, WRITES
from bench.load_model.press import Sample, quantile
from bench.load_model.queues import Machines, Simulation

MOST_APART = 1.5  # predicted to measured processor time of the whole day, either way
MOST_GROWTH = 0.15  # of a process's memory, within the last two thirds of the run
MOST_GROWTH_BYTES = 24_000_000  # what may always be added
WEBHOOK_SECONDS = KINDS[WEBHOOK].deadline
WORKERS = 2
CORES = 2

_MACHINES = Machines(api=WORKERS, office=1, worker=1, postgres=CORES)
_SIMULATED_SECONDS = 60.0

_HEADINGS = (
    "Hour", "Work a second", "Orders a second", "Cores", "Predicted", "Sender", "Reads p50", "p99", "Orders p50", "p99",
    "Steps p99", "Feeds p99", "Imports, slowest", "Webhooks waiting",
)  # fmt: skip
_GROUPS = {"reads": READS, "orders": WRITES, "steps": STEPS, "feeds": (FEED,), "imports": IMPORTS}


@dataclass(frozen=True, slots=True)
class Segment:
    """One simulated hour: samples, cores measured and predicted by part, the driver's cores, webhooks, rates done."""

    hour: int
    scale: float
    seconds: float
    samples: list[Sample]
    measured: Seconds
    predicted: Seconds
    driver: float
    backlog: int
    deliveries: int
    rates: Rates

    @staticmethod
    def total(cores: Mapping[str, float]) -> float:
        """Return the cores of all parts."""
        return sum(cores.values())

    def of(self, kinds: Sequence[str]) -> list[Sample]:
        """Return the samples of these kinds."""
        return [sample for sample in self.samples if sample.kind in kinds]

    def missed(self) -> list[str]:
        """Return what is wrong: failed work, deadlines that are missed, webhooks that wait too long."""
        failed = [sample.fault for sample in self.samples if sample.fault]
        found = [f"{len(failed)} of {len(self.samples)} failed, the first: {failed[0][:300]}"] if failed else []
        found += [
            f"the p99 of {name} is {shown(taken)} s, more than {deadline:g} s"
            for name, kinds in _GROUPS.items()
            if (taken := quantile(self.of(kinds), 0.99)) > (deadline := KINDS[kinds[0]].deadline)
        ]
        allowed = max(50.0, self.deliveries / self.seconds * WEBHOOK_SECONDS)
        if self.backlog > allowed:
            found.append(f"{self.backlog} webhooks wait, more than {WEBHOOK_SECONDS:g} s of them")
        return found

    def line(self) -> str:
        """Return the segment in a line."""
        return (
            f"{self.hour:02}:00  {self.total(self.measured):.2f} cores ({self.total(self.predicted):.2f} predicted), "
            f"{len(self.samples) / self.seconds:.0f}/s, reads p99 {_time(self.of(READS), 0.99)}, "
            f"orders p99 {_time(self.of(WRITES), 0.99)}, {self.backlog} webhooks wait"
        )


@dataclass(frozen=True, slots=True)
class Soaked:
    """A whole run."""

    minutes: float
    seed: int
    largest: float
    scale: float
    search: list[str]
    segments: list[Segment]
    memory: list[tuple[float, dict[str, int]]]
    undelivered: int
    errors: list[str]
    others: float
    quick: bool


@dataclass(frozen=True, slots=True)
class Growth:
    """The memory of a process in the last two thirds of a run: its mean, and what the straight line through it adds."""

    mean: float
    added: float

    @property
    def flat(self) -> bool:
        """Whether it is flat enough."""
        return self.added <= max(MOST_GROWTH_BYTES, MOST_GROWTH * self.mean)


def growth_of(points: Sequence[tuple[float, float]]) -> Growth:
    """Return the growth by the straight line with the least squares. Raises ValueError for too few points."""
    later = [point for point in points if point[0] >= points[0][0] + (points[-1][0] - points[0][0]) / 3]
    if len(later) < 3:
        raise ValueError("too few samples of memory")
    middle, average = mean(x for x, _ in later), mean(y for _, y in later)
    spread = sum((x - middle) ** 2 for x, _ in later)
    slope = sum((x - middle) * (y - average) for x, y in later) / spread if spread else 0.0
    return Growth(average, slope * (later[-1][0] - later[0][0]))


def memory_by_process(soaked: Soaked) -> dict[str, Growth]:
    """Return the growth of each process."""
    names = soaked.memory[0][1]
    return {name: growth_of([(at, sizes.get(name, 0)) for at, sizes in soaked.memory]) for name in names}


def faults_of(soaked: Soaked) -> list[str]:
    """Return everything that is missed."""
    found = [f"{segment.hour:02}:00: {fault}" for segment in soaked.segments for fault in segment.missed()]
    found += [
        f"the memory of {name} grew by {megabytes(growth.added)} beyond {megabytes(growth.mean)}"
        for name, growth in memory_by_process(soaked).items()
        if not growth.flat
    ]
    if soaked.undelivered:
        found.append(f"{soaked.undelivered} webhooks are not delivered at the end")
    if soaked.errors:
        found.append(f"the log has {len(soaked.errors)} errors, the first: {soaked.errors[0][:300]}")
    measured, predicted = _day(soaked.segments)
    apart = sum(predicted.values()) / sum(measured.values())
    if not 1 / MOST_APART <= apart <= MOST_APART:
        found.append(f"the model predicts {apart:.2f} times the processor time that was measured")
    return found


def _day(segments: Sequence[Segment]) -> tuple[Seconds, Seconds]:
    """Return the mean cores of the day, measured and predicted."""
    lasted = sum(segment.seconds for segment in segments)
    return (
        {part: sum(s.measured[part] * s.seconds for s in segments) / lasted for part in PARTS},
        {part: sum(s.predicted[part] * s.seconds for s in segments) / lasted for part in PARTS},
    )


def written(soaked: Soaked, costs: Costs) -> str:
    """Return the report."""
    faults = faults_of(soaked)
    short = "" if not soaked.quick else " A **short run**, with a shorter calibration: its figures are rough."
    samples = sum(len(segment.samples) for segment in soaked.segments)
    return "\n".join(
        [
            "# Report of the soak",
            "",
            "Written by `make soak`; [docs/capacity.md](../docs/capacity.md) explains the model that it checks.",
            "",
            f"- {datetime.now(UTC):%d %B %Y, %H:%M} UTC, commit {machine.revision() or 'unknown'}",
            f"- {machine.described()}",
            f"- The 24 hours of the day in {soaked.minutes:g} minutes, seed {soaked.seed}.{short}",
            f"- The largest rate with all deadlines kept: {soaked.largest:.2f} × the day’s busiest hour",
            f"- The day was played at {soaked.scale:.2f} × its rates",
            f"- {samples:,} pieces of work, {sum(s.deliveries for s in soaked.segments):,} webhooks",
            f"- Other programs on the machine used {soaked.others:.0%} of the two cores",
            f"- {'**Nothing is missed**' if not faults else f'**faults: {len(faults)}**'}",
            "",
            *([*(f"- {fault}" for fault in faults), ""] if faults else []),
            "## The search for the largest rate",
            "",
            *(f"- {step}" for step in soaked.search),
            "",
            "## By hour",
            "",
            hours(soaked.segments),
            "## By part",
            "",
            parts(soaked.segments),
            "## Times",
            "",
            "Of the busiest hour, beside a simulation of the same rates on as many cores, without the sender.",
            "",
            times(soaked.segments, costs),
            "## Memory",
            "",
            "Of each process alone, without what it shares, in the last two thirds of the run.",
            "",
            memory(soaked),
            f"Calibrated {costs.taken}.",
            "",
        ]
    )


def hours(segments: Sequence[Segment]) -> str:
    """Return the table by hour."""
    lines = [f"| {' | '.join(_HEADINGS)} |", "|---|" + "---:|" * (len(_HEADINGS) - 1)]
    for segment in segments:
        times = [
            (READS, 0.5), (READS, 0.99), (WRITES, 0.5), (WRITES, 0.99), (STEPS, 0.99), ((FEED,), 0.99), (IMPORTS, 1)
        ]  # fmt: skip
        cells = [
            f"{segment.hour:02}:00",
            shown(len(segment.samples) / segment.seconds),
            shown(len(segment.of((ORDER,))) / segment.seconds),
            f"{segment.total(segment.measured):.2f}",
            f"{segment.total(segment.predicted):.2f}",
            f"{segment.driver:.2f}",
            *(_time(segment.of(kinds), share) for kinds, share in times),
            str(segment.backlog),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _time(samples: list[Sample], share: float) -> str:
    return milliseconds(1000 * quantile(samples, share)) if samples else "–"


def parts(segments: Sequence[Segment]) -> str:
    """Return the table of cores by part."""
    measured, predicted = _day(segments)
    lines = ["| Part | Cores | Predicted | Ratio |", "|---|---:|---:|---:|"]
    rows = [(part, measured[part], predicted[part]) for part in PARTS]
    rows.append(("all", sum(measured.values()), sum(predicted.values())))
    lines += [
        f"| {name} | {ours:.3f} | {model:.3f} | {model / ours if ours else 0:.2f} |" for name, ours, model in rows
    ]
    return "\n".join(lines) + "\n"


def times(segments: Sequence[Segment], costs: Costs) -> str:
    """Return the table of times, measured and simulated."""
    segment = max(segments, key=lambda found: found.total(found.measured))
    found = Simulation(costs, _MACHINES, shared=CORES).run(segment.rates, _SIMULATED_SECONDS)
    lines = ["| Work | p50 | Simulated | p99 | Simulated |", "|---|---:|---:|---:|---:|"]
    for name in ("reads", "orders", "steps"):
        kinds = _GROUPS[name]
        cells = [
            cell
            for share in (0.5, 0.99)
            for cell in (_time(segment.of(kinds), share), milliseconds(1000 * found.quantile(kinds, share)))
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def memory(soaked: Soaked) -> str:
    """Return the table of memory."""
    lines = ["| Process | Mean | Added, by the line through it | Flat |", "|---|---:|---:|---|"]
    lines += [
        f"| {name} | {megabytes(growth.mean)} | {megabytes(growth.added)} | {'yes' if growth.flat else '**no**'} |"
        for name, growth in memory_by_process(soaked).items()
    ]
    return "\n".join(lines) + "\n"
