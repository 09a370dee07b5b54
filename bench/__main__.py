"""`make bench`: runs all benchmarks, or those named, and writes results.md and the charts."""

import argparse
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

import psycopg

from bench.kit import charts, machine, report
from bench.kit.catalogue import read_catalogue
from bench.kit.figures import Row
from bench.kit.processes import BenchError, pin_driver
from bench.kit.workbench import Workbench, workbench
from tradecounter.kit.errors import OperatorError

QUESTIONS = (
    "product_page",
    "filtered_page",
    "search",
    "unchanged_poll",
    "single_product",
    "whole_catalogue",
    "two_workers",
    "place_orders",
    "recorded_orders",
    "confirm_with_mail",
    "confirm_and_list_orders",
    "long_lists",
    "one_customer_floods",
    "new_snapshot",
    "growth",
    "many_workers",
    "imports",
    "import_while_busy",
    "event_log",
    "change_feed",
    "webhooks",
    "pages",
)
LONG_QUESTIONS = ("ten_million_orders",)  # only when named
CATALOGUE = Path(__file__).parents[2] / "shared" / "catalogue"
CATALOGUE_VARIABLE = "BENCH_CATALOGUE"

_LONGEST_SECONDS = 45 * 60
_LONGEST_LONG_SECONDS = 75 * 60


def main() -> int:
    """Run the benchmarks; status 0 when all were made, 1 when one could not be: then no results are written."""
    wanted = _arguments()
    for ending in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(ending, _ended)
    is_long = not {*LONG_QUESTIONS}.isdisjoint(wanted.only or ())
    signal.alarm(_LONGEST_LONG_SECONDS if is_long else _LONGEST_SECONDS)
    start = time.monotonic()
    catalogue = read_catalogue(wanted.catalogue)
    rows: list[Row] = []
    failed: list[str] = []
    try:
        machine.require_programs()
        pin_driver()
        with (
            tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder,
            workbench(Path(folder), catalogue, quick=wanted.quick) as bench,
        ):
            quietness, loop_before = machine.Quietness(bench.postgres_pid), machine.loop_seconds()
            for name in wanted.only or QUESTIONS:
                try:
                    rows += _rows_of(bench, name)
                except (BenchError, subprocess.SubprocessError, psycopg.Error, OSError) as error:
                    failed.append(f"{name}: {error}")
                    bench.say(f"failed: {error}")
            others, loops = quietness.others(), (loop_before, machine.loop_seconds())
    except (BenchError, OperatorError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    run = report.Run(rows, time.monotonic() - start, catalogue, wanted.quick, others, loops, failed)
    if not (wanted.only or wanted.quick):
        report.write_results(run)
        charts.write_charts(rows)
    if wanted.only and {*wanted.only} <= {*LONG_QUESTIONS} and not (wanted.quick or failed):
        report.write_long_results(run)
    sys.stdout.write(f"{report.table(rows)}\n{report.remarks(rows)}")
    sys.stderr.write(f"{run.seconds:.0f} seconds; other programs used {others:.0%} of the two cores\n")
    sys.stderr.writelines(f"failed: {line}\n" for line in failed)
    return 1 if failed else 0


def _rows_of(bench: Workbench, name: str) -> list[Row]:
    bench.say(name.replace("_", " "))
    rows: list[Row] = importlib.import_module(f"bench.questions.{name}").measure(bench)
    return rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    every = (*QUESTIONS, *LONG_QUESTIONS)
    parser.add_argument("--only", nargs="+", choices=every, metavar="NAME", help=", ".join(every))
    parser.add_argument("--quick", action="store_true", help="short rounds, to see that everything works")
    parser.add_argument(
        "--catalogue",
        type=Path,
        default=Path(os.environ.get(CATALOGUE_VARIABLE, CATALOGUE)),
        metavar="FOLDER",
        help=f"where the catalogue is (default: ../shared/catalogue, or ${CATALOGUE_VARIABLE})",
    )
    return parser.parse_args()


def _ended(number: int, _frame: FrameType | None) -> None:
    # Ends like an exception, so that everything that was started is stopped too.
    if number == signal.SIGALRM:
        sys.stderr.write("error: this has taken too long\n")
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
