"""From measurements to rows, tables and charts."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from xml.etree import ElementTree as ET

import pytest

from bench.kit.catalogue import Catalogue
from bench.kit.charts import bounds, growth, ratios
from bench.kit.figures import Row, shown
from bench.kit.load import Load, middle, read_load
from bench.kit.reads import FILES, representative
from bench.kit.report import (
    EXCERPT_BEGINS,
    EXCERPT_ENDS,
    Run,
    in_short,
    remarks,
    table,
    with_excerpt,
    with_long_form,
    written,
)
from bench.kit.steady import times


def row(ratio: float, **more: object) -> Row:
    return Row(question="Search", what="`query=`", ratio=ratio, **more)  # type: ignore[arg-type]


def load(rate: float, failed: int = 0, busy: float = 0.5) -> Load:
    return Load(rate, rate * 1000, p50=1, p99=rate / 100, worst=rate, busy=busy, failed=failed)


@pytest.mark.parametrize(
    ("judged", "reached"),
    [
        (row(0.4, goal=0.4), True),
        (row(0.396, goal=0.4), True),  # shown as 0.40
        (row(0.394, goal=0.4), False),
        (row(0.5, goal=0.4, sound=False), False),
        (row(2.0, bound=2), True),
        (row(2.01, bound=2), False),
        (row(1.0, bound=2, sound=False), False),
        (row(7.0), None),
    ],
)
def test_a_target_is_reached_by_the_ratio_as_shown_and_without_failures(judged: Row, reached: bool | None) -> None:
    assert judged.reached is reached


def test_rounds_are_summed_up_by_medians_but_for_failures_and_the_worst() -> None:
    found = middle([load(100, 1), load(900, 2), load(300)])
    assert (found.rate, found.p99, found.worst, found.failed) == (300, 3, 900, 3)


def test_the_rate_by_processor_time_is_what_a_whole_core_would_do() -> None:
    assert load(300, busy=0.25).core_rate == 1200
    assert load(300, busy=0).core_rate == 0


def test_what_wrk_prints_is_read_behind_its_own_report() -> None:
    printed = (
        'Running 1s test\n  {"not": "this"}\n\n{"requests": 100, "microseconds": 2000000, "bytes": 4000, "refused": 2,'
        ' "broken": 1, "p50": 1500, "p99": 9000, "worst": 12000}\n'
    )
    found = read_load(printed, used_seconds=1.0)
    assert found == Load(rate=50, bytes_rate=2000, p50=1.5, p99=9, worst=12, busy=0.5, failed=3)


def test_a_steady_load_is_summed_up_with_its_failures_among_the_times() -> None:
    found = times([*[0.001] * 98, -0.5, 0.9])
    assert (found.p50, found.p99, found.worst, found.failed) == (1.0, 900.0, 900.0, 1)


def test_the_files_that_represent_all_responses_have_their_mean_size() -> None:
    bodies = [bytes(100 + number * number % 5000) for number in range(2000)]
    chosen = representative(bodies)
    assert len(chosen) == FILES
    assert mean(map(len, chosen)) == pytest.approx(mean(map(len, bodies)), rel=0.01)


def test_few_responses_represent_themselves() -> None:
    assert representative([b"a", b"bbb"]) == [b"a", b"bbb"]


@pytest.mark.parametrize(("number", "text"), [(0.123, "0.12"), (9.99, "9.99"), (12.34, "12.3"), (1234.5, "1,234")])
def test_figures_are_shown_with_three_digits_that_count(number: float, text: str) -> None:
    assert shown(number) == text


def test_the_table_has_ratios_first_and_says_what_is_missed() -> None:
    lines = table([row(0.2, goal=0.4, target="≥ 0.4 of nginx", note="why")]).splitlines()
    assert lines[0].startswith("| Ratio | Question |")
    assert lines[2].startswith("| **0.20** | Search | `query=` | ≥ 0.4 of nginx | **no** |")
    assert remarks([row(0.2, note="why"), row(0.3)]) == "- Search, `query=`: why.\n"


def test_the_page_begins_with_what_one_core_does() -> None:
    def asked(question: str, what: str, ours: str, limit: str) -> Row:
        return Row(question=question, what=what, ratio=1, ours=ours, limit=limit)

    rows = [
        asked("Product page", "`GET /product?limit=100`", "18,000/s", "37,000/s"),
        asked("Growth", "processor time of pages never asked before, 100,000 to 3,641 products", "0.55 ms", "0.40 ms"),
        asked("Placing orders", "`POST /order`, three lines", "1,200/s", "2,000/s"),
        asked("Recorded orders", "the server's processor time of the same", "1.20 ms", "1.20 ms"),
    ]
    for figure in (
        "18,000 pages",
        "37,000 files",
        "it 0.40 ms",
        "0.55 ms with",
        "1,200 orders",
        "2,000 times",
        "1.20 ms",
    ):
        assert figure in in_short(rows)
    assert in_short(rows).count(". ") == 2
    assert not in_short(rows[:3])


@pytest.mark.parametrize("draw", [ratios, bounds, growth])
def test_charts_are_well_formed_and_have_colours_for_dark_pages(draw: Callable[[Sequence[Row]], str]) -> None:
    rows = [row(0.2, goal=0.4), row(9.0, bound=2, target="≤ 2 times", points={"1 <product>": 1.0, "2": 3.0})]
    drawing = draw(rows)
    assert ET.fromstring(drawing).tag.endswith("svg")  # noqa: S314 our own
    assert "prefers-color-scheme: dark" in drawing


def test_the_excerpt_in_another_page_is_replaced_and_nothing_else() -> None:
    page = f"before\n{EXCERPT_BEGINS}\nold\n{EXCERPT_ENDS}\nafter\n"
    rows = [
        row(0.2, goal=0.4, target="≥ 0.4"),
        row(4.79, goal=1, target="≥ 10,000", figure="47,933"),
        row(3.0),
    ]
    once = with_excerpt(page, rows)
    assert "| 0.20 | ≥ 0.4 | **no** | search: `query=` |" in once
    assert "| 47,933 | ≥ 10,000 | yes | search: `query=` |" in once
    assert once.startswith("before\n")
    assert once.endswith("\nafter\n")
    assert "old" not in once
    assert once.count("\n| ") == 3
    assert with_excerpt(once, rows) == once
    assert with_excerpt("no excerpt", rows) == "no excerpt"


def test_questions_in_long_form_replace_their_own_part_of_the_page_only(tmp_path: Path) -> None:
    def run(ratio: float) -> Run:
        return Run([row(ratio)], 60, Catalogue(tmp_path, [], real=True), quick=False, others=0.5, loops=(0.2, 0.21))

    now = datetime(2026, 1, 2, tzinfo=UTC)
    first = with_long_form("# Results\n\nrows\n", run(1.25), now)
    assert first.startswith("# Results\n\nrows\n\n")
    assert "| **1.25** |" in first
    second = with_long_form(first, run(1.5), now)
    assert second == first.replace("**1.25**", "**1.50**")


def test_results_state_the_speed_of_a_core_and_what_failed(tmp_path: Path) -> None:
    run = Run(
        [row(0.5)],
        60,
        Catalogue(tmp_path, [], real=True),
        quick=False,
        others=0.5,
        loops=(0.17, 0.361),
        failed=["webhooks: late"],
    )
    page = written(run, datetime(2026, 1, 2, tzinfo=UTC))
    assert "took Python 0.17 s before and 0.36 s after" in page
    assert "- **Failed**: webhooks: late\n" in page
