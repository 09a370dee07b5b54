"""Writing the results: a table with ratios first, what each row's figures come from, and the notes by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.kit import machine
from bench.kit.catalogue import Catalogue
from bench.kit.figures import Row, shown

BENCH = Path(__file__).parents[1]
RESULTS = BENCH / "results.md"
NOTES = BENCH / "notes.md"
README = BENCH.parent / "README.md"
EXCERPT_BEGINS = "<!-- from bench/results.md -->"
EXCERPT_ENDS = "<!-- end -->"
LONG_BEGINS = "<!-- questions that take long, each run by itself -->"

_HEADINGS = ("Ratio", "Question", "Asked", "Target", "Reached", "Ours", "Limit", "p50", "p99")
_RATIOS = (
    "A ratio is that of our figure to the limit's where the target is such a one, or that of p99 to the median; "
    "otherwise it is what is used of the target, of which 1 is all."
)
_MARKS = {True: "yes", False: "**no**", None: "–"}


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its rows, how long it took, on what data, and what the machine gave.

    `others` is the share of both cores that other programs used, `loops` are the seconds of a loop of Python before and
    after the run, and `failed` are the questions without rows, each with its cause.
    """

    rows: Sequence[Row]
    seconds: float
    catalogue: Catalogue
    quick: bool
    others: float
    loops: tuple[float, float]
    failed: Sequence[str] = ()


def table(rows: Sequence[Row]) -> str:
    """Return the table."""
    lines = [_HEADINGS, tuple("---" for _ in _HEADINGS)]
    for row in rows:
        ratio = f"**{shown(row.ratio)}**"
        cells = (ratio, row.question, row.what, row.target, _MARKS[row.reached], row.ours, row.limit, row.p50, row.p99)
        lines.append(cells)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def in_short(rows: Sequence[Row]) -> str:
    """Return in three sentences what a reseller gets from one core; nothing unless all questions were asked."""
    page = _row(rows, "Product page", "`GET /product?limit=100`")
    made = _row(rows, "Growth", "processor time of pages never asked before")
    order = _row(rows, "Placing orders", "`POST /order`")
    recorded = _row(rows, "Recorded orders", "the server's processor time")
    if page is None or made is None or order is None or recorded is None:
        return ""
    pages, files, orders, limit = (each.removesuffix("/s") for each in (page.ours, page.limit, order.ours, order.limit))
    return (
        f"In a second, one processor core sends {pages} pages of 100 products at each customer's prices, where nginx "
        f"sends {files} files with the same bytes. A page that nobody has asked for before takes it {made.limit}, and "
        f"{made.ours} with 100,000 products. In a second, it places {orders} orders of three lines, where pgbench "
        f"commits {limit} times the same statements; an order with its confirmation, events and audit takes it "
        f"{recorded.ours}.\n\n"
    )


def _row(rows: Sequence[Row], question: str, what: str) -> Row | None:
    return next((row for row in rows if row.question == question and row.what.startswith(what)), None)


def remarks(rows: Sequence[Row]) -> str:
    """Return the rows' notes."""
    return "".join(f"- {row.question}, {row.what}: {row.note}.\n" for row in rows if row.note)


def written(run: Run, now: datetime) -> str:
    """Return the page of results."""
    judged = [row for row in run.rows if row.reached is not None]
    missed = [row for row in judged if not row.reached]
    data = (
        f"the catalogue of `{run.catalogue.folder.name}` ({len(run.catalogue.products):,} products)"
        if run.catalogue.real
        else f"**the demo catalogue ({len(run.catalogue.products):,} products), since there was no other**"
    )
    return "\n".join(
        [
            "# Results of the benchmarks",
            "",
            f"{in_short(run.rows)}Written by `make bench`; [README.md](README.md) says how each figure is made.",
            "",
            f"- {now.astimezone(UTC):%d %B %Y, %H:%M} UTC, commit {machine.revision() or 'unknown'}",
            f"- Took {run.seconds / 60:.1f} minutes{', with **short rounds**' if run.quick else ''}",
            f"- {machine.described()}",
            f"- {', '.join(machine.versions())}",
            f"- Other programs used {run.others:.0%} of the two cores meanwhile; the quieter, the truer",
            f"- A loop of 3,000,000 additions took Python {run.loops[0]:.2f} s before and {run.loops[1]:.2f} s after",
            *(f"- **Failed**: {line}" for line in run.failed),
            f"- Data: {data}, and the same multiplied",
            f"- {len(judged) - len(missed)} of {len(judged)} targets reached",
            "",
            _RATIOS,
            "",
            table(run.rows),
            "## What the rows come from",
            "",
            remarks(run.rows),
            NOTES.read_text(encoding="utf-8") if NOTES.exists() else "",
        ]
    )


def write_results(run: Run) -> None:
    """Write the page, and its beginning into the README of the project."""
    kept = RESULTS.read_text(encoding="utf-8").partition(LONG_BEGINS)[2] if RESULTS.exists() else ""
    page = written(run, datetime.now(UTC)).rstrip() + "\n"
    RESULTS.write_text(f"{page}\n{LONG_BEGINS}{kept}" if kept else page, encoding="utf-8")
    README.write_text(with_excerpt(README.read_text(encoding="utf-8"), run.rows), encoding="utf-8")


def write_long_results(run: Run) -> None:
    """Replace the part of the page about questions that take long."""
    page = RESULTS.read_text(encoding="utf-8")
    RESULTS.write_text(with_long_form(page, run, datetime.now(UTC)), encoding="utf-8")


def with_long_form(page: str, run: Run, now: datetime) -> str:
    """Return a page that ends with the rows of a run of such questions."""
    before = page.partition(LONG_BEGINS)[0].rstrip()
    head = (
        f"## In long form\n\n{now.astimezone(UTC):%d %B %Y, %H:%M} UTC, commit {machine.revision() or 'unknown'}; took"
        f" {run.seconds / 60:.1f} minutes; other programs used {run.others:.0%} of the two cores meanwhile"
    )
    return f"{before}\n\n{LONG_BEGINS}\n{head}\n\n{table(run.rows)}\n{remarks(run.rows)}"


def with_excerpt(page: str, rows: Sequence[Row]) -> str:
    """Return a page whose excerpt is that of these rows: what is compared with a limit, in the target's own unit."""
    before, _, rest = page.partition(EXCERPT_BEGINS)
    _, _, after = rest.partition(EXCERPT_ENDS)
    if not after:
        return page
    lines = ["| Figure | Target | Reached | Asked |", "|---|---|---|---|"]
    lines += [
        f"| {row.figure or shown(row.ratio)} | {row.target} | {_MARKS[row.reached]} "
        f"| {row.question.lower()}: {row.what} |"
        for row in rows
        if row.goal is not None
    ]
    table_text = "\n".join(lines)
    return f"{before}{EXCERPT_BEGINS}\n{table_text}\n{EXCERPT_ENDS}{after}"
