"""Writes the figures of the model into `docs/capacity.md`, between marks, and the chart beside it."""

from collections.abc import Sequence
from pathlib import Path

from bench.kit.charts import Bar, bars
from bench.kit.figures import milliseconds, shown
from bench.load_model.costs import API, OFFICE, PARTS, POSTGRES, WORKER, Costs
from bench.load_model.day import KINDS, burst_of
from bench.load_model.plan import (
    READS,
    REFERENCE,
    SCALES,
    STEPS,
    WRITES,
    Hour,
    busiest,
    commits,
    connections,
    core_seconds,
    day_of,
    limits,
    log_rate,
    machines_for,
)

PAGE = Path(__file__).parents[2] / "docs" / "capacity.md"
CHART = Path(__file__).parents[2] / "docs" / "pictures" / "capacity.svg"

_CORES = REFERENCE.api + REFERENCE.office + REFERENCE.worker + REFERENCE.postgres


def write_page(costs: Costs) -> None:
    """Calculate everything, and replace the blocks of the page and its chart."""
    day = day_of(costs)
    text = PAGE.read_text(encoding="utf-8")
    blocks = {
        "measured": _measured(costs),
        "costs": costs_table(costs),
        "hours": hours_table(day),
        "limits": limits_table(costs),
        "scales": scales_table(costs),
    }
    for name, block in blocks.items():
        text = with_block(text, name, block)
    PAGE.write_text(text, encoding="utf-8")
    CHART.write_text(chart(day), encoding="utf-8")


def with_block(page: str, name: str, block: str) -> str:
    """Return a page with what is between the marks of a name replaced. Raises ValueError without such marks."""
    begins, ends = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, first, rest = page.partition(begins)
    _, last, after = rest.partition(ends)
    if not (first and last):
        raise ValueError(f"the page has no marks of {name!r}")
    return f"{before}{begins}{block}{ends}{after}"


def _measured(costs: Costs) -> str:
    others = "an unknown share" if costs.others is None else f"{costs.others:.0%}"
    return (
        f"Other programs used {others} of two cores meanwhile; the quieter, the truer.\n"
        f"Measured on {costs.taken} on {costs.machine}. A flush of the log took {milliseconds(costs.flush * 1000)}; an"
        f" order writes {costs.log_bytes / 1000:.0f} kB to the log until it is paid.\n"
    )


def costs_table(costs: Costs) -> str:
    """Return what a kind of work costs, and all of its kind in a day."""
    lines = [
        "| Work | A day | API | Back office | Worker | PostgreSQL | Core hours a day |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    daily = core_seconds(costs)
    for name, kind in KINDS.items():
        count = kind.daily
        cells = [f"{1000 * daily[name][part] / count:.2f}" for part in PARTS]
        lines.append(f"| {kind.what} | {count:,} | {' | '.join(cells)} | {sum(daily[name].values()) / 3600:.2f} |")
    return "\n".join(lines) + "\n"


def hours_table(day: Sequence[Hour]) -> str:
    """Return the cores used and the latencies, by hour."""
    lines = _head(
        "Hour", "Orders a second", "API", "Back office", "Worker", "PostgreSQL", "Rest of the hour", "Reads p50", "p99",
        "Orders p50", "p99", "Steps p99",
    )  # fmt: skip
    for hour in day:
        cells = [shown(hour.burst[part]) for part in (API, OFFICE, WORKER, POSTGRES)]
        times = [
            hour.found.quantile(kinds, share)
            for kinds, share in ((READS, 0.5), (READS, 0.99), (WRITES, 0.5), (WRITES, 0.99), (STEPS, 0.99))
        ]
        cells += [
            shown(sum(hour.rest.values())),
            *(milliseconds(1000 * seconds) if seconds else "–" for seconds in times),
        ]
        lines.append(f"| {hour.hour:02}:00 | {shown(burst_of(hour.hour)['order'])} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def limits_table(costs: Costs) -> str:
    """Return what is used up, the scarcest first."""
    lines = ["| What | Used in the busiest minute | Lasts to |", "|---|---:|---:|"]
    lines += [f"| {limit.name} | {limit.used:.1%} | {shown(limit.lasts_to)} × the day |" for limit in limits(costs)]
    return "\n".join(lines) + "\n"


def scales_table(costs: Costs) -> str:
    """Return the machines for the day and multiples of it."""
    lines = _head(
        "Times the day", "Orders a day", "Orders a second, at most", "API processes", "Back offices", "Workers",
        "PostgreSQL’s cores", "Connections", "Commits a second", "Log of orders",
    )  # fmt: skip
    for scale in SCALES:
        found, rates = machines_for(costs, scale), burst_of(busiest(costs, scale), scale)
        lines.append(
            f"| {scale} | {50_000 * scale:,} | {shown(rates['order'])} | {found.api} | {found.office} | {found.worker} "
            f"| {found.postgres} | {connections(found):,} | {shown(commits(costs, rates))} "
            f"| {shown(log_rate(costs, rates) / 1e6)} MB/s |"
        )
    return "\n".join(lines) + "\n"


def chart(day: Sequence[Hour]) -> str:
    """Draw the cores in use by hour."""
    most = max(hour.cores for hour in day)
    drawn = [Bar(f"{hour.hour:02}:00", hour.cores / most, f"{shown(hour.cores)} cores") for hour in day]
    return bars("Cores in use in the first minute of each hour", "All processes and PostgreSQL, by the model", drawn)


def _head(*names: str) -> list[str]:
    return [f"| {' | '.join(names)} |", "|---|" + "---:|" * (len(names) - 1)]
